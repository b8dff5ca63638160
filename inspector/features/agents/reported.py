"""What providers reported over a session, and what that cost."""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.budget import Prices, TokenParts
from inspector.core.events import ModelResponded
from inspector.core.message import Usage
from inspector.core.session import CallCost
from inspector.features.agents.transcript import TOTALS
from inspector.tokens.accounting import reported_dollars


class Reported(Struct):
    """What the provider reported over a session, and what that costs.

    `calls` counts the model calls that it reported, `priced` those of them whose model has a price; of those
    are `priced_input` and `input_dollars`. `reckoned` are the US dollars that the agent itself reckons.
    """

    calls: int = 0
    input: int = 0
    output: int = 0
    read: int = 0
    written: int = 0
    priced: int = 0
    dollars: float = 0.0
    input_dollars: float = 0.0
    priced_input: int = 0
    reckoned: float = 0.0

    def add(self, other: "Reported") -> None:
        """Count another session's too."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


Answer = tuple[str, Usage]
"""An answer as its copies have it, too: its id, "" if it has none, and its usage."""


def reported(event: ModelResponded, model: str, prices: Callable[[str], Prices | None]) -> Reported:
    """What was reported of one answer. `prices` takes the name of a model."""
    usage = event.usage
    if usage.input_tokens is None and usage.output_tokens is None:
        return Reported(reckoned=event.dollars or 0.0)
    cost = CallCost(
        event.call,
        TokenParts(),
        0,
        reported_input=usage.input_tokens or 0,
        reported_output=usage.output_tokens,
        reported_read=usage.cached_tokens,
        reported_written=usage.written_tokens,
        reported_written_hour=usage.written_hour_tokens,
    )
    is_call, known = event.finish_reason != TOTALS, prices(model) if model else None
    dollars = reported_dollars(cost, known) if known is not None else None
    alone = reported_dollars(replace(cost, reported_output=0), known) if known is not None else None
    return Reported(
        calls=int(is_call),
        input=usage.input_tokens or 0,
        output=usage.output_tokens or 0,
        read=usage.cached_tokens or 0,
        written=usage.written_tokens or 0,
        priced=int(is_call and dollars is not None),
        dollars=dollars or 0.0,
        input_dollars=alone or 0.0,
        priced_input=cost.reported_input or 0 if alone is not None else 0,
        reckoned=event.dollars or 0.0,
    )
