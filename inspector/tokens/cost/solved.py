"""Counts the solved steps of a session: what its cost is divided by, so that doing less is not cheap."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from inspector.core.events import CallFinished, CallStarted, Event, Record, UserSaid
from inspector.schema.json_value import compact


@dataclass(frozen=True, slots=True)
class SolvedSteps:
    """The steps solved so far.

    A step is solved by a tool call of the model that its server answered without an error. The same call
    again, with the same arguments in the same turn, solves nothing more.
    """

    count: int = 0
    _turn: frozenset[str] = frozenset()
    _running: Mapping[str, str] = field(default_factory=dict)

    def after(self, event: Event) -> "SolvedSteps":
        """The steps after one more event."""
        match event:
            case UserSaid():
                return SolvedSteps(self.count)
            case CallStarted(by="model"):
                call = f"{event.tool} {compact(dict(event.arguments))}"
                return replace(self, _running={**self._running, event.call_id: call})
            case CallFinished(ok=True) if call := self._running.get(event.call_id, ""):
                if call not in self._turn:
                    return replace(self, count=self.count + 1, _turn=self._turn | {call})
        return self


def solved_steps(records: Iterable[Record]) -> int:
    """The solved steps of a whole session."""
    solved = SolvedSteps()
    for record in records:
        solved = solved.after(record.event)
    return solved.count
