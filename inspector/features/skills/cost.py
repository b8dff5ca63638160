"""What a client's list of skills takes in a request, counted on the text that the client writes."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from inspector.features.skills.rule import SkillRule
from inspector.features.skills.shown import Shown, State, entry_line

Counter = Callable[[str], int]
"""The tokens of a text."""


class ListCost(Struct, frozen=True):
    """The `tokens` of a list, its skills, how many have a description there, and a whole one.

    `last` is the one below which descriptions vanish, "" if none does.
    """

    rule: SkillRule
    tokens: int
    listed: int
    described: int
    whole: int
    last: str


def list_cost(rule: SkillRule, shown: Sequence[Shown], count: Counter) -> ListCost:
    """The cost of what `shown_in` returned; nothing if no skill is listed."""
    listed = [one for one in shown if one.is_listed]
    described = [one for one in listed if one.text]
    is_spent = bool(described) and any(one.is_spent for one in listed)
    whole = sum(one.state is State.WHOLE for one in listed)
    last = described[-1].name if is_spent else ""
    cost = rule.cost
    places = {one.skill.place.path for one in listed} if cost.place else ()
    lines = (*(cost.place.format(place=path) for path in places), *map(entry_line, listed))
    tokens = (cost.fixed if listed else 0) + sum(map(count, lines))
    tokens -= cost.lost if is_spent else _own_lost(rule, listed)
    return ListCost(rule, tokens, len(listed), len(described), whole, last)


def _own_lost(rule: SkillRule, listed: Sequence[Shown]) -> int:
    """The tokens that the client's own entries lose where a budget cuts all alike."""
    cut = [len(one.text) for one in listed if one.state is State.CUT and not one.is_longest]
    if not rule.cost.even or not cut:
        return 0
    return sum(round(tokens * max(1 - max(cut) / length, 0)) for _, length, tokens in rule.cost.own if length)
