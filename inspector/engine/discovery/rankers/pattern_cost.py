"""An upper bound on the cost of a backtracking search for a regular expression.

This is a conservative scan, not a parser: it refuses what it does not understand. A text of n characters has
n starting positions; each quantifier multiplies the ways to match by the repetitions it can choose from, and
alternatives add up. The product bounds the steps of a search that finds nothing.
"""

import re

MAX_STEPS = 20_000_000
MIN_LENGTH = 60

_GROUP_PREFIX = re.compile(r"\(\?(?:P<\w+>|<[=!]|[:=!>]|[aiLmsu-]*[:)])|\((?!\?)")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_QUANTIFIER = re.compile(r"(?:([*+?])|\{(\d*),(\d*)\}|\{(\d+)\})[?+]?", re.ASCII)


class _Refused(Exception):
    """The pattern has a construct whose cost the scan cannot bound."""


class _Group:
    """An open group: the ways through its finished alternatives and through the current one."""

    def __init__(self) -> None:
        self.finished = 0.0
        self.ways = 1.0
        self.last = 1.0
        self.is_simple = True

    def add(self, ways: float) -> None:
        self.ways *= self.last
        self.last = ways

    def alternative(self) -> None:
        self.finished += self.ways * self.last
        self.ways = self.last = 1.0
        self.is_simple = False

    def total(self) -> float:
        return self.finished + self.ways * self.last


def safe_length(pattern: str, longest: int) -> int:
    """The longest text, by halving from `longest`, in which the pattern may be searched; 0 for none.

    Quantified groups that contain a quantifier or an alternation are refused, and so are references to
    groups.
    """
    length = longest
    try:
        while length >= MIN_LENGTH:
            if length * _ways(pattern, length) <= MAX_STEPS:
                return length
            length //= 2
    except _Refused:
        pass
    return 0


def _ways(pattern: str, length: int) -> float:
    """The most ways to match the pattern from one position in a text of `length`."""
    groups = [_Group()]
    closed: _Group | None = None
    at = 0
    while at < len(pattern):
        if quantifier := _QUANTIFIER.match(pattern, at):
            _repeat(groups[-1], closed, _choices(quantifier, length))
            closed, at = None, quantifier.end()
            continue
        closed = None
        if pattern[at] == "(":
            at = _open(groups, pattern, at)
        elif pattern[at] == ")":
            closed = _close(groups)
            at += 1
        elif pattern[at] == "|":
            groups[-1].alternative()
            at += 1
        else:
            groups[-1].add(1.0)
            at = _after_atom(pattern, at)
    while len(groups) > 1:
        _close(groups)
    return groups[0].total()


def _open(groups: list[_Group], pattern: str, at: int) -> int:
    prefix = _GROUP_PREFIX.match(pattern, at)
    if prefix is None:
        raise _Refused
    if not prefix.group().endswith(")"):
        groups.append(_Group())
    return prefix.end()


def _close(groups: list[_Group]) -> _Group | None:
    """Close the innermost group into the one around it; None if the parentheses do not match."""
    if len(groups) == 1:
        return None
    closed = groups.pop()
    groups[-1].add(closed.total())
    groups[-1].is_simple &= closed.is_simple
    return closed


def _after_atom(pattern: str, at: int) -> int:
    if pattern[at] == "\\":
        if pattern[at + 1 : at + 2] in tuple("123456789"):
            raise _Refused
        return at + 2
    in_class = _CLASS.match(pattern, at)
    return in_class.end() if in_class else at + 1


def _repeat(group: _Group, repeated: _Group | None, choices: tuple[float, float]) -> None:
    """Quantify the last item of a group; an optional group counts as one more alternative."""
    low, high = choices
    if high <= 1:
        group.last += 1 - low
    elif repeated is not None and not repeated.is_simple:
        raise _Refused
    else:
        group.last *= high - low + 1
    group.is_simple = False


def _choices(quantifier: re.Match[str], length: int) -> tuple[float, float]:
    """The fewest and the most repetitions in a text of `length`."""
    sign, low, high, exactly = quantifier.groups()
    if exactly is not None:
        count = float(min(int(exactly), length))
        return count, count
    if sign == "?":
        return 0.0, 1.0
    if sign is not None:
        return 0.0, float(length)
    most = min(int(high), length) if high else length
    return float(min(int(low or 0), most)), float(most)
