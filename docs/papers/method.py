"""The product's success criteria (PRD section 6), each beside its measurement."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from statistics import mean
from typing import Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from docs.papers.task import Task, Turn
from docs.papers.testbed import Testbed
from inspector.core.tool import Tool
from inspector.search.index.embedding import BATCH
from inspector.search.index.semantics import Embedder
from inspector.search.index.vocabulary import terms

Matrix = NDArray[np.float64]


class KnownVectors:
    """An Embedder with a memory: it embeds no text twice."""

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._known: dict[str, Sequence[float]] = {}

    def prepare(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        self._embedder.prepare(progress, cancelled)

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """One unit vector per text, in order. Raises ModelError."""
        self.learn(texts)
        return [self._known[text] for text in texts]

    def words(self) -> Sequence[str]:
        """See `Embedder`."""
        return self._embedder.words()

    def learn(
        self,
        texts: Iterable[str],
        progress: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> None:
        """Embed the texts that are not known yet. Raises ModelError, and what `progress` raises."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        for start in range(0, len(missing), BATCH):
            batch = missing[start : start + BATCH]
            self._known.update(zip(batch, self._embedder.embed(batch), strict=True))
            progress(start + len(batch), len(missing))


class Ranked(Struct, frozen=True, dict=True):
    """For each text, the tools from the closest down, and their similarities in that order."""

    by_text: Mapping[str, tuple[Sequence[str], Sequence[float]]]

    def active(
        self, text: str, threshold: float, top_k: int, closed: frozenset[str] = frozenset()
    ) -> list[str]:
        """The first `top_k` tools of at least `threshold` that are not closed (section 4.2, equation 7)."""
        active: list[str] = []
        for tool_id, score in zip(*self.by_text[text], strict=True):
            if score < threshold or len(active) == top_k:
                break
            if tool_id not in closed:
                active.append(tool_id)
        return active


def ranked(scores: Matrix, texts: Sequence[str], ids: Sequence[str]) -> Ranked:
    """Rank the tools by similarities of shape (texts, tools); ties keep the tools' order."""
    orders = np.argsort(-scores, axis=1, kind="stable")
    return Ranked(
        {
            text: ([ids[int(i)] for i in order], row[order].tolist())
            for text, order, row in zip(texts, orders, scores, strict=True)
        }
    )


def cosines(embedder: Embedder, texts: Sequence[str], passages: Sequence[str]) -> Matrix:
    """The cosine of every text with every passage, shape (texts, passages). Raises ModelError."""
    first, second = (np.asarray(embedder.embed(side), np.float64) for side in (texts, passages))
    return np.asarray(first @ second.T)


def tf_idf(texts: Sequence[str], passages: Sequence[str]) -> Matrix:
    """Cosines of TF-IDF vectors, shape (texts, passages): tf (1 + ln N/df), df over the passages."""
    split = [Counter(terms(passage)) for passage in passages]
    frequency = Counter(term for counts in split for term in counts)
    column = {term: number for number, term in enumerate(frequency)}
    weights = np.array([1 + math.log(len(passages) / count) for count in frequency.values()])
    asked = _unit([Counter(terms(text)) for text in texts], column, weights)
    return np.asarray(asked @ _unit(split, column, weights).T)


def _unit(rows: Sequence[Counter[str]], column: Mapping[str, int], weights: Matrix) -> Matrix:
    """Unit rows of weighted counts; a row without a known term is zero."""
    table = np.zeros((len(rows), len(column)))
    for row, counts in zip(table, rows, strict=True):
        for term, count in counts.items():
            if term in column:
                row[column[term]] = count * weights[column[term]]
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    return table / np.where(lengths > 0, lengths, 1.0)


# Ways to give tools to a model, run over tasks (Tool Attention, section 6.4), and what they cost.
#
# Every method counts the same way: a definition in tokens of compact JSON, a turn as the sum over its model
# calls. Each model call makes one step, and the last one answers.
STATIC_TOOLS = 30
RETRIEVED = 10
ANY = -1.0


class TurnRun(Struct, frozen=True):
    """One turn's tokens because of tools, summed over its model calls, and its tools.

    `tools` are definitions and meta-tools, `traffic` is what searches have left in the conversation. `last`
    are the definitions and meta-tools of the last call alone, `end` the same with its traffic. `bound` are
    the tools whose definitions were sent, `found` those that this turn's own searches found.
    """

    tools: float
    traffic: float
    last: float
    end: float
    calls: int
    bound: frozenset[str]
    found: frozenset[str]
    needed: frozenset[str]

    @property
    def per_call(self) -> float:
        """The definitions and meta-tools of one model call, on average."""
        return self.tools / self.calls


