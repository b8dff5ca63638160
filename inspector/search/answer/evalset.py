"""Labelled requests: read, written, added to, taken from sessions.

A folder has `tools.jsonl` (`name`; optional `id`, `server`, `description`, `inputSchema`) and
`queries.jsonl` (`id`, `query`, and `relevant` or `groups`; optional `kind` or `split`), which names tools by
their `id` in the folder. A file of cases is like `queries.jsonl`, but names tools as `server:tool`.
Reading stops at the first bad line, with its file and number: a data set with lost lines measures wrongly.
"""

import json
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from msgspec.structs import replace
from pydantic import AfterValidator, AliasChoices, BeforeValidator, ConfigDict, Field, model_validator

from inspector.access.reach import LOGGED, EvalCase, EvalSet
from inspector.config.file import MAX_BYTES, load_lines, open_file, unusable
from inspector.config.problem import Model, NullAsAbsent, not_empty, refusal, validated
from inspector.core.error import ConfigError
from inspector.core.events import Record
from inspector.core.redaction import clean, open_private
from inspector.core.tool import Tool
from inspector.core.turns import Search, ToolCall, turns
from inspector.search.answer.generate import numbered, query_key

TOOLS, QUERIES = "tools.jsonl", "queries.jsonl"
_RELEVANT_HINT = (
    '`relevant` is a list of "server:tool" ids or of lists of alternatives; write [] if no tool fits.'
)

_Text = Annotated[str, Field(description="Every line needs a string for this key.")]
_Group = Annotated[
    list[str],
    BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
    Field(min_length=1, description=_RELEVANT_HINT),
]


class _Line(NullAsAbsent):
    """One line; unknown keys are ignored."""

    model_config = ConfigDict(extra="ignore")


class _ToolLine(_Line):
    name: Annotated[str, AfterValidator(not_empty), Field(description="Every tool needs a name.")]
    id: str | None = None
    server: str = ""
    description: str = ""
    inputSchema: dict[str, Any] = Field(  # noqa: N815 - the format's own name
        default_factory=dict, description="It must be a JSON Schema with `type: object`."
    )

    def tool(self) -> Tool:
        return Tool(self.server, self.name, self.description, {**self.inputSchema, "type": "object"})


class _CaseLine(_Line):
    """A labelled request. `groups` takes precedence over `relevant`, where an id alone is a group."""

    id: _Text
    query: _Text
    relevant: Annotated[
        list[_Group] | None,
        Field(validation_alias=AliasChoices("groups", "relevant"), description=_RELEVANT_HINT),
    ] = None
    kind: Annotated[str, Field(validation_alias=AliasChoices("kind", "split"))] = ""

    @model_validator(mode="after")
    def _is_labelled(self) -> "_CaseLine":
        if self.relevant is None:
            raise refusal("relevant is missing", _RELEVANT_HINT)
        return self


def read_evalset(folder: Path) -> EvalSet:
    """Read a folder's data set, named after it. Raises ConfigError, also for a label without a tool."""
    tools = _tools(folder)

    def tool_id(place: str, given: str) -> str:
        if given not in tools:
            raise ConfigError(f"{place}: no tool has the id {given!r:.80}", hint=f"Use an `id` from {TOOLS}.")
        return tools[given].id

    cases = _cases(folder / QUERIES, tool_id)
    return EvalSet(folder.resolve().name, tuple(tools.values()), cases)


def read_tools(folder: Path) -> tuple[Tool, ...]:
    """Read a folder's tools; it needs no requests. Raises ConfigError."""
    return tuple(_tools(folder).values())


def read_cases(path: Path) -> tuple[EvalCase, ...]:
    """Read a file's cases, which may name any tool. Raises ConfigError."""
    return _cases(path, lambda _, given: given)


def _row(case: EvalCase) -> Mapping[str, Any]:
    groups = [sorted(group) for group in case.relevant]
    return {"id": case.id, "query": case.query, "relevant": groups, "kind": case.kind}


def _tools(folder: Path) -> dict[str, Tool]:
    """The tools by their id in the file."""
    lines = _lines(folder / TOOLS, _ToolLine)
    tools: dict[str, Tool] = {}
    for (place, line), tool in zip(lines, _distinct([line.tool() for _, line in lines]), strict=True):
        name = tool.id if line.id is None else line.id
        _refuse_twice(place, name, tools, "Ids must be unique, because labels refer to them.")
        tools[name] = tool
    return tools


