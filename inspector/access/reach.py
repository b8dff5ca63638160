"""What a sight can reach, told from its patterns and the servers; and who asked for what was refused.

Nothing here depends on tools that may not be seen: an answer that did would tell of them.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from inspector.core.access import Sight
from inspector.core.error import ToolsightError
from inspector.core.events import Failed, Record, SessionStarted
from inspector.core.ports import SessionSummary
from inspector.core.tool import Tool

EXACT, PARAPHRASE, IMPOSSIBLE, LOGGED = "exact", "paraphrase", "impossible", "logged"


class EvalCase(Struct, frozen=True):
    """A labelled request: a query and the ids of the tools it needs.

    `relevant` has a group for each tool needed; a group is found when any of its members is. No groups mean
    that no tool fits, so any result is a mistake.
    """

    id: str
    query: str
    relevant: tuple[frozenset[str], ...] = ()
    kind: str = ""

    @property
    def is_possible(self) -> bool:
        return bool(self.relevant)


GENERATED = "generated"
"""The name of a set of requests that are made of the tools' own texts."""


class EvalSet(Struct, frozen=True):
    """Tools and the labelled requests for them."""

    name: str
    tools: tuple[Tool, ...]
    cases: tuple[EvalCase, ...]

    def unknown(self) -> tuple[str, ...]:
        """Relevant ids that no tool in the set has."""
        known = {tool.id for tool in self.tools}
        wanted = (tool_id for case in self.cases for group in case.relevant for tool_id in sorted(group))
        return tuple(dict.fromkeys(tool_id for tool_id in wanted if tool_id not in known))


_MANY, _ONE = object(), object()
_Token = str | object
_Tokens = tuple[_Token, ...]


def reaches(sight: Sight, server: str) -> bool:
    """Whether a server could have a tool that may be seen; one that could not is not even started."""
    is_there = sight.servers is None or server in sight.servers
    return is_there and _meets(sight, (*f"{server}:", _MANY))


def covers(sight: Sight, server: str) -> bool:
    """Whether every tool that the server could ever have may be seen.

    Only then may be seen what the server says in free text, which could name any of its tools: its
    instructions, its errors, what it writes to stderr, and what crosses the wire.
    """
    sides = (sight.patterns,) if sight.allowlist is None else (sight.patterns, sight.allowlist)
    return all(any(_covers(pattern, f"{server}:") for pattern in side) for side in sides)


def can_match(sight: Sight, pattern: str) -> bool:
    """Whether a pattern could match a tool that may be seen; `[` stands for itself."""
    return _meets(sight, _tokens(pattern))


def _covers(pattern: str, prefix: str) -> bool:
    """Whether a pattern matches whatever begins so: up to its last star it matches a part of the prefix."""
    if not pattern.endswith("*"):
        return False
    start = _tokens(pattern.rstrip("*"))
    return any(_overlap((start, tuple(prefix[:end]))) for end in range(len(prefix) + 1))


def _meets(sight: Sight, wanted: _Tokens) -> bool:
    """Whether some text matches what is wanted, a pattern of the grants and, if any, one of the allowlist."""
    allowed = (None,) if sight.allowlist is None else sight.allowlist
    for pattern in sight.patterns:
        for other in allowed:
            more = () if other is None else (_tokens(other),)
            if _overlap((wanted, _tokens(pattern), *more)):
                return True
    return False


def _tokens(pattern: str) -> _Tokens:
    wild = {"*": _MANY, "?": _ONE}
    return tuple(wild.get(one, one) for one in pattern)


def _overlap(patterns: tuple[_Tokens, ...]) -> bool:
    """Whether one text matches all of the patterns: a walk over their positions, all at once."""
    start = (0,) * len(patterns)
    waiting, seen = [start], {start}
    while waiting:
        at = waiting.pop()
        if all(place == len(tokens) for place, tokens in zip(at, patterns, strict=True)):
            return True
        for following in _following(at, patterns):
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    return False


def _following(at: tuple[int, ...], patterns: tuple[_Tokens, ...]) -> Iterator[tuple[int, ...]]:
    """The positions after a star that matches nothing more, or after one character that suits all."""
    here = [
        tokens[place] if place < len(tokens) else None for place, tokens in zip(at, patterns, strict=True)
    ]
    for index, token in enumerate(here):
        if token is _MANY:
            yield (*at[:index], at[index] + 1, *at[index + 1 :])
    if None not in here and len({token for token in here if isinstance(token, str)}) <= 1:
        yield tuple(place + (token is not _MANY) for place, token in zip(at, here, strict=True))


def own_sessions(found: Sequence[SessionSummary], sight: Sight, now: str) -> list[SessionSummary]:
    """Those of the same user through the same expert, and the running one, whose id is `now`."""
    return [one for one in found if one.id == now or _is_own(one.user, one.expert, sight)]


def is_of(records: Sequence[Record], sight: Sight) -> bool:
    """Whether a session, by its first events, is one of the user's."""
    first = [record.event for record in records if isinstance(record.event, SessionStarted)]
    return bool(first) and _is_own(first[0].user, first[0].expert, sight)


def unreadable(error: ToolsightError, sight: Sight) -> Failed:
    """That the policy could not be read again; what is wrong in it is for who may see all of it."""
    if sight.is_whole:
        return Failed("access", error.message, error.hint)
    return Failed("access", "the policy cannot be read; the previous one still applies")


def _is_own(user: str, expert: str, sight: Sight) -> bool:
    return bool(sight.user) and (user, expert) == (sight.user, sight.expert)
