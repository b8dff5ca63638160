"""Tasks with ground truth for the testbed (Tool Attention, section 6.3).

People do not speak like tool descriptions: a request combines other words for the thing and the action with a
concrete object and a place. `overlap` measures how many of the tool's own words are left.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from random import Random
from statistics import mean

from msgspec import Struct

from docs.papers.testbed import Plan, Testbed
from docs.papers.vocabulary import plural, speech, with_article
from inspector.search.index.vocabulary import terms

SINGLE, MULTI, LONG = "single-step", "multi-step", "long-horizon"
# The paper names the three kinds, but not how many tasks of each there are.
SHARES: Mapping[str, float] = {SINGLE: 0.6, MULTI: 0.3, LONG: 0.1}
STEPS, TURNS, TOOLS = (2, 4), (15, 40), (6, 12)
# Tools are not needed equally often: the n-th most needed tool is needed n^-0.7 times as often as the first.
_SKEW = 0.7
_TALK = 0.35
# How often a request uses a thing's own name and not another word.
_PROPERLY = 0.5
_WRITE_SCOPE = 0.5
_PROPER = ("I ", "Kim", "Amira", "Jonas", "Sofia")
_QUESTIONS = ("which", "what", "is ", "how", "who", "when", "do ", "does", "why", "has")


class Step(Struct, frozen=True):
    """One thing to do: the query for it, and the tool that does it."""

    query: str
    tool_id: str


class Turn(Struct, frozen=True):
    """What a person says, and the steps it takes; small talk takes none."""

    text: str
    steps: tuple[Step, ...] = ()

    @property
    def needed(self) -> frozenset[str]:
        return frozenset(step.tool_id for step in self.steps)

    @property
    def queries(self) -> tuple[str, ...]:
        """What is searched for: the steps' queries if there are several, else everything that was said."""
        return tuple(step.query for step in self.steps) if len(self.steps) > 1 else (self.text,)


class Task(Struct, frozen=True, dict=True):
    """A conversation. `scopes` are the servers on which the session may change things."""

    kind: str
    turns: tuple[Turn, ...]
    scopes: frozenset[str]

    @cached_property
    def needed(self) -> frozenset[str]:
        """The ground truth of the whole task."""
        return frozenset[str]().union(*(turn.needed for turn in self.turns))


def tasks(
    testbed: Testbed, number: int = 500, seed: int = 0, shares: Mapping[str, float] = SHARES
) -> tuple[Task, ...]:
    """`number` tasks with these shares; the same arguments give the same tasks."""
    random = Random(f"tasks {seed}")
    speaker = _Speaker(testbed, random)
    single, multi = (round(number * shares[kind]) for kind in (SINGLE, MULTI))
    makers = [speaker.single] * single + [speaker.multi] * multi
    makers += [speaker.long] * (number - len(makers))
    return tuple(maker() for maker in makers)


def texts(given: Iterable[Task]) -> list[str]:
    """Everything that is asked in the tasks, each text once: turns and steps."""
    said = (text for task in given for turn in task.turns for text in (turn.text, *turn.queries))
    return list(dict.fromkeys(said))


class _Speaker:
    """Asks for tools in its own words. The testbed, not the seed, decides which tools are popular."""

    def __init__(self, testbed: Testbed, random: Random) -> None:
        self._random = random
        self._speech = speech()
        self._writing = testbed.writing
        self._servers = list(dict.fromkeys(tool.server for tool in testbed.tools))
        self._plans = list(testbed.plans)
        Random(f"popularity {len(self._plans)}").shuffle(self._plans)
        self._weights = [(rank + 1) ** -_SKEW for rank in range(len(self._plans))]

    def single(self) -> Task:
        step = self._step(self._drawn(1)[0])
        return self._task(SINGLE, [Turn(self._wrapped(step.query), (step,))])

    def multi(self) -> Task:
        plans = self._drawn(self._random.randint(*STEPS), servers=2)
        steps = tuple(self._step(plan) for plan in plans)
        first, *rest = (step.query for step in steps)
        said = [first, *(f"{self._random.choice(self._speech.joints)}{_lower(query)}" for query in rest)]
        return self._task(MULTI, [Turn(self._wrapped(" ".join(said)), steps)])

    def long(self) -> Task:
        """A long task: each of its tools is needed at least once, one of them in the first turn."""
        length, number = self._random.randint(*TURNS), self._random.randint(*TOOLS)
        plans = self._drawn(number, servers=2)
        spare = length - number
        talk = min(spare, round(length * _TALK))
        wanted: list[Plan | None] = [*plans[1:], *self._random.choices(plans, k=spare - talk), *[None] * talk]
        self._random.shuffle(wanted)
        return self._task(LONG, [self._turn(plan) for plan in (plans[0], *wanted)])

    def _turn(self, plan: Plan | None) -> Turn:
        if plan is None:
            return Turn(self._random.choice(self._speech.small_talk))
        step = self._step(plan)
        return Turn(self._wrapped(step.query), (step,))

    def _task(self, kind: str, turns: Sequence[Turn]) -> Task:
        """A task with the scopes that its tools need, and some others."""
        needed = {
            step.tool_id.partition(":")[0]
            for turn in turns
            for step in turn.steps
            if step.tool_id in self._writing
        }
        spare = {server for server in self._servers if self._random.random() < _WRITE_SCOPE}
        return Task(kind, tuple(turns), frozenset(needed | spare))

    def _drawn(self, number: int, servers: int = 1) -> list[Plan]:
        """Different plans, popular ones more often, from at least `servers` servers."""
        while True:
            drawn: dict[str, Plan] = {}
            while len(drawn) < number:
                plan = self._random.choices(self._plans, self._weights)[0]
                drawn[plan.tool_id] = plan
            if len({plan.domain.server for plan in drawn.values()}) >= servers:
                return list(drawn.values())

    def _step(self, plan: Plan) -> Step:
        choose, entity = self._random.choice, plan.entity
        said = entity.name if self._random.random() < _PROPERLY else choose(entity.said)
        one, other = self._random.sample(entity.objects, 2) if len(entity.objects) > 1 else entity.objects * 2
        query = choose(plan.action.queries).format(
            said=said,
            saids=plural(said),
            object=one,
            other=other,
            field=choose(entity.fields).replace("_", " "),
            where=choose(plan.domain.where),
            topic=choose(self._speech.topics),
            person=choose(self._speech.people),
            when=choose(self._speech.times),
        )
        end = "?" if query.startswith(_QUESTIONS) else "."
        return Step(with_article(f"{query[0].upper()}{query[1:]}{end}"), plan.tool_id)

    def _wrapped(self, text: str) -> str:
        opening = self._random.choice(self._speech.openings)
        return f"{opening}{_lower(text) if opening else text}{self._random.choice(self._speech.closings)}"


def _lower(text: str) -> str:
    """The text for use inside a sentence: its first letter in lower case, unless it is a name."""
    return text if text.startswith(_PROPER) or text[1:2].isupper() else text[0].lower() + text[1:]


def overlap(one: str, other: str) -> float:
    """The Jaccard index of two texts' stemmed words without stop words, 0 to 1."""
    first, second = set(terms(one)), set(terms(other))
    return len(first & second) / len(first | second) if first | second else 0.0


def mean_overlap(given: Iterable[Task], summaries: Mapping[str, str]) -> float:
    """The mean overlap of a step's query and its tool's summary, by tool id."""
    return mean(
        overlap(step.query, summaries[step.tool_id])
        for task in given
        for turn in task.turns
        for step in turn.steps
    )
