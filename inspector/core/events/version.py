"""Events of the versions of a tool's definition."""

from dataclasses import dataclass
from typing import ClassVar

from inspector.core.definition import ToolDefinition
from inspector.core.definition_change import Verdict
from inspector.core.events.base import Event, Group, Tone
from inspector.core.number import count

__all__ = ["DefinitionChanged", "VersionTold"]

_SHOWN = 2


@dataclass(frozen=True, slots=True)
class DefinitionChanged(Event):
    """A server lists another definition of a tool than it did before, and what that means for a caller.

    `before` and `after` are the hashes of both definitions; the first `breaking` of the `reasons` are
    breaking. `since` is when the earlier one was listed if that was in an earlier session, in seconds since
    1970, UTC; that one is `earlier`, and its hash is of what is remembered, which has no secrets. `others`
    changed besides, of which no event tells.
    """

    kind: ClassVar[str] = "definition"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.SERVERS})
    tool: str
    before: str
    after: str
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    breaking: int = 0
    since: float = 0.0
    earlier: ToolDefinition | None = None
    others: int = 0

    @property
    def is_routine(self) -> bool:
        """Other words alone are."""
        return self.verdict == "words"

    @property
    def breaking_reasons(self) -> tuple[str, ...]:
        """The reasons that are breaking."""
        return self.reasons[: self.breaking]

    def summary(self) -> str:
        since = " since an earlier session" if self.since else ""
        words = "words only" if self.verdict == "words" else self.verdict
        told = "; ".join(self.reasons[:_SHOWN])
        more = f"; {len(self.reasons) - _SHOWN} more" if len(self.reasons) > _SHOWN else ""
        others = f"  ({count(self.others, 'more tool')} changed)" if self.others else ""
        return f"{self.tool}  {words}{since}: {told}{more}{others}"


@dataclass(frozen=True, slots=True)
class VersionTold(Event):
    """The model got `text`: these tools are no longer what it knows them as."""

    kind: ClassVar[str] = "told"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.SERVERS, Group.MODEL})
    tone: ClassVar[Tone] = "muted"
    tools: tuple[str, ...]
    text: str

    def summary(self) -> str:
        return f"the model about the new definition of {', '.join(self.tools)}"
