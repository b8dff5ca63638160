"""The interfaces of what makes vectors of texts, keeps them, and keeps tools with them; kept tools."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from inspector.core.access import EVERYTHING, Sight
from inspector.core.tool import Tool

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def name(self) -> str: ...

    def prepare(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        """Load the model, downloading it first if needed. May take minutes; may be called in any thread.

        `progress` receives the bytes so far and the approximate total. Raises ModelError.
        """

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one unit vector per text, in order, whatever the other texts are. Raises ModelError."""

    def words(self) -> Sequence[str]:
        """The English words that the model knows whole, commonest first; empty if nobody can tell.

        Raises ModelError.
        """


class StaticEmbedder(Protocol):
    """Turns texts into unit vectors by looking their words up in a table: in microseconds, without a model.

    A text's vector does not depend on the texts beside it; a text without words has the zero vector.
    """

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One vector a text, of shape (texts, dimensions). Does not raise for any text."""


class VectorStore(Protocol):
    """Stored vectors by model and content hash: float32, little-endian. Thread-safe.

    Each method raises StoreError.
    """

    def vectors(self, model: str, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """The stored vectors for the given keys; missing ones are left out."""

    def keep_vectors(self, model: str, vectors: Mapping[bytes, bytes]) -> None: ...


class SearchableRegistry(Protocol):
    """What a search asks of a registry. Each method raises StoreError.

    Whatever is asked with a `sight` answers as if the other tools were not there: the filter is part of the
    query, so that a count is one of permitted tools and the nearest k are k permitted ones.
    """

    def count(self, sight: Sight = EVERYTHING) -> int:
        """How many tools there are now."""

    def embedded(self, model: str, sight: Sight = EVERYTHING) -> int:
        """How many of the tools there are now have a vector of this model."""

    def nearest(
        self,
        model: str,
        vector: Sequence[float],
        count: int,
        sight: Sight = EVERYTHING,
        *,
        floor: float = -1.0,
    ) -> tuple[Neighbour, ...]:
        """The `count` tools nearest to a unit vector by cosine, nearest first, none below `floor`.

        Equal ones come in order of their ids. A similarity depends on both vectors alone, whatever else is
        searched. An approximate index may miss some tools, but returns fewer only if fewer are permitted,
        embedded and above the floor.
        """


class ToolRegistry(SearchableRegistry, Protocol):
    """Keeps tools and searches their vectors. Thread-safe.

    Ids are ordered by code point. They may hold any character, NUL and lone surrogates too. What cannot be
    kept or searched for is a StoreError: see `registry.acceptance`.
    """

    def sync(self, origin: str, tools: Iterable[Tool], *, at: float, whole: bool = True) -> SyncReport:
        """Keep these tools of an origin, all or none; a tool with another definition gets a new version.

        With `whole` they are all that the origin has: its other tools are gone, their versions stay. A tool
        that is back with its last definition keeps its version. Of two tools with the same id the first
        counts; of two origins that have it the last one synchronised has it, and its newest version.

        `tools` is read before anything is locked; an exception that it raises is passed on, and nothing is
        kept.
        """

    def restore(self, versions: Iterable[RegisteredTool]) -> SyncReport:
        """Keep versions that `history` gave, all or none, as `sync` without `whole` does; count tools.

        The versions of a tool come in their order. One that is not known here gets all of them with their
        origins, numbers and times. One that is gets those behind the last that equals its newest, or only
        the last if none does. Versions of a tool that is gone there and there here change nothing.
        """

    def count(self, sight: Sight = EVERYTHING, *, part: str = "") -> int:
        """How many tools there are now whose id contains `part`; a to z match in either case."""

    def tools(
        self, sight: Sight = EVERYTHING, *, part: str = "", after: str = "", limit: int | None = None
    ) -> Iterator[RegisteredTool]:
        """The tools there are now whose id contains `part`, in order of their ids, from behind `after`."""

    def get(self, ids: Sequence[str], sight: Sight = EVERYTHING) -> Mapping[str, RegisteredTool]:
        """The tools with these ids that are there now, by id."""

    def versions(self, tool_id: str, sight: Sight = EVERYTHING) -> tuple[RegisteredTool, ...]:
        """Every version of a tool, the newest first, also of one that is gone."""

    def history(self, sight: Sight = EVERYTHING) -> Iterator[RegisteredTool]:
        """Every version of every tool, also of those that are gone: by id, the oldest first."""

    def origins(self, sight: Sight = EVERYTHING) -> Mapping[str, int]:
        """How many tools there are now of each origin that has any, in order of their names."""

    def servers(self, sight: Sight = EVERYTHING) -> Mapping[str, int]:
        """How many tools there are now of each server that has any, in order of their names."""

    def unembedded(self, model: str, limit: int) -> Mapping[bytes, str]:
        """Texts of tools there are now that have no vector of this model yet, by their key; {} if none.

        The text is `embedded_text` of a tool: what it is called and what it does. Its key is
        `document.key_of` the text, so that equal texts are embedded once.
        """

    def keep_vectors(self, model: str, vectors: Mapping[bytes, bytes]) -> None:
        """Keep vectors by the key of their text: unit vectors as float32, little-endian.

        All vectors of a model have the same number of dimensions: those that have another one are forgotten.
        """

    def close(self) -> None:
        """Close what is open; the next call opens it again."""
