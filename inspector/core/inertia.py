"""What follows what: which tool comes after another in calls of earlier sessions, and how sure that is.

A graph holds whole numbers a day, and a half-life is applied when it is read: graphs add up to the same
graph in whatever order and in whatever parts, and another half-life needs no other graph.
"""

import math
from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from inspector.core.number import wilson
from inspector.core.ports import TaskCalls

_DAY = 86_400.0
# Below this there is nothing left of what was seen, and no interval.
_LEAST = 1e-9


class Aging(Struct, frozen=True):
    """How much a past call counts at a time: half of it after every `half_life` days, 0 for no end."""

    now: float
    half_life: float = 0.0

    def weight(self, day: int) -> float:
        """What a call of that day counts, 0 to 1; one that seems to come from the future counts in full."""
        age = max(_day(self.now) - day, 0)
        return 0.5 ** (age / self.half_life) if self.half_life > 0 else 1.0


class Tally(Struct, frozen=True):
    """How often something was seen, by day since 1970.

    `seeded` is how often a person says that it was, which does not age, and `note` why. `at` is when it was
    seen last, in seconds since 1970, 0 if never.
    """

    days: Mapping[int, int] = field(default_factory=dict)
    seeded: int = 0
    at: float = 0.0
    note: str = ""

    @property
    def count(self) -> int:
        """How often, whatever its age."""
        return sum(self.days.values()) + self.seeded

    def weight(self, aging: Aging) -> float:
        """How much that counts at a time; never more than its count."""
        return sum(number * aging.weight(day) for day, number in self.days.items()) + self.seeded

    def plus(self, other: "Tally") -> "Tally":
        """Both together."""
        days = dict(self.days)
        for day, number in other.days.items():
            days[day] = days.get(day, 0) + number
            if not days[day]:
                del days[day]
        seeded, at = self.seeded + other.seeded, max(self.at, other.at)
        return Tally(days, seeded, at, max(self.note, other.note))


def seen(at: float) -> Tally:
    """Something that was seen once."""
    return Tally({_day(at): 1}, at=at)


class Successor(Struct, frozen=True):
    """A tool that was called right after another one.

    `probability` is its share of all calls after it, aged, and `low` the lower end of the interval of that
    share: what a few calls say is not sure. `at` is when it followed last.
    """

    tool: str
    count: int
    weight: float
    probability: float
    low: float
    at: float = 0.0
    note: str = ""


class InertiaGraph:
    """The transitions of one persona from tool to tool, by first and next; it grows call by call."""

    def __init__(self) -> None:
        self.tasks = 0
        self._links: dict[str, dict[str, Tally]] = {}
        self._calls: dict[str, Tally] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InertiaGraph) and self._parts == other._parts

    __hash__ = None  # type: ignore[assignment]  # it grows

    @property
    def _parts(self) -> tuple[object, ...]:
        return self.tasks, self._links, self._calls

    def add(self, task: TaskCalls) -> None:
        """Learn from a whole task."""
        before = ""
        for tool, at in task.calls:
            self.called(before, tool, at)
            before = tool

    def called(self, before: str, tool: str, at: float) -> None:
        """Learn from one call; `before` is the tool called before it for the same task, "" if it is first."""
        _grow(self._calls, tool, seen(at))
        if before:
            self.follows(before, tool, seen(at))
        else:
            self.tasks += 1

    def follows(self, before: str, tool: str, tally: Tally) -> None:
        """Learn that a tool followed another one."""
        _grow(self._links.setdefault(before, {}), tool, tally)

    def used(self, tool: str, tally: Tally) -> None:
        """Learn that a tool was called."""
        _grow(self._calls, tool, tally)

    def take(self, other: "InertiaGraph") -> None:
        """Learn all that another graph knows."""
        self.tasks += other.tasks
        for tool, tally in other._calls.items():
            _grow(self._calls, tool, tally)
        for before, links in other._links.items():
            for tool, tally in links.items():
                self.follows(before, tool, tally)

    @property
    def links(self) -> Iterator[tuple[str, str, Tally]]:
        """Every transition: from, to, and how often."""
        for before, links in self._links.items():
            for tool, tally in links.items():
                yield before, tool, tally

    @property
    def calls(self) -> Mapping[str, Tally]:
        """How often each tool was called."""
        return self._calls

    def after(self, tool: str, aging: Aging) -> tuple[Successor, ...]:
        """What followed a tool, itself among them, most likely first; their probabilities add up to 1."""
        links = [(to, tally, tally.weight(aging)) for to, tally in self._links.get(tool, {}).items()]
        total = sum(weight for _, _, weight in links)
        if not total:
            return ()
        found = (_successor(to, tally, weight, total) for to, tally, weight in links)
        return tuple(sorted(found, key=lambda one: (-one.weight, one.tool)))


def _successor(tool: str, tally: Tally, weight: float, total: float) -> Successor:
    share = min(weight / total, 1.0)
    low = wilson(share, total)[0] if total > _LEAST else 0.0
    return Successor(tool, tally.count, weight, share, low, tally.at, tally.note)


def _day(at: float) -> int:
    """The day of a time; what is no time at all is the first day."""
    return int(at // _DAY) if math.isfinite(at) else 0


def _grow(tallies: dict[str, Tally], key: str, tally: Tally) -> None:
    known = tallies.get(key)
    tallies[key] = tally if known is None else known.plus(tally)
    if not tallies[key].count:
        del tallies[key]
