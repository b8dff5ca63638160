"""Other projects' search over the published sets, beside hybrid: `python -m docs.benchmark.peers`.

Writes the section "Peers" of docs/papers/retrieval.md anew and leaves the rest; `make bench-retrieval`
writes it with all others. FastMCP and casual-mcp have dependencies of their own, so they run in a process of
the Python that TOOLSIGHT_PEERS names; without it their rows are left out.
"""

import json
import os
import re
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from docs.benchmark import say
from docs.benchmark.data import PUBLISHED, ROOT, among_others, published, semantics
from inspector.access.reach import EvalSet
from inspector.core.ports import SystemClock
from inspector.core.ranking import Answer
from inspector.core.report import NOTHING
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.features.bench.command import p_text
from inspector.features.bench.ranker_bench import DataSet, Measured, RankerBench, Row, difference
from inspector.features.bench.run import DEPTH, CaseRun, Run, summarise
from inspector.search.answer.metric import SIGNIFICANT, Estimate, holm

VARIABLE = "TOOLSIGHT_PEERS"
HYBRID = "hybrid"
HEADING = "## Peers"
NEXT = "## The project's own requests"
HOW = "one into which `pip install 'fastmcp<4' casual-mcp` was done"
_SCRIPT = Path(__file__).with_name("peer_process.py")


class NotMeasured(Exception):
    """A peer that cannot be run here, and why."""


class Peer(Protocol):
    """Another search over tools. `limit` is how many to return; None leaves that to the peer."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def rank(self, query: str, limit: int | None = None) -> list[str]:
        """The ids of the tools found, best first."""
        ...


class Fts5Peer:
    """SQLite's full-text index over one text a tool; a tool needs one of the query's words to be found."""

    name = "SQLite FTS5"
    version = sqlite3.sqlite_version

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._ids = [tool.id for tool in tools]
        self._database = sqlite3.connect(":memory:")
        try:
            self._database.execute("CREATE VIRTUAL TABLE tools USING fts5(text)")
        except sqlite3.OperationalError as error:
            raise NotMeasured(str(error)) from error
        rows = [(number, full_text(tool)) for number, tool in enumerate(tools)]
        self._database.executemany("INSERT INTO tools (rowid, text) VALUES (?, ?)", rows)

    def rank(self, query: str, limit: int | None = None) -> list[str]:
        words = " OR ".join('"' + word.replace('"', '""') + '"' for word in query.split())
        if not words:
            return []
        found = self._database.execute(
            "SELECT rowid FROM tools WHERE tools MATCH ? ORDER BY bm25(tools), rowid LIMIT ?",
            (words, -1 if limit is None else limit),
        )
        return [self._ids[number] for (number,) in found]


class RankBm25Peer:
    """`rank_bm25.BM25Okapi` over words between white space, and its own `get_top_n`."""

    name = "rank_bm25"

    def __init__(self, tools: Sequence[Tool]) -> None:
        from rank_bm25 import BM25Okapi

        self._ids = [tool.id for tool in tools]
        self._model = BM25Okapi([f"{tool.name} {tool.description}".lower().split() for tool in tools])
        self.version = version("rank-bm25")

    def rank(self, query: str, limit: int | None = None) -> list[str]:
        words = query.lower().split()
        if limit is None:
            return list(self._model.get_top_n(words, self._ids))
        return list(self._model.get_top_n(words, self._ids, n=limit))


class ProcessPeer:
    """A project that another Python has: `peer_process.py`, asked line by line."""

    def __init__(self, name: str, process: "subprocess.Popen[str]", tools: Sequence[Tool]) -> None:
        self.name = name
        self._process = process
        self._ids = {served_name(tool): tool.id for tool in tools}
        if len(self._ids) < len(tools):
            raise ValueError(f"two of {len(tools)} tools have the same name")
        self.version = str(self._ask(tools=[_declared(tool) for tool in tools])["version"])

    def rank(self, query: str, limit: int | None = None) -> list[str]:
        return [self._ids[name] for name in self._ask(query=query, limit=limit)["names"]]

    def _ask(self, **fields: object) -> dict[str, Any]:
        """The answer to one line. Raises NotMeasured if there is none."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(fields) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise NotMeasured("its process ended") from None
        answer: dict[str, Any] = json.loads(
            self._process.stdout.readline() or '{"error": "its process ended"}'
        )
        if "error" in answer:
            raise NotMeasured(answer["error"])
        return answer


def served_name(tool: Tool) -> str:
    """The tool's name where several servers are behind one, as FastMCP and casual-mcp make it."""
    return f"{tool.server}_{tool.name}" if tool.server else tool.name


def full_text(tool: Tool) -> str:
    """Its name, description, and the names and descriptions of its parameters."""
    properties = tool.input_schema.get("properties")
    parts = [tool.name, tool.description]
    for name, schema in properties.items() if isinstance(properties, Mapping) else ():
        described = schema.get("description") if isinstance(schema, Mapping) else None
        parts += [name, described] if isinstance(described, str) else [name]
    return " ".join(parts)


