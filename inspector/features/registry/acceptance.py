"""What a registry takes, checked in one place for every implementation."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.definition import definition_hash
from inspector.core.error import StoreError
from inspector.core.redaction import clean
from inspector.core.tool import Tool
from inspector.search.index.embedded_text import MAX_EMBEDDED
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