class Quality(Struct, frozen=True):
    """Precision, recall and F1 of a set of tools against the needed ones (0 to 1)."""

    precision: float
    recall: float
    f1: float


def quality(chosen: frozenset[str], needed: frozenset[str]) -> Quality:
    """The quality of `chosen`; all 0 if nothing was chosen. Raises ZeroDivisionError if nothing is needed."""
    hits = len(chosen & needed)
    return Quality(
        hits / len(chosen) if chosen else 0.0, hits / len(needed), 2 * hits / (len(chosen) + len(needed))
    )


def mean_quality(qualities: Sequence[Quality]) -> Quality:
    return Quality(
        mean(one.precision for one in qualities),
        mean(one.recall for one in qualities),
        mean(one.f1 for one in qualities),
    )


class TaskRun(Struct, frozen=True, dict=True):
    """A task run with a method."""

    kind: str
    turns: tuple[TurnRun, ...]

    @cached_property
    def tools(self) -> float:
        """Tool tokens per turn, summed over its model calls, without what is resident."""
        return mean(turn.tools for turn in self.turns)

    @cached_property
    def per_call(self) -> float:
        """Tool tokens of one model call, averaged over the calls of a turn and then over turns."""
        return mean(turn.per_call for turn in self.turns)

    @cached_property
    def traffic(self) -> float:
        """Tokens of searches per turn, summed over its model calls."""
        return mean(turn.traffic for turn in self.turns)

    @cached_property
    def end(self) -> float:
        """Everything in the last call of a turn because of tools, averaged over turns."""
        return mean(turn.end for turn in self.turns)

    @cached_property
    def needed(self) -> frozenset[str]:
        """The tools that the task needs."""
        return frozenset[str]().union(*(turn.needed for turn in self.turns))

    @cached_property
    def calls(self) -> float:
        """Model calls per turn."""
        return mean(turn.calls for turn in self.turns)

    @cached_property
    def bound(self) -> Quality:
        """The quality of what was bound, averaged over turns that need tools."""
        return mean_quality([quality(turn.bound, turn.needed) for turn in self.turns if turn.needed])

    @cached_property
    def found(self) -> Quality:
        """The same for what the turn's own searches found."""
        return mean_quality([quality(turn.found, turn.needed) for turn in self.turns if turn.needed])

    @cached_property
    def whole(self) -> Quality:
        """The quality of everything that was ever bound, compared to the task's ground truth."""
        bound = frozenset[str]().union(*(turn.bound for turn in self.turns))
        return quality(bound, self.needed)


class Method(Protocol):
    """A way to give tools to a model. `resident` are further tokens in every request: a summary pool."""

    @property
    def name(self) -> str: ...

    @property
    def resident(self) -> int: ...

    def run(self, task: Task) -> TaskRun: ...


class Fixed(Struct, frozen=True, dict=True):
    """The same definitions in every request: all of them (B1), or a chosen few (B2)."""

    name: str
    bound: frozenset[str]
    tokens: Mapping[str, int]
    resident: int = 0

    def run(self, task: Task) -> TaskRun:
        total = sum(self.tokens[tool_id] for tool_id in self.bound)
        return TaskRun(task.kind, tuple(_gated(turn, self.bound, total) for turn in task.turns))


class Gated(Struct, frozen=True, dict=True):
    """The tools that are close enough to what was said, chosen in every turn (Tool Attention, and B3).

    Tools in `writing` need their server among the task's scopes (section 5.4). With `by_step`, tools are
    chosen for each step of a turn, and the definitions change from call to call.
    """

    name: str
    ranked: Ranked
    tokens: Mapping[str, int]
    threshold: float = ANY
    top_k: int = RETRIEVED
    writing: frozenset[str] = frozenset()
    resident: int = 0
    by_step: bool = False

    def run(self, task: Task) -> TaskRun:
        closed = frozenset(t for t in self.writing if t.partition(":")[0] not in task.scopes)
        return TaskRun(task.kind, tuple(self._turn(turn, closed) for turn in task.turns))

    def _turn(self, turn: Turn, closed: frozenset[str]) -> TurnRun:
        queries = turn.queries if self.by_step else (turn.text,)
        sets = [self.ranked.active(query, self.threshold, self.top_k, closed) for query in queries]
        sizes = [sum(self.tokens[tool_id] for tool_id in active) for active in sets]
        bound = frozenset(tool_id for active in sets for tool_id in active)
        return _gated(turn, bound, sizes[0]) if len(sizes) == 1 else _stepwise(turn, bound, sizes)


