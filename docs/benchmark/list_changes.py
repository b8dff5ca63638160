"""What servers that change their lists cost a conversation: `python -m docs.benchmark.list_changes`.

Twenty turns over 1,000 tools; before each, a server lists one tool more. Each delivery is run as it is, with
the change said at the end, and as it would be if `search_tools` were described anew, at gpt-5's prices with a
prompt cache. Tokens are counted as gpt-5's; tools, calls and results are made up.
"""

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from typing import Final
from unittest.mock import patch

from msgspec import Struct

from docs.benchmark import say
from docs.benchmark.loop import servers
from inspector.core.budget import Prices
from inspector.core.message import ModelReply, ModelRequest
from inspector.core.tool import Tool
from inspector.schema.schema import Deferral, ModelFeatures
from inspector.tokens.counter import TiktokenCounter
from inspector.tokens.synthetic import has_proxy
from tests.support.fakes import ToldModel, calls, says, searches
from tests.support.workbench import Rig, connected

TURNS: Final = 20
DELIVERIES: dict[str, tuple[str, Deferral]] = {
    "append": ("append", ""),
    "call_tool": ("call_tool", ""),
    "text": ("text", ""),
    "native (OpenAI)": ("native", "tool_search"),
    "native (Anthropic)": ("native", "tool_reference"),
}
_GPT_5 = Prices("told", 1.25e-6, 1e-5, cache_read=1.25e-7, cache_minimum=1024)


class Cost(Struct, frozen=True):
    """`broken` requests do not begin with all of the one before; `billed` is input tokens at full price."""

    requests: int
    broken: int
    billed: float

    @property
    def dollars(self) -> float:
        return self.billed * _GPT_5.input


async def conversation(way: str, *, anew: bool) -> Cost:
    """One conversation, in the deliveries' way or with `search_tools` described `anew`."""
    delivery, deferral = DELIVERIES[way]
    features = ModelFeatures(deferral=deferral)
    with (
        patch.object(ToldModel, "window", 400_000),
        patch.object(ToldModel, "features", features),
        patch("inspector.loop.catalog.is_steady", return_value=not anew),
    ):
        async with connected(
            servers=servers(),
            profile="toolsight",
            values={"binding.delivery": delivery},
            counter_for=lambda _model: TiktokenCounter("gpt-5"),
            prices=[_GPT_5],
        ) as rig:
            for turn in range(TURNS):
                await _change(rig, turn)
                rig.model.steps += _steps(turn, proxy=has_proxy(delivery))
                await rig.bench.chat(f"Please list the orders of number {turn}.")
            charges = [event.charge for event in rig.events("request")]
            billed = sum(charge.billed(_GPT_5.terms) for charge in charges)
            return Cost(len(charges), _broken(rig.model.requests), billed)


def _steps(turn: int, *, proxy: bool) -> list[ModelReply]:
    """A search, a call of what it found, and an answer."""
    name, arguments = f"s{turn}__list_order_{turn}", {"owner": f"o{turn}", "filter": "late"}
    call = calls(("call_tool", {"name": name, "arguments": arguments}) if proxy else (name, arguments))
    return [
        searches(query=f"list an order of {turn}"),
        call,
        says("These are the orders that are late. " * 10),
    ]


async def _change(rig: Rig, turn: int) -> None:
    """A server lists one tool more, and the catalog is built of it."""
    server = rig.servers[f"s{turn}"]
    rig.clock.advance(30)
    seen = asyncio.Event()
    stop = rig.bench.subscribe(lambda record: seen.set() if record.kind == "catalog" else None)
    server.change([*server.tools, Tool(f"s{turn}", f"archive_order_{turn}", "To archive an order.")])
    await seen.wait()
    stop()


def _is_start_of(before: ModelRequest, after: ModelRequest) -> bool:
    """Whether the later request begins with all of the one before it."""
    tools = after.tools[: len(before.tools)] == before.tools
    return (
        tools and before.system == after.system and after.messages[: len(before.messages)] == before.messages
    )


def _broken(requests: Sequence[ModelRequest]) -> int:
    return sum(not _is_start_of(*two) for two in pairwise(requests))


def both(way: str) -> tuple[Cost, Cost]:
    """What a delivery costs with `search_tools` described anew at each change, and told at the end."""
    anew, steady = (asyncio.run(conversation(way, anew=anew)) for anew in (True, False))
    return anew, steady


def saved() -> dict[str, float]:
    """The share of the input's price that each delivery saves."""
    found = {way: both(way) for way in DELIVERIES}
    return {way: 1 - steady.billed / anew.billed for way, (anew, steady) in found.items()}


def main() -> None:
    say(f"{TURNS} turns, a changed list before each; requests whose start changed, and what the input costs:")
    say(f"  {'delivery':<20}{'described anew':>24}{'said at the end':>24}{'saved':>8}")
    for way in DELIVERIES:
        anew, steady = both(way)
        cells = (f"{cost.broken:>4} of {cost.requests}  ${cost.dollars:.4f}" for cost in (anew, steady))
        say(f"  {way:<20}{''.join(f'{cell:>24}' for cell in cells)}{1 - steady.billed / anew.billed:>8.0%}")


if __name__ == "__main__":
    main()
