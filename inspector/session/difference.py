"""What differs between two catalogs, or two sessions with theirs: tools, definitions, answers, calls."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from inspector.core.definition import (
    DefinitionChange,
    SchemaChange,
    definition_changes,
    definition_hash,
    judged,
    shown_changes,
)
from inspector.core.events import CallStarted, CatalogBuilt, Record, ServerReady, SessionStarted, ToolsChanged
from inspector.core.fold import fold
from inspector.core.number import count, tokens
from inspector.core.report import COUNT, NAME, NOTHING, TOKENS, Block, Column, Table
from inspector.core.tool import Tool
from inspector.search.answer.expectation import ExpectationResult
from inspector.session.client_view import instructions_of

KINDS = tuple(one.kind for one in (SessionStarted, ServerReady, ToolsChanged, CatalogBuilt, CallStarted))
"""The events that a side is made of."""
_MOST, _LINES = 20, 6


class Side(Struct, frozen=True):
    """One of the two: its tools by id, None where a record holds no definition, and what else is known of it.

    `tokens` are those of each definition, as far as it is known; `calls` are counted by tool, None for what
    is no session; `answers` are those to the requests that both are asked. What an agent `sent` has of each
    definition only the description and the parameters.
    """

    name: str
    tools: Mapping[str, Tool | None]
    instructions: Mapping[str, str] = field(default_factory=dict)
    calls: Counter[str] | None = None
    tokens: Mapping[str, int] = field(default_factory=dict)
    answers: Sequence[ExpectationResult] = ()
    sent: bool = False

    @classmethod
    def of_session(cls, name: str, records: Iterable[Record]) -> Self:
        """A recorded session, of its events at least those of `KINDS`: the tools that it knew."""
        stream = list(records)
        state = fold(stream)
        calls = Counter(one.event.tool for one in stream if isinstance(one.event, CallStarted))
        tools = {id_: state.recorded(id_) for id_ in state.tools}
        sent = any(isinstance(one.event, SessionStarted) and one.event.origin is not None for one in stream)
        return cls(name, tools, instructions_of(state), calls, sent=sent)

    @property
    def defined(self) -> tuple[Tool, ...]:
        """The tools whose definition is known."""
        return tuple(tool for tool in self.tools.values() if tool is not None)

    def counted(self, size: Callable[[Tool], int]) -> Self:
        """With the tokens of each definition."""
        return replace(self, tokens={tool.id: size(tool) for tool in self.defined})

    @property
    def servers(self) -> Mapping[str, set[str]]:
        """The names of each server's tools."""
        found: dict[str, set[str]] = {}
        for server, _, name in (id_.partition(":") for id_ in self.tools):
            found.setdefault(server, set()).add(name)
        return found

    @property
    def total(self) -> int:
        return sum(self.tokens.values())


def aligned(first: Side, second: Side) -> tuple[Side, Side]:
    """The two; a server that has another name in the second has that of the first in both."""
    names = dict(_renamed(first.servers, second.servers))

    def named(id_: str) -> str:
        server, _, name = id_.partition(":")
        return f"{names.get(server, server)}:{name}"

    tools = {
        named(id_): tool and replace(tool, server=names.get(tool.server, tool.server))
        for id_, tool in second.tools.items()
    }
    calls = None if second.calls is None else Counter({named(id_): n for id_, n in second.calls.items()})
    sizes = {named(id_): size for id_, size in second.tokens.items()}
    said = {names.get(one, one): text for one, text in second.instructions.items()}
    return first, replace(second, tools=tools, calls=calls, tokens=sizes, instructions=said)