def _gated(turn: Turn, bound: frozenset[str], tokens: float) -> TurnRun:
    """The same definitions in each of the turn's model calls."""
    calls = len(turn.steps) + 1
    return TurnRun(
        tools=tokens * calls,
        traffic=0.0,
        last=tokens,
        end=tokens,
        calls=calls,
        bound=bound,
        found=bound,
        needed=turn.needed,
    )


def _stepwise(turn: Turn, bound: frozenset[str], sizes: Sequence[float]) -> TurnRun:
    """Definitions of these sizes step by step; the call that answers has those of the last step."""
    last = float(sizes[-1])
    return TurnRun(
        tools=sum(sizes) + last,
        traffic=0.0,
        last=last,
        end=last,
        calls=len(sizes) + 1,
        bound=bound,
        found=bound,
        needed=turn.needed,
    )


_CLI_PROMPT = (
    "You can use tools of several servers through the command line program `mcp`.\n"
    "mcp --list SERVER shows the names of a server's tools, one a line.\n"
    "mcp SERVER TOOL --help shows what a tool does and its options.\n"
    "mcp SERVER TOOL --OPTION VALUE ... runs it and prints the result.\n"
    "Look before you run: ask for a list or for help only when you need it.\n"
    "Servers: "
)


class CommandLine:
    """Tools behind a command line (B4): a fixed prompt, plus lists and help texts after they are asked for.

    It asks only for what it needs, a server's list and a tool's help once per task, and always finds the
    right tool: a lower bound for its tokens, and not a measure of retrieval.
    """

    resident = 0

    def __init__(self, testbed: Testbed, count: Callable[[str], int], name: str) -> None:
        self.name = name
        servers: dict[str, list[Tool]] = {}
        for tool in testbed.tools:
            servers.setdefault(tool.server, []).append(tool)
        self.prompt = count(_CLI_PROMPT + ", ".join(servers))
        self._lists = {server: count(list_text(server, tools)) for server, tools in servers.items()}
        self._helps = {tool.id: count(help_text(tool)) for tool in testbed.tools}

    def run(self, task: Task) -> TaskRun:
        known: dict[str, int] = {}
        return TaskRun(task.kind, tuple(self._turn(turn, known) for turn in task.turns))

    def _turn(self, turn: Turn, known: dict[str, int]) -> TurnRun:
        """Run a turn. `known` are the texts in the conversation, by server or tool; new texts are added."""
        levels = []
        for step in turn.steps:
            server = step.tool_id.partition(":")[0]
            for key, cost in ((server, self._lists[server]), (step.tool_id, self._helps[step.tool_id])):
                if key not in known:
                    levels.append(sum(known.values()))
                    known[key] = cost
            levels.append(sum(known.values()))
        levels.append(sum(known.values()))
        end = float(self.prompt + levels[-1])
        return TurnRun(
            tools=self.prompt * len(levels) + sum(levels),
            traffic=0.0,
            last=end,
            end=end,
            calls=len(levels),
            bound=turn.needed,
            found=turn.needed,
            needed=turn.needed,
        )


def list_text(server: str, tools: Sequence[Tool]) -> str:
    """The text of `mcp --list`: the call and its output."""
    return "\n".join([f"mcp --list {server}", *(tool.name for tool in tools)])


def help_text(tool: Tool) -> str:
    """The text of a tool's `--help`: the call and its output."""
    required = tool.input_schema.get("required", ())
    lines = [f"mcp {tool.server} {tool.name} --help", tool.description]
    for name, spec in tool.input_schema["properties"].items():
        kind = "|".join(map(str, spec["enum"])) if "enum" in spec else str(spec["type"]).upper()
        mark = " (required)" if name in required else ""
        lines.append(f"  --{name} {kind}{mark}  {spec['description']}")
    return "\n".join(lines)


def most_needed(tasks: Iterable[Task], number: int = STATIC_TOOLS) -> frozenset[str]:
    """The tools that those tasks need most often: B2's fixed subset."""
    needs = Counter(step.tool_id for task in tasks for turn in task.turns for step in turn.steps)
    return frozenset(tool_id for tool_id, _ in needs.most_common(number))
