"""What a sight can reach at all, told from its patterns, and from the servers that there are for it.

Nothing here depends on tools that may not be seen: an answer that did would tell of them.
"""

from collections.abc import Iterator

from inspector.core.access import Sight

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
