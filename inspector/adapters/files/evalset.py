"""Data sets of tools and labelled requests, as JSON Lines.

A folder has `tools.jsonl` (`name`; optional `id`, `server`, `description`, `inputSchema`) and
`queries.jsonl` (`id`, `query`, and `relevant` or `groups`; optional `kind` or `split`), which names tools by
their `id` in the folder. A file of cases is the same as `queries.jsonl`, but names tools as `server:tool`.
The first bad line stops the reading with its file and number: a data set that lost lines measures wrongly.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from inspector.domain.error import ConfigError
from inspector.domain.evaluation import EvalCase, EvalSet
from inspector.domain.tool import Tool

TOOLS, QUERIES = "tools.jsonl", "queries.jsonl"
_SEED = 0
_BOM = b"\xef\xbb\xbf"
_RELEVANT_HINT = '`relevant` is a list of "server:tool", or of lists of tools of which any one will do.'


@dataclass(frozen=True, slots=True)
class _Line:
    """One object of a file and where it is."""

    path: Path
    number: int
    value: Mapping[str, Any]

    def fault(self, what: str, hint: str) -> ConfigError:
        """The error to raise about this line."""
        return ConfigError(f"{self.path}:{self.number}: {what}", hint=hint)

    def text(self, key: str, default: str | None = None) -> str:
        """A string; `default` where the key is missing or null. Raises ConfigError where that is None."""
        value = self.value.get(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            what = f"`{key}` is missing" if value is None else f"`{key}` is no string"
            raise self.fault(what, f"Every line needs a string as its `{key}`.")
        return value


@dataclass(frozen=True, slots=True)
class _Entry:
    """A tool and what its file calls it."""

    id: str
    tool: Tool


def read_evalset(folder: Path, name: str = "") -> EvalSet:
    """The data set of a folder, named like it. Raises ConfigError, also for a label that names no tool."""
    entries = _entries(folder)
    known = {entry.id: entry.tool.id for entry in entries}

    def tool_id(line: _Line, given: str) -> str:
        if given not in known:
            raise line.fault(f"no tool has the id {given!r:.80}", f"Its `id` has to be in {TOOLS}.")
        return known[given]

    cases = _cases(folder / QUERIES, tool_id)
    return EvalSet(name or folder.resolve().name, tuple(entry.tool for entry in entries), cases)


def read_tools(folder: Path) -> tuple[Tool, ...]:
    """The tools of a folder, which needs no requests. Raises ConfigError."""
    return tuple(entry.tool for entry in _entries(folder))


def read_cases(path: Path) -> tuple[EvalCase, ...]:
    """The cases of a file, which may name any tool. Raises ConfigError."""
    return _cases(path, lambda _, given: given)


def write_cases(path: Path, cases: Sequence[EvalCase]) -> None:
    """Replace the file by these cases. Raises ConfigError.

    `read_cases` takes them back if no two have the same id and no group is empty.
    """
    # ASCII, so that lone surrogates survive too.
    text = "".join(f"{json.dumps(_row(case))}\n" for case in cases)
    try:
        path.write_text(text, encoding="ascii", newline="\n")
    except (OSError, ValueError) as error:
        _refuse(path, error, "written", "Check that its folder exists and may be written to.")


def sample(evalset: EvalSet, count: int) -> EvalSet:
    """At most `count` cases, always the same ones, in their order; the tools stay."""
    if len(evalset.cases) <= count:
        return evalset
    import numpy as np

    chosen = np.random.default_rng(_SEED).choice(len(evalset.cases), count, replace=False)
    return replace(evalset, cases=tuple(evalset.cases[index] for index in sorted(chosen.tolist())))


def _row(case: EvalCase) -> Mapping[str, Any]:
    groups = [sorted(group) for group in case.relevant]
    return {"id": case.id, "query": case.query, "relevant": groups, "kind": case.kind}


def _entries(folder: Path) -> list[_Entry]:
    lines = list(_lines(folder / TOOLS))
    tools = _distinct([_tool(line) for line in lines])
    entries: dict[str, _Entry] = {}
    for line, tool in zip(lines, tools, strict=True):
        entry = _Entry(line.text("id", tool.id), tool)
        if entry.id in entries:
            raise line.fault(f"the id {entry.id!r:.80} is there twice", "Labels need ids that differ.")
        entries[entry.id] = entry
    return list(entries.values())


def _tool(line: _Line) -> Tool:
    name = line.text("name")
    if not name:
        raise line.fault("`name` is empty", "Every tool needs a name.")
    return Tool(line.text("server", ""), name, line.text("description", ""), _schema(line))


def _schema(line: _Line) -> Mapping[str, Any]:
    schema = line.value.get("inputSchema")
    if schema is None:
        schema = {}
    if not isinstance(schema, dict):
        raise line.fault("`inputSchema` is no object", "It is a JSON Schema of `type: object`.")
    return {**schema, "type": "object"}


def _distinct(tools: Sequence[Tool]) -> list[Tool]:
    """The tools with ids that differ: of those that share one, all but the first get a number."""
    taken = {tool.id for tool in tools}
    last: dict[str, int] = {}
    found = []
    for tool in tools:
        named = tool
        number = last.get(tool.id, 1)
        if tool.id in last:
            while named.id in taken:
                number += 1
                named = replace(tool, name=f"{tool.name}#{number}")
        last[tool.id] = number
        taken.add(named.id)
        found.append(named)
    return found


def _cases(path: Path, tool_id: Callable[[_Line, str], str]) -> tuple[EvalCase, ...]:
    cases: dict[str, EvalCase] = {}
    for line in _lines(path):
        groups = (frozenset(tool_id(line, given) for given in group) for group in _groups(line))
        kind = line.text("kind", line.text("split", ""))
        case = EvalCase(line.text("id"), line.text("query"), tuple(dict.fromkeys(groups)), kind)
        if case.id in cases:
            raise line.fault(f"the id {case.id!r:.80} is there twice", "Results are matched by it.")
        cases[case.id] = case
    return tuple(cases.values())


def _groups(line: _Line) -> list[list[str]]:
    """`groups` where there are any, else `relevant`, a lone id there being a group of its own."""
    key = "relevant" if line.value.get("groups") is None else "groups"
    value = line.value.get(key)
    if value is None:
        raise line.fault("`relevant` is missing", f"{_RELEVANT_HINT} It is [] where no tool fits.")
    if not isinstance(value, list):
        raise line.fault(f"`{key}` is no list", _RELEVANT_HINT)
    groups = [[item] if isinstance(item, str) else item for item in value]
    for group in groups:
        if not isinstance(group, list) or not group or not all(isinstance(item, str) for item in group):
            raise line.fault(f"`{key}` holds something that is no tool", _RELEVANT_HINT)
    return groups


def _lines(path: Path) -> Iterator[_Line]:
    """The objects of a file, blank lines left out. Raises ConfigError at the first line that is none."""
    try:
        with path.open("rb") as file:
            for number, data in enumerate(file, start=1):
                text = data.removeprefix(_BOM) if number == 1 else data
                if text.strip():
                    yield _Line(path, number, _object(path, number, text))
    except (OSError, ValueError) as error:
        _refuse(path, error, "read", "Check the name and the file's permissions.")


def _object(path: Path, number: int, data: bytes) -> dict[str, Any]:
    place = f"{path}:{number}"
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=_constant)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{place} is not UTF-8", hint="Save the file as UTF-8.") from error
    except RecursionError as error:
        raise ConfigError(f"{place} is nested too deeply", hint="Is it really JSON Lines?") from error
    except ValueError as error:
        message = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise ConfigError(f"{place}: no JSON: {message}", hint="Each line holds one JSON object.") from error
    if not isinstance(value, dict):
        raise ConfigError(f"{place} holds no object", hint="Each line holds one JSON object.")
    return value


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _refuse(path: Path, error: Exception, done: str, hint: str) -> NoReturn:
    reason = getattr(error, "strerror", None) or error
    raise ConfigError(f"{path} cannot be {done}: {reason}", hint=hint) from error