def _declared(tool: Tool) -> dict[str, Any]:
    return {
        "server": tool.server,
        "name": served_name(tool),
        "description": tool.description,
        "inputSchema": tool.input_schema,
    }


@contextmanager
def _apart(name: str, project: str, tools: Sequence[Tool]) -> Iterator[Peer]:
    """A peer in a process that ends with the block."""
    command = [os.environ[VARIABLE], "-I", str(_SCRIPT), project]
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    try:
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, encoding="utf-8")
    except OSError as error:
        raise NotMeasured(f"the Python of {VARIABLE}: {error.strerror}") from error
    try:
        yield ProcessPeer(name, process, tools)
    finally:
        process.kill()
        process.communicate()


@contextmanager
def _here(make: Callable[[Sequence[Tool]], Peer], tools: Sequence[Tool]) -> Iterator[Peer]:
    yield make(tools)


class Kind(Struct, frozen=True):
    """A peer, what it is and how to get it.

    `most` is how many tools it returns if it is not told, None if all it finds; `is_apart` whether it needs
    a Python of its own.
    """

    name: str
    what: str
    opened: Callable[[Sequence[Tool]], AbstractContextManager[Peer]]
    most: int | None = None
    is_apart: bool = False

    def row(self, limit: int | None) -> str:
        return self.name if limit is not None else f"{self.name}, first {self.most}"

    @property
    def limits(self) -> tuple[int | None, ...]:
        """What it is asked for: as many as are measured, and its own number where it has one."""
        return (DEPTH,) if self.most is None else (DEPTH, None)


KINDS = (
    Kind(
        "FastMCP",
        "what `BM25SearchTransform` finds, asked through FastMCP's own client: BM25 over name, description "
        "and parameters, in words of two or more letters and digits.",
        partial(_apart, "FastMCP", "fastmcp"),
        most=5,
        is_apart=True,
    ),
    Kind(
        "casual-mcp",
        "the index of its `search-tools`: BM25 over name and description, split at white space and "
        "underscores.",
        partial(_apart, "casual-mcp", "casual-mcp"),
        most=5,
        is_apart=True,
    ),
    Kind(
        Fts5Peer.name,
        "`bm25()` over one text of name, description and parameters; the words of the request are quoted and "
        "joined by OR.",
        partial(_here, Fts5Peer),
    ),
    Kind(
        RankBm25Peer.name,
        "`BM25Okapi.get_top_n` over name and description, split at white space; it fills its list with tools "
        "that share no word with the request.",
        partial(_here, RankBm25Peer),
        most=5,
    ),
)


def run(peer: Peer, row: str, evalset: EvalSet, limit: int | None) -> Measured:
    """Every request of a set, asked of a peer. Raises NotMeasured."""
    done: list[CaseRun] = []
    for case in evalset.cases:
        started = time.perf_counter()
        ranked = tuple(peer.rank(case.query, limit)[:DEPTH])
        seconds = time.perf_counter() - started
        done.append(CaseRun(case.id, ranked, seconds, Answer.FOUND if ranked else Answer.NOTHING, ranked))
    outcome = Run(row, evalset.name, tuple(done), len(done))
    return Measured(Row(evalset.name, row, summarise(outcome, evalset), len(evalset.tools)), outcome, evalset)


