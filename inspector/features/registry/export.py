"""A registry as JSON Lines: what it takes is checked as for every registry."""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from pydantic import Field

from inspector.config.file import open_file, unusable
from inspector.config.problem import Foreign, validated
from inspector.core.definition import declared, definition_hash
from inspector.core.error import ConfigError
from inspector.core.redaction import replacing
from inspector.core.tool import Tool, acting_meta, task_support
from inspector.features.registry.acceptance import (
    LAST_MOMENT,
    MOST_VERSION,
    NAME_HINT,
    RegisteredTool,
    name_problem,
    without_secrets,
)
from inspector.mcp.recorded_link import Claims

_MAX_LINE = 32 * 1024 * 1024
_NOTHING = "Nothing was imported from the file. Correct the line, or remove it."


class _Line(Foreign):
    """One line of an export."""

    server: str
    name: str
    title: str = ""
    description: str = ""
    input_schema: dict[str, Any] = Field(alias="inputSchema")
    output_schema: dict[str, Any] | None = Field(None, alias="outputSchema")
    annotations: Claims = Field(default_factory=Claims)
    tags: list[str] = Field(default_factory=list)
    meta: dict[str, Any] = Field(default_factory=dict, alias="_meta")
    execution: dict[str, Any] = Field(default_factory=dict)
    origin: str
    version: int = Field(ge=1, le=MOST_VERSION, description="A tool's versions start at 1.")
    hash: str = Field(description="Only exported lines have a hash: leave it out of lines you write.")
    at: float = Field(ge=0, le=LAST_MOMENT, allow_inf_nan=False, description="Write seconds since 1970, UTC.")
    there: bool = True

    def registered(self) -> RegisteredTool:
        claims = self.annotations.annotations
        declared = self.description, self.input_schema, claims, self.output_schema, self.title
        more = tuple(self.tags), acting_meta(self.meta), task_support(self.execution)
        tool = Tool(self.server, self.name, *declared, *more)
        return RegisteredTool(tool, self.origin, self.version, self.hash, self.at, self.there)


def is_export(path: Path) -> bool:
    """Whether the file's first line is one of an export; an unreadable file is none."""
    with suppress(OSError, ValueError, RecursionError, ConfigError), open_file(path, "export") as file:
        first = json.loads(file.readline(_MAX_LINE))
        return isinstance(first, dict) and {"server", "name", "hash", "version"} <= first.keys()
    return False


def read_export(path: Path) -> Iterator[RegisteredTool]:
    """The versions in an export, one after the other. Raises ConfigError that names the line."""
    seen: dict[tuple[str, int], int] = {}
    try:
        with open_file(path, "export") as file:
            number = 0
            while line := file.readline(_MAX_LINE):
                number += 1
                if line.strip():
                    yield _checked_line(_read(f"{path}:{number}", line), path, number, seen)
    except OSError as error:
        raise unusable(path, error, "read") from error


def _read(place: str, line: bytes) -> RegisteredTool:
    try:
        value = json.loads(line)
    except (RecursionError, ValueError) as error:
        problem = "is nested too deeply" if isinstance(error, RecursionError) else f"is not JSON: {error}"
        raise ConfigError(f"{place} {problem}", hint=_NOTHING) from error
    if not isinstance(value, dict):
        raise ConfigError(f"{place} is not a JSON object", hint=_NOTHING)
    return validated(_Line, value, place).registered()


def _checked_line(
    found: RegisteredTool, path: Path, number: int, seen: dict[tuple[str, int], int]
) -> RegisteredTool:
    what = found.tool.id, found.version
    if problem := name_problem(found.tool, found.origin):
        raise ConfigError(f"{path}:{number}: {problem}", hint=NAME_HINT)
    if what in seen:
        problem = f"repeats version {found.version} of {found.tool.id} from line {seen[what]}"
        raise ConfigError(f"{path}:{number} {problem}", hint=_NOTHING)
    if definition_hash(found.tool) != found.hash:
        hint = "The line was changed. In lines you write yourself, leave out hash and version."
        raise ConfigError(f"{path}:{number}: hash does not match the definition", hint=hint)
    seen[what] = number
    return found


def write_export(path: Path, versions: Iterable[RegisteredTool]) -> int:
    """Write the versions, in place of a file of that name; return how many. Raises ConfigError."""
    number = 0
    try:
        with replacing(path, "w", encoding="ascii") as file:
            for number, line in enumerate(export_lines(versions), 1):  # noqa: B007 - the last number counts
                file.write(f"{line}\n")
    except OSError as error:
        raise unusable(path, error, "written") from error
    return number


def export_lines(versions: Iterable[RegisteredTool]) -> Iterator[str]:
    """The lines of an export, in ASCII, without what an earlier version of Toolsight kept of secrets."""
    for found in map(without_secrets, versions):
        tool = found.tool
        parts = {"server": tool.server, **declared(replace(tool, beside={}))}
        parts |= {"tags": list(tool.tags)} if tool.tags else {}
        parts |= {"origin": found.origin, "version": found.version, "hash": found.hash, "at": found.at}
        parts |= {} if found.is_there else {"there": False}
        yield json.dumps(parts, separators=(",", ":"))
