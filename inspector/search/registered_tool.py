"""A tool as a registry keeps it, with origin, version and hash; what a search of several registries gives."""

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


@dataclass(frozen=True, slots=True)
class Peer:
    """Another Toolsight's registry: a file of SQLite, or an address of PostgreSQL.

    With a `policy`, a file, only what it grants to `user`, and through `expert` if one is named, is searched.
    """

    name: str
    database: str
    policy: str = ""
    user: str = ""
    expert: str = ""


@dataclass(frozen=True, slots=True)
class Located:
    """A tool that was found, and the peer whose registry has it; "" for one's own."""

    peer: str
    neighbour: Neighbour


@dataclass(frozen=True, slots=True)
class PeerAnswer:
    """What a peer added: how many of the results are its tools, and `why` it added none where it failed.

    `refused` counts tools of its answer that were left out: with a vector that is not that of their text,
    with a text beyond all measure, twice, or such as its policy does not grant.
    """

    peer: str
    found: int = 0
    refused: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class Federated:
    """The nearest tools of all registries, nearest first, and the answer of each peer in their order."""

    found: tuple[Located, ...] = ()
    answers: tuple[PeerAnswer, ...] = ()