class Peers:
    """Peers beside hybrid, by data set and row; `p` is each one's test, corrected for the rows of the set."""

    def __init__(self, hybrids: Sequence[Measured]) -> None:
        self.hybrids = {one.row.dataset: one for one in hybrids}
        self.versions: dict[str, str] = {}
        self.missing: dict[str, str] = {}
        self.measured: dict[tuple[str, str], Measured] = {}
        self.p: dict[tuple[str, str], float] = {}

    def fill(self, kinds: Sequence[Kind]) -> None:
        """Measure every peer on the sets of hybrid; one that fails anywhere is measured nowhere."""
        for kind in kinds:
            try:
                self.measured |= {(one.row.dataset, one.row.ranker): one for one in self._every_set(kind)}
            except NotMeasured as error:
                self.missing[kind.name] = str(error)
        for dataset, hybrid in self.hybrids.items():
            rows = [key for key in self.measured if key[0] == dataset]
            found = [difference(self.measured[key].run, hybrid.run, hybrid.evalset) for key in rows]
            corrected = holm([one.p_value if one is not None else 1.0 for one in found])
            self.p |= dict(zip(rows, corrected, strict=True))

    def _every_set(self, kind: Kind) -> list[Measured]:
        found: list[Measured] = []
        for dataset, hybrid in self.hybrids.items():
            say(f"{dataset}: {kind.name}")
            with kind.opened(hybrid.evalset.tools) as peer:
                self.versions[kind.name] = peer.version
                found += [run(peer, kind.row(limit), hybrid.evalset, limit) for limit in kind.limits]
        return found

    def ndcg_grid(self) -> str:
        """Bold: what a paired test cannot tell from hybrid, or finds better."""
        rows = dict.fromkeys(row for _dataset, row in self.measured)
        return self._grid(list(rows), lambda one: one.row.summary.ndcg_10, self._tested)

    def recall_grid(self) -> str:
        """Without the rows of five results, which have the same."""
        rows = [kind.name for kind in KINDS if kind.name in self.versions and kind.name not in self.missing]
        return self._grid(rows, lambda one: one.row.summary.recall_5, lambda _key, text, _value: text)

    def _tested(self, key: tuple[str, str], text: str, value: float) -> str:
        ndcg = self.hybrids[key[0]].row.summary.ndcg_10
        is_worse = self.p[key] < SIGNIFICANT and ndcg is not None and value < ndcg.mean
        return f"{text if is_worse else f'**{text}**'} (p {p_text(self.p[key])})"

    def _grid(
        self,
        rows: Sequence[str],
        measure: Callable[[Measured], Estimate | None],
        cell: Callable[[tuple[str, str], str, float], str],
    ) -> str:
        lines = [f"| search | {' | '.join(self.hybrids)} |", f"|---|{'--:|' * len(self.hybrids)}"]
        own = [measure(one) for one in self.hybrids.values()]
        lines.append(f"| {HYBRID} | {' | '.join(NOTHING if e is None else f'{e.mean:.3f}' for e in own)} |")
        for row in rows:
            keys = [(dataset, row) for dataset in self.hybrids]
            values = [(key, measure(self.measured[key])) for key in keys]
            cells = [NOTHING if e is None else cell(key, f"{e.mean:.3f}", e.mean) for key, e in values]
            lines.append(f"| {row} | {' | '.join(cells)} |")
        return "\n".join(lines)

    def left_out(self) -> list[str]:
        """Which peers have no row, and why."""
        lines = [f"- {name} is not measured: {why}." for name, why in self.missing.items()]
        if not os.environ.get(VARIABLE):
            names = " and ".join(kind.name for kind in KINDS if kind.is_apart)
            lines.append(f"- {names} are not measured: `{VARIABLE}` names no Python that has them ({HOW}).")
        return ["\n".join(lines)] if lines else []


def section(measured: Sequence[Measured]) -> str:
    """The section "Peers", on the data sets on which hybrid was measured."""
    peers = Peers([one for one in measured if one.row.ranker == HYBRID])
    peers.fill([kind for kind in KINDS if os.environ.get(VARIABLE) or not kind.is_apart])
    described = [
        f"- {kind.name} {peers.versions[kind.name]}: {kind.what}"
        for kind in KINDS
        if kind.name in peers.versions and kind.name not in peers.missing
    ]
    return "\n\n".join(
        [
            f"{HEADING}\n\nThe search of other projects over the same tools and requests, each as published: "
            "with its own settings and its own way to split words. FastMCP and casual-mcp get a server's "
            "tool as `server_tool`, the name that it has among several servers there. All of them compare "
            "words only, like our `bm25` above, and nothing of them was fitted; hybrid also has vectors, and "
            "weights chosen on these sets; weights fitted to three of them reach much the same on the fourth "
            "(above).",
            "\n".join(described),
            f"nDCG@10. Each is asked for {DEPTH} tools; `first 5` is what it returns if it is not told how "
            "many. In parentheses, a paired randomization test against hybrid, corrected for the rows of the "
            "data set (Holm). Bold: not worse than hybrid by more than chance.",
            peers.ndcg_grid(),
            "Recall@5:",
            peers.recall_grid(),
            *peers.left_out(),
        ]
    )


def with_section(report: str, new: str) -> str:
    """The report with its section of peers replaced, or put before the project's own requests."""
    parts = re.split(r"^(?=## )", report, flags=re.MULTILINE)
    kept = [part for part in parts if not part.startswith(HEADING)]
    place = next(number for number, part in enumerate(kept) if part.startswith(NEXT))
    kept.insert(place, f"{new}\n\n")
    return "".join(kept)


def main() -> None:
    def report(what: str, done: int, total: int) -> None:
        if done == total:
            say(what)

    path = ROOT / "docs" / "papers" / "retrieval.md"
    sets = [published(name) for name in PUBLISHED]
    sets += [among_others(evalset) for evalset in sets]
    bench = RankerBench([HYBRID], semantics, SystemClock(), report, lambda: False)
    measured = bench.measure([DataSet(evalset, DiscoverySettings()) for evalset in sets])
    path.write_text(with_section(path.read_text(encoding="utf-8"), section(measured)), encoding="utf-8")


if __name__ == "__main__":
    main()
