"""Reads from the messages alone what was done since the user's last message."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from inspector.core.message import AssistantMessage, Message, NoteMessage, ToolCall, ToolMessage, UserMessage
from inspector.tokens.manifest import SEARCH_TOOLS

_ID = re.compile(r"plan-\d+-(\d+)-\d+")
_FOUND = re.compile(r"^- (\S+:\S+)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Done:
    """A call and its result's text."""

    call: ToolCall
    result: str


@dataclass(slots=True)
class Attempt:
    """What was tried for one step."""

    searches: list[Done] = field(default_factory=list)
    calls: list[Done] = field(default_factory=list)

    @property
    def found(self) -> tuple[str, ...]:
        """The ids that the searches returned."""
        return tuple(name for search in self.searches for name in _FOUND.findall(search.result))


@dataclass(frozen=True, slots=True)
class History:
    """The request, the number of replies to it so far, and the attempts by step."""

    text: str
    turn: int
    replies: int
    attempts: dict[int, Attempt]
    before: tuple[Done, ...]

    def attempt(self, step: int) -> Attempt:
        """What was tried for a step; empty for a step that has not begun."""
        return self.attempts.get(step, Attempt())

    @property
    def latest(self) -> int:
        """The last step for which anything was tried, or -1."""
        return max(self.attempts, default=-1)


def call_id(turn: int, step: int, number: int) -> str:
    """A call id that includes its step, because the messages are the planner's only memory."""
    return f"plan-{turn}-{step}-{number}"


def read_history(messages: Sequence[Message]) -> History:
    """Read the conversation up to now."""
    turns = [index for index, message in enumerate(messages) if isinstance(message, UserMessage)]
    start = turns[-1] if turns else len(messages)
    last = messages[start] if turns else None
    current = messages[start + 1 :]
    attempts: dict[int, Attempt] = {}
    for done in _done(current):
        match = _ID.fullmatch(done.call.id)
        if match:
            attempt = attempts.setdefault(int(match.group(1)[:6]), Attempt())
            kept = attempt.searches if done.call.name == SEARCH_TOOLS else attempt.calls
            kept.append(done)
    return History(
        text=last.text if isinstance(last, UserMessage) else "",
        turn=len(turns) + sum(m.exchanges for m in messages if isinstance(m, NoteMessage)),
        replies=sum(isinstance(m, AssistantMessage) and not m.thought for m in current),
        attempts=attempts,
        before=tuple(done for done in _done(messages[:start]) if done.call.name != SEARCH_TOOLS),
    )


def _done(messages: Sequence[Message]) -> list[Done]:
    results = {message.call_id: message.text for message in messages if isinstance(message, ToolMessage)}
    calls = [call for m in messages if isinstance(m, AssistantMessage) for call in m.tool_calls]
    return [Done(call, results.get(call.id, "")) for call in calls]
