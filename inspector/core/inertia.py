"""What follows what: calls of earlier sessions, which tool comes after another, and how sure that is.

A graph holds whole numbers a day, and a half-life is applied when it is read: graphs add up to the same graph
in whatever order and in whatever parts, and another half-life needs no other graph.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from inspector.core.events import NextPredicted
from inspector.core.events.base import Actor
from inspector.core.number import wilson

OWN_PERSONA = "toolsight"
"""The persona of Toolsight's own sessions without a toolset or a name of its own."""
_DAY = 86_400.0
# Below this there is nothing left of what was seen, and no interval.
_LEAST = 1e-9


def persona_of(agent: str, chosen: str, toolset: str, user: str = "") -> str:
    """Whose habits a session shows: the agent's it was imported from, else the name given to it.

    Without either they are those of the user who sees it or, where a policy tells of none, of the toolset.
    """
    return agent or chosen or user or toolset or OWN_PERSONA


@dataclass(frozen=True, slots=True)
class TaskCalls:
    """The tools called for one message of the user in order, each with its time in seconds since 1970."""

    persona: str
    calls: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Aging:
    """How much a past call counts at a time: half of it after every `half_life` days, 0 for no end."""

    now: float
    half_life: float = 0.0

    def weight(self, day: int) -> float:
        """What a call of that day counts, 0 to 1; one that seems to come from the future counts in full."""
        age = max(_day(self.now) - day, 0)
        return 0.5 ** (age / self.half_life) if self.half_life > 0 else 1.0


@dataclass(frozen=True, slots=True)
class Tally:
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


@dataclass(frozen=True, slots=True)
class Successor:
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

    def remove(self, task: TaskCalls) -> None:
        """Forget a task that was learned, but not when what is left was seen last."""
        before = ""
        for tool, at in task.calls:
            forgotten = Tally({_day(at): -1})
            _grow(self._calls, tool, forgotten)
            if before:
                _grow(self._links[before], tool, forgotten)
            before = tool
        self.tasks -= bool(task.calls)

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

    @property
    def calls_a_task(self) -> float:
        """How many calls a task takes on average, 0 without tasks."""
        return sum(tally.count for tally in self._calls.values()) / self.tasks if self.tasks else 0.0

    def after(self, tool: str, aging: Aging) -> tuple[Successor, ...]:
        """What followed a tool, itself among them, most likely first; their probabilities add up to 1."""
        links = [(to, tally, tally.weight(aging)) for to, tally in self._links.get(tool, {}).items()]
        total = sum(weight for _, _, weight in links)
        if not total:
            return ()
        found = (_successor(to, tally, weight, total) for to, tally, weight in links)
        return tuple(sorted(found, key=lambda one: (-one.weight, one.tool)))

    def most_used(self, aging: Aging, fits: Callable[[str], bool], most: int) -> tuple[str, ...]:
        """The tools called most often of those that fit: what a prediction has to beat."""
        weights = {tool: tally.weight(aging) for tool, tally in self._calls.items() if fits(tool)}
        return tuple(sorted(weights, key=lambda tool: (-weights[tool], tool))[:most])


def server_of(tool: str) -> str:
    """The server of a tool's id."""
    return tool.partition(":")[0]


def graphs_of(tasks: Iterable[TaskCalls]) -> dict[str, InertiaGraph]:
    """A graph for each persona."""
    graphs: dict[str, InertiaGraph] = {}
    for task in tasks:
        graphs.setdefault(task.persona, InertiaGraph()).add(task)
    return graphs


def merged(graphs: Iterable[InertiaGraph]) -> InertiaGraph:
    """All of these in one."""
    whole = InertiaGraph()
    for graph in graphs:
        whole.take(graph)
    return whole


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


def chosen_persona(settings: Mapping[str, Any]) -> str:
    """The name that recorded settings give to a session's habits; "" in records of older versions."""
    section = settings.get("inertia")
    chosen = section.get("persona") if isinstance(section, Mapping) else ""
    return chosen if isinstance(chosen, str) else ""


class PersonaTrail:
    """The persona of a session, which its settings can change while it runs."""

    def __init__(self) -> None:
        self._agent = self._toolset = self._chosen = self._user = ""

    def started(self, agent: str, chosen: str, toolset: str, user: str = "") -> None:
        """The session began: an imported one of that agent, or Toolsight's own, of that user if any."""
        self._agent, self._chosen, self._toolset, self._user = agent, chosen, toolset, user

    def set(self, chosen: str) -> None:
        """The settings changed: the name of the session's habits is this one now."""
        self._chosen = chosen

    @property
    def persona(self) -> str:
        """Whose habits the session shows now."""
        return persona_of(self._agent, self._chosen, self._toolset, self._user)


@dataclass(frozen=True, slots=True)
class PastCall:
    """A call of a tool that succeeded, after a request. `at` is in seconds since 1970, UTC.

    `request` is "" where nobody tells it; `persona` is whose habits the session showed then.
    """

    tool: str
    request: str
    at: float
    persona: str = OWN_PERSONA


@dataclass(frozen=True, slots=True)
class Viewer:
    """Whose past calls count: the user's, through the same expert or through none; never an empty user's."""

    user: str
    expert: str = ""

    def has(self, user: str, expert: str) -> bool:
        """Whether a session that was recorded so is one of the viewer's."""
        return bool(self.user) and user == self.user and expert in ("", self.expert)


@dataclass(frozen=True, slots=True)
class _Search:
    by: Actor
    query: str
    found: Collection[str]


class CallTrail(PersonaTrail):
    """Follows one session, event by event, and tells what each successful call was made for.

    That is the newest search since the user's message that found the tool, if who called it searched in
    words; else, for a model's call, the message.
    """

    def __init__(self) -> None:
        super().__init__()
        self._message = ""
        self._searches: list[_Search] = []
        self._callers: dict[str, Actor] = {}

    def said(self, text: str) -> None:
        """The user said something: earlier searches were for something else."""
        self._message = text.strip()
        self._searches.clear()

    def searched(self, by: Actor, query: str, found: Collection[str]) -> None:
        """A search returned the tools with the ids `found`; one by name alone has no query."""
        if query.strip():
            self._searches.append(_Search(by, query.strip(), found))

    def called(self, call_id: str, by: Actor) -> None:
        """A call began."""
        self._callers[call_id] = by

    def finished(self, call_id: str, tool: str, at: float, *, ok: bool) -> PastCall | None:
        """A call ended; None if it failed, or if nothing was asked for before it."""
        by = self._callers.pop(call_id, "model")
        request = self._request(tool, by) if ok else ""
        return PastCall(tool, request, at, self.persona) if request else None

    def _request(self, tool: str, by: Actor) -> str:
        queries = (one.query for one in reversed(self._searches) if one.by == by and tool in one.found)
        return next(queries, self._message if by == "model" else "")


@dataclass(frozen=True, slots=True)
class Hits:
    """Of the first uses of a tool that were predicted, how many each rule named first, and among its first 3.

    `order_1` says what follows the last call, the others are what it has to beat.
    """

    first_uses: int = 0
    order_1: tuple[int, int] = (0, 0)
    most_used: tuple[int, int] = (0, 0)
    same_server: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class InertiaState:
    """Predictions and what came of them. `called` is the model's last call for the current message.

    `predicted` is the newest prediction; `ahead` are the tools that were bound ahead, `used` those of them
    that were then called.
    """

    called: str = ""
    predicted: NextPredicted | None = None
    hits: Hits = Hits()
    ahead: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()
