"""A tool as a registry keeps it: with its origin, its version and the hash of its definition."""

from dataclasses import dataclass

from inspector.core.tool import Tool


@dataclass(frozen=True, slots=True)
class RegisteredTool:
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


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A tool near a query: `similarity` is the cosine of both vectors, -1 to 1."""

    found: RegisteredTool
    similarity: float


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a synchronisation did: how many tools are new or back, changed, as they were, and gone."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
