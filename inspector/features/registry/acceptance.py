"""What a registry takes, checked in one place for every implementation, and its export as JSON Lines."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from pydantic import Field

from inspector.config.file import open_file, unusable
from inspector.config.problem import Foreign, validated
from inspector.core.definition import declared, definition_hash
from inspector.core.error import ConfigError, StoreError
from inspector.core.redaction import clean, open_private
from inspector.core.tool import Tool, acting_meta, task_support
from inspector.mcp.recorded_link import Claims
from inspector.search.index.document import MAX_EMBEDDED
from inspector.search.index.vocabulary import spaced
from inspector.store.codec import decode_as, encode

_HINT = "Import the tools again into another database."


class RegisteredTool(Struct, frozen=True):
    """One version of a tool. `origin` says where it came from: a server's name, a file, another registry.

    `version` counts from 1 for each tool id; `hash` is `definition_hash` of the tool; `at` is when this
    version was first seen, in seconds since 1970, UTC. `is_there` is false for an older version, and for the
    newest one of a tool that is gone.
    """

    tool: Tool
    origin: str
    version: int
    hash: str
    at: float
    is_there: bool = True


class Neighbour(Struct, frozen=True):
    """A tool near a query: `similarity` is the cosine of both vectors, -1 to 1."""

    found: RegisteredTool
    similarity: float


class SyncReport(Struct, frozen=True):
    """What a synchronisation did: how many tools are new or back, changed, as they were, and gone."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0


def embedded_text(tool: Tool) -> str:
    """A tool's name and description (semantic discovery, section 4.3), at most MAX_EMBEDDED characters.

    Where the description is one sentence it equals the passage `opening`, so that both share a vector.
    """
    name = spaced(tool.name) or tool.name
    return f"{name}: {tool.description.strip() or name}"[:MAX_EMBEDDED]


def definition_of(tool: Tool) -> str:
    """The definition to be stored."""
    return encode(tool)


def tool_in(definition: str) -> Tool:
    """The tool of a definition as stored. Raises StoreError if it is damaged, or another program's."""
    try:
        return decode_as(definition, Tool)
    except ValueError as error:
        raise StoreError(f"a tool in the registry cannot be read: {error}", hint=_HINT) from error


# Of an id or an origin in UTF-8. PostgreSQL stores some characters in five times as many bytes, and an entry
# of its indexes has at most 2,704.
MOST_BYTES = 512
MOST_VERSION = 2**31 - 1
"""What PostgreSQL's integer holds."""
LAST_MOMENT = 253_402_300_799.0
"""The end of the year 9999, in seconds since 1970, UTC."""
# What pgvector keeps.
_MOST_DIMENSIONS = 16_000
_NUMBER_BYTES = 4
_SHOWN = 60
NAME_HINT = f"An id (server:tool) or origin is plain text with at most {MOST_BYTES} bytes in UTF-8."
# NUL, halves of pairs and what is no character: one database or the other takes them for the end of a text.
_ODD = re.compile("[\0\ud800-\udfff\ufffe\uffff]")
_VERSION = f"Versions range from 1 to {MOST_VERSION:,}; times are in seconds since 1970 (UTC)."
_VECTOR = "The model's vectors cannot be compared. Use another model (discovery.embedding_model)."


def name_problem(tool: Tool, origin: str) -> str:
    """Why no registry keeps this tool of this origin, or ""; `NAME_HINT` says what helps."""
    for what, text in (("the id", tool.id), ("the origin", origin)):
        if _ODD.search(text):
            return f"{what} {_short(text)!a} has characters that no registry keeps"
        if (size := len(text.encode())) > MOST_BYTES:
            return f"{what} {_short(text)} has {size:,} bytes"
    return ""


def comparable(text: str) -> str:
    """A text that stored ones are compared with, so that any database takes it."""
    return _ODD.sub("\ufffd", text)


def seen_patterns(patterns: Sequence[str]) -> list[str]:
    """The patterns that a stored id can match."""
    return [pattern for pattern in patterns if not _ODD.search(pattern)]


def versions_of(origin: str, tools: Iterable[Tool], at: float) -> Iterator[RegisteredTool]:
    """The tools as an origin lists them, without secrets. Raises StoreError."""
    kept, origin = map(clean, tools), clean(origin)
    return _checked(RegisteredTool(tool, origin, 1, definition_hash(tool), at) for tool in kept)


def accepted(versions: Iterable[RegisteredTool]) -> Iterator[RegisteredTool]:
    """The versions without secrets, each checked as it comes. Raises StoreError."""
    return _checked(map(without_secrets, versions))


def without_secrets(found: RegisteredTool) -> RegisteredTool:
    """A version without secrets; its hash is that of what is left."""
    kept = clean(found)
    return kept if kept.tool is found.tool else replace(kept, hash=definition_hash(kept.tool))


def _checked(versions: Iterable[RegisteredTool]) -> Iterator[RegisteredTool]:
    for found in versions:
        if problem := name_problem(found.tool, found.origin):
            raise StoreError(problem, hint=NAME_HINT)
        if not 1 <= found.version <= MOST_VERSION or not 0 <= found.at <= LAST_MOMENT:
            told = f"{_short(found.tool.id)} has version {found.version} and time {found.at}"
            raise StoreError(told, hint=_VERSION)
        yield found


def accepted_vectors(vectors: Mapping[bytes, bytes]) -> int:
    """The number of dimensions that all these vectors have. Raises StoreError."""
    import numpy as np

    sizes = {len(vector) for vector in vectors.values()}
    if len(sizes) != 1:
        raise StoreError("the vectors have different numbers of dimensions", hint=_VECTOR)
    dimensions, rest = divmod(sizes.pop(), _NUMBER_BYTES)
    if rest or not 0 < dimensions <= _MOST_DIMENSIONS:
        raise StoreError(f"a vector has {dimensions * _NUMBER_BYTES + rest} bytes", hint=_VECTOR)
    if not np.isfinite(np.frombuffer(b"".join(vectors.values()), "<f4")).all():
        raise StoreError("a vector contains numbers that are not finite", hint=_VECTOR)
    return dimensions


def accepted_query(vector: Sequence[float]) -> None:
    """Raises StoreError if this vector can be near to none."""
    # What is above float32 is as good as infinite: vectors are compared as float32.
    if not 0 < len(vector) <= _MOST_DIMENSIONS or not all(abs(value) < 3e38 for value in vector):
        raise StoreError("the query's vector is empty, too long or not finite", hint=_VECTOR)


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


# A registry as JSON Lines.

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
    part = path.with_name(f"{path.name}.part")
    try:
        with open_private(part, "w", encoding="ascii") as file:
            number = 0
            for number, line in enumerate(export_lines(versions), 1):  # noqa: B007 - the last number counts
                file.write(f"{line}\n")
        part.replace(path)
    except OSError as error:
        raise unusable(path, error, "written") from error
    finally:
        part.unlink(missing_ok=True)
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