def _renamed(mine: Mapping[str, set[str]], theirs: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
    """The second's servers and what the first calls them: each has only that one, or tools of those names."""
    is_alone = len(mine) == len(theirs) == 1
    free = [one for one in mine if one not in theirs]
    for other in (one for one in theirs if one not in mine):
        if same := next((one for one in free if is_alone or mine[one] == theirs[other]), ""):
            free.remove(same)
            yield other, same


class ChangedTool(Struct, frozen=True):
    """A tool with another definition: what that means for callers, what differs, and its tokens in both."""

    tool: str
    change: SchemaChange
    changes: tuple[DefinitionChange, ...]
    tokens: tuple[int, int]


class Difference(Struct, frozen=True):
    """What differs between two sides: `answers` are pairs for one request, `calls` those of each side."""

    sides: tuple[Side, Side]
    only: tuple[tuple[str, ...], tuple[str, ...]]
    changed: tuple[ChangedTool, ...]
    instructions: tuple[tuple[str, tuple[DefinitionChange, ...]], ...]
    answers: tuple[tuple[ExpectationResult, ExpectationResult], ...]
    calls: tuple[tuple[str, int, int], ...]

    @property
    def is_none(self) -> bool:
        return not (any(self.only) or self.changed or self.instructions or self.answers or self.calls)


def difference(first: Side, second: Side) -> Difference:
    """Compare two sides, which are `aligned`. What is equal counts as many tokens in both."""
    same = (id_ for id_ in second.tokens if _hash(second.tools[id_]) == _hash(first.tools.get(id_)))
    first = replace(first, tokens={**first.tokens, **{id_: second.tokens[id_] for id_ in same}})
    mine, theirs = first.tools.keys(), second.tools.keys()
    said = (
        (one, definition_changes(Tool(one, "", before), Tool(one, "", second.instructions[one])))
        for one, before in sorted(first.instructions.items())
        if one in second.instructions
    )
    answers = zip(first.answers, second.answers, strict=True)
    return Difference(
        (first, second),
        (tuple(sorted(mine - theirs)), tuple(sorted(theirs - mine))),
        tuple(_changed(first, second)),
        tuple(one for one in said if one[1]),
        tuple(pair for pair in answers if _said(pair[0]) != _said(pair[1])),
        tuple(_calls(first, second)),
    )


def _changed(first: Side, second: Side) -> Iterator[ChangedTool]:
    for id_ in sorted(first.tools.keys() & second.tools.keys()):
        old, new = first.tools[id_], second.tools[id_]
        if first.sent or second.sent:
            old, new = _as_sent(old), _as_sent(new)
        if old is not None and new is not None and _hash(old) != _hash(new):
            sizes = first.tokens.get(id_, 0), second.tokens.get(id_, 0)
            yield ChangedTool(id_, judged(old, new), definition_changes(old, new), sizes)


def _as_sent(tool: Tool | None) -> Tool | None:
    schema = tool and {**tool.input_schema, "type": "object"}
    return Tool(tool.server, tool.name, tool.description, schema) if tool is not None and schema else None


def _hash(tool: Tool | None) -> str:
    """The hash of a definition; that of tools without a known one is no tool's."""
    return definition_hash(tool) if tool is not None else ""


def _calls(first: Side, second: Side) -> Iterator[tuple[str, int, int]]:
    if first.calls is None or second.calls is None:
        return
    for tool in sorted(first.calls | second.calls):
        if first.calls[tool] != second.calls[tool]:
            yield tool, first.calls[tool], second.calls[tool]


def _answer(one: ExpectationResult) -> dict[str, Any]:
    return {"rank": one.rank, "holds": one.holds, "first": one.first, "problem": one.problem}


def difference_report(found: Difference) -> Iterator[Block]:
    """The two sides, then what differs, the tools first."""
    first, second = found.sides
    names = (("A", first), ("B", second))
    for name, side in names:
        made = "" if side.calls is None else f", {count(side.calls.total(), 'call')}"
        size = f", {tokens(side.total)} tokens" if side.total else ""
        yield f"{name}  {side.name}: {count(len(side.tools), 'tool')}{size}{made}"
    if found.is_none:
        yield "\nNo difference."
    for (name, side), ids in zip(names, found.only, strict=True):
        if ids:
            rows = [(id_, side.tokens.get(id_)) for id_ in ids[:_MOST]]
            yield ""
            yield Table.of((Column(f"only in {name}", lambda row: row[0], NAME), _TOKENS), rows)
            yield from _more(len(ids))
    if found.changed:
        yield ""
        yield Table.of(_CHANGED, found.changed)
    for one in found.changed[:_MOST]:
        yield f"\n{one.tool}"
        yield from _lines(one.changes)
    yield from _more(len(found.changed))
    for server, changes in found.instructions:
        yield f"\nInstructions of {server}"
        yield from _lines(changes)
    if found.answers:
        told = f"{len(found.answers):,} of {count(len(first.answers), 'request')} get another answer"
        yield Table.of(_ANSWERS, found.answers, told)
    if found.calls:
        yield ""
        yield Table.of(_CALLS, found.calls)


_TOKENS = Column("tokens", lambda row: row[1], TOKENS)
_CHANGED = (
    Column("changed", "tool", NAME),
    Column("for callers", lambda one: one.change.verdict),
    Column("because", lambda one: "; ".join(one.change.reasons) or NOTHING),
    Column("tokens in A", lambda one: one.tokens[0], TOKENS),
    Column("in B", lambda one: one.tokens[1], TOKENS),
)
_ANSWERS = (
    Column("request", lambda pair: pair[0].expectation.text),
    Column("A", lambda pair: _said(pair[0])),
    Column("B", lambda pair: _said(pair[1])),
)
_CALLS = (
    Column("calls of", lambda row: row[0], NAME),
    Column("A", lambda row: row[1], COUNT),
    Column("B", lambda row: row[2], COUNT),
)


def _said(one: ExpectationResult) -> str:
    return one.problem or (f"rank {one.rank}" if one.rank else "as expected")


def _more(number: int) -> Iterator[str]:
    if number > _MOST:
        yield f"and {number - _MOST:,} more; --json has all"


def _lines(changes: Sequence[DefinitionChange]) -> Iterator[str]:
    """The lines that differ, a few of each part."""
    for part in shown_changes(changes):
        yield f"  {part.title}"
        yield from (f"    {line}" for line in part.lines[:_LINES])
        if len(part.lines) > _LINES:
            yield f"    … {len(part.lines) - _LINES:,} more lines"


def difference_json(found: Difference) -> dict[str, Any]:
    """All of it."""
    first, second = found.sides

    def side(one: Side) -> dict[str, Any]:
        calls = None if one.calls is None else one.calls.total()
        return {"name": one.name, "tools": len(one.tools), "tokens": one.total, "calls": calls}

    return {
        "first": side(first),
        "second": side(second),
        "only_first": [{"tool": one, "tokens": first.tokens.get(one)} for one in found.only[0]],
        "only_second": [{"tool": one, "tokens": second.tokens.get(one)} for one in found.only[1]],
        "changed": list(map(to_builtins, found.changed)),
        "instructions": [
            {"server": one, "changes": list(map(to_builtins, made))} for one, made in found.instructions
        ],
        "requests": len(first.answers),
        "answers": [
            {"text": a.expectation.text, "first": _answer(a), "second": _answer(b)} for a, b in found.answers
        ],
        "calls": [{"tool": tool, "first": a, "second": b} for tool, a, b in found.calls],
    }