def _distinct(tools: Sequence[Tool]) -> list[Tool]:
    """The tools with distinct ids: of those that share an id, all but the first get a number."""
    taken = {tool.id for tool in tools}
    last: dict[str, int] = {}
    distinct = []
    for tool in tools:
        named = tool
        number = last.get(tool.id, 1)
        if tool.id in last:
            while named.id in taken:
                number += 1
                named = replace(tool, name=f"{tool.name}#{number}")
        last[tool.id] = number
        taken.add(named.id)
        distinct.append(named)
    return distinct


def _cases(path: Path, tool_id: Callable[[str, str], str]) -> tuple[EvalCase, ...]:
    cases: dict[str, EvalCase] = {}
    for place, line in _lines(path, _CaseLine):
        groups = (frozenset(tool_id(place, given) for given in group) for group in line.relevant or ())
        _refuse_twice(place, line.id, cases, "Ids must be unique, because results are matched by id.")
        cases[line.id] = EvalCase(line.id, line.query, tuple(dict.fromkeys(groups)), line.kind)
    return tuple(cases.values())


def _refuse_twice(place: str, case_id: str, known: Container[str], hint: str) -> None:
    if case_id in known:
        raise ConfigError(f"{place}: the id {case_id!r:.80} appears twice", hint=hint)


def _lines(path: Path, model: type[Model]) -> list[tuple[str, Model]]:
    """The checked lines of a file, each with its file and number. Raises ConfigError at the first bad one."""
    return [(place, validated(model, value, place)) for place, value in load_lines(path, limit=MAX_BYTES)]


def is_there(path: Path) -> bool:
    """Whether the file exists. Raises ConfigError if it cannot be read."""
    return _content(path) is not None


def append_cases(path: Path, cases: Sequence[EvalCase]) -> None:
    """Add cases to a file, or create it. Existing content stays byte for byte. Raises ConfigError."""
    if is_there(path):
        read_cases(path)
    # ASCII, so that lone surrogates survive too.
    append_lines(path, (json.dumps(clean(_row(case))) for case in cases))


def append_lines(path: Path, lines: Iterable[str]) -> None:
    """Add lines at the end of a file, or create it. All else stays byte for byte. Raises ConfigError."""
    before, added = _content(path), "".join(f"{line}\n" for line in lines)
    try:
        with open_private(path, "a", encoding="utf-8", newline="\n") as file:
            file.write(("\n" if before and not before.endswith(b"\n") else "") + added)
    except (OSError, ValueError) as error:
        raise unusable(path, error, "written") from error


def _content(path: Path) -> bytes | None:
    """The file's bytes; None if it does not exist."""
    try:
        with open_file(path, "data set") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise unusable(path, error, "read") from error


def logged_cases(records: Iterable[Record]) -> tuple[EvalCase, ...]:
    """A case for each query of a model that led it to call a found tool in the same turn.

    `records` holds one or more sessions in sequence. A call belongs to the latest search that found the tool,
    and each called tool is its own group. Queries that differ only in case and spaces form one case with the
    tools of all of them. A model's calls need not have been right: the labels are only as good as the model.
    """
    called: dict[str, tuple[str, dict[str, None]]] = {}
    for turn in turns(records):
        searches: list[Search] = []
        for act in turn.acts:
            if isinstance(act, Search):
                searches += [act] if act.event.report.request.query.strip() else []
            elif isinstance(act, ToolCall):
                tool = act.event.tool
                if search := next((one for one in reversed(searches) if tool in one.found), None):
                    query = search.event.report.request.query
                    called.setdefault(query_key(query), (query, {}))[1][tool] = None
    cases = (
        EvalCase("", query, tuple(frozenset({tool}) for tool in tools), LOGGED)
        for query, tools in called.values()
    )
    return numbered(cases)


def added_cases(records: Iterable[Record], known: Sequence[EvalCase] = ()) -> tuple[EvalCase, ...]:
    """The logged cases that are not among the `known` ones yet, with ids that none of those has."""
    there = {query_key(case.query) for case in known}
    fresh = (case for case in logged_cases(records) if query_key(case.query) not in there)
    return numbered(fresh, [case.id for case in known])
