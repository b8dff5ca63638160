"""What a check says: facts about definitions, each with its proof and its place, and sentences to add."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.number import count


class Severity(StrEnum):
    """How much a finding matters, worst first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    def is_at_least(self, other: "Severity") -> bool:
        """Whether it matters as much as the other, or more."""
        order = list(Severity)
        return order.index(self) <= order.index(other)


class Stage(StrEnum):
    """Where a definition fails: no search finds the tool, a model chooses another, or calls it wrongly.

    Or whether a definition can be trusted, and what it costs.
    """

    FOUND = "found"
    CHOSEN = "chosen"
    CALLED = "called right"
    TRUST = "trust"
    COST = "cost"


class Rule(Struct, frozen=True):
    """What is looked for. `name` is how a configuration turns it off, `title` what a heading says.

    `help` says in one or two sentences why it matters and what to do.
    """

    name: str
    title: str
    severity: Severity
    stage: Stage
    help: str


def rules(stage: Stage, table: str) -> tuple[Rule, ...]:
    """The rules of one stage from a table: `name | severity | title`, with the help in the line below."""
    lines = [line.strip() for line in table.strip().splitlines()]
    heads = ([cell.strip() for cell in line.split("|")] for line in lines[::2])
    pairs = zip(heads, lines[1::2], strict=True)
    return tuple(Rule(name, title, Severity(grade), stage, text) for (name, grade, title), text in pairs)


class Loser(Struct, frozen=True):
    """A tool that falls behind for a request of its own."""

    tool_id: str
    query: str


class Effect(Struct, frozen=True):
    """What a description changes for the tool's own requests, by one ranker.

    `ranks` are (before, after) by request, None where the tool is no result. `tokens` is what the definition
    grows by. `losers` are other tools that would fall.
    """

    ranker: str
    ranks: Mapping[str, tuple[int | None, int | None]]
    tokens: int = 0
    losers: tuple[Loser, ...] = ()

    @property
    def reached(self) -> int:
        """The rank for the first of the requests afterwards, 0 if the tool is no result for it."""
        return next((after or 0 for _, after in self.ranks.values()), 0)


class Place(Struct, frozen=True):
    """Where a text stands in a source file; lines and columns count from 1."""

    path: Path
    line: int
    column: int = 1


class Finding(Struct, frozen=True):
    """A fact about a definition. `tool` is its name on the server, "" for a fact about the server.

    `server` is "" for a fact about all servers together. `message` states the fact in one sentence, `proof`
    quotes what shows it: the words, the schema's path, the characters that a client cuts. `client` is the
    client that it holds for, "" for all. `place` is where to change it, None if unknown. With several
    `tools`, it is the same fact about each of them.
    """

    rule: Rule
    server: str
    tool: str
    message: str
    proof: str = ""
    client: str = ""
    place: Place | None = None
    tools: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """The tool's id, or the server, or all of them."""
        return f"{self.server}:{self.tool}" if self.tool else self.server or "all servers"

    @property
    def first(self) -> str:
        """The id of the first tool that it is about, else the subject."""
        return f"{self.server}:{self.tools[0]}" if self.tools else self.subject

    @property
    def is_felt(self) -> bool:
        """Whether it is no mere note."""
        return self.rule.severity is not Severity.NOTE


SOURCE = "by: "
"""What a line of a proof begins with that names the source of a rule."""
# Of so many tools it is told what shows a fact that many share.
_SHOWN = 5
# So many sources are named; the facts of each client have all.
_SOURCES = 2


def folded(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings, one for all tools of a server, and all clients, of which a rule says something."""
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for one in findings:
        groups.setdefault((one.rule.name, one.server, one.client), []).append(one)
    of_clients: dict[tuple[str, str], list[Finding]] = {}
    for (rule, server, client), same in groups.items():
        of_tools = [one for one in same if one.tool]
        told = [one for one in same if not one.tool]
        told += of_tools if len(of_tools) < 2 else [_together(of_tools)]
        if client:
            of_clients.setdefault((rule, server), []).extend(told)
        else:
            yield from told
    found = (same[0] if len(same) == 1 else _in_all_clients(same) for same in of_clients.values())
    yield from map(_sourced, found)


def _sourced(one: Finding) -> Finding:
    """The finding with the first sources, and how many more there are."""
    lines = one.proof.splitlines()
    sources = [line for line in lines if line.startswith(SOURCE)]
    if len(sources) <= _SOURCES:
        return one
    more = f"{SOURCE}{count(len(sources) - _SOURCES, 'more source')}, in the facts of each client"
    shown = (line for line in lines if line not in sources[_SOURCES:])
    return replace(one, proof="\n".join((*shown, more)))


def _in_all_clients(same: Sequence[Finding]) -> Finding:
    """What is said in different clients, said once: what in which of them, and then all sources."""
    first, title = same[0], f"{same[0].rule.title}."
    tools = tuple(dict.fromkeys(name for one in same for name in one.tools or (one.tool,) if name))
    lines = list[str]()
    for one in same:
        told = [line for line in one.proof.splitlines() if not line.startswith(SOURCE)]
        lines += (f"in {one.client}: {f'{one.tool}: ' if one.tool and tools[1:] else ''}{one.message}", *told)
    lines += dict.fromkeys(line for one in same for line in one.proof.splitlines() if line.startswith(SOURCE))
    clients = ", ".join(dict.fromkeys(name for one in same for name in one.client.split(", ")))
    says = f"{count(len(tools), 'tool')}: {title}" if len(tools) > 1 else title
    is_of_one = len(tools) == 1
    told_of = replace(first, tool=tools[0] if is_of_one else "", tools=() if is_of_one else tools)
    return replace(told_of, message=says, proof="\n".join(lines), client=clients)


def _together(same: list[Finding]) -> Finding:
    """What is said of several tools, said once: how many there are, with what shows it of the first."""
    first, number = same[0], count(len(same), "tool")
    says = first.message if all(one.message == first.message for one in same) else f"{first.rule.title}."
    shared = first.proof.splitlines()
    own = {
        one.tool: [line for line in one.proof.splitlines() if not all(line in o.proof for o in same)]
        for one in same
    }
    lines = []
    for one in same[:_SHOWN]:
        told = [one.message] if one.message != says else []
        lines.append(f"{one.tool}: {' '.join((*told, *own[one.tool]))}".rstrip(": "))
    more = [f"and {len(same) - _SHOWN:,} more"] if len(same) > _SHOWN else []
    common = [line for line in shared if line not in own[first.tool]]
    proof = "\n".join((*lines, *more, *common))
    return replace(
        first, tool="", message=f"{number}: {says}", proof=proof, tools=tuple(o.tool for o in same)
    )


class Proposal(Struct, frozen=True):
    """A description that was tried and helps: the sentence that was added, the whole text, and its effect.

    Its tool wins for at least one request with it, and no other tool loses one. `by` is the model that wrote
    the sentence, "" if it was made of phrases.
    """

    tool_id: str
    sentence: str
    description: str
    effect: Effect
    by: str = ""
