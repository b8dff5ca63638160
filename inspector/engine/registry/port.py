"""The interface of a tool registry: many tools, their versions and vectors, in one place."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from inspector.domain.access import EVERYTHING, Sight
from inspector.domain.registered_tool import Neighbour, RegisteredTool, SyncReport
from inspector.domain.tool import Tool


class ToolRegistry(Protocol):
    """Keeps tools and searches their vectors. Thread-safe; each method raises StoreError.

    Whatever is asked with a `sight` answers as if the other tools were not there: the filter is part of the
    query, so that a count is one of permitted tools and the nearest k are k permitted ones.
    """

    def sync(self, origin: str, tools: Iterable[Tool], *, at: float, whole: bool = True) -> SyncReport:
        """Keep these tools of an origin, all or none; a tool with another definition gets a new version.

        With `whole` they are all that the origin has: its other tools are gone, their versions stay. Of two
        origins with a tool of the same id, the last one synchronised has it.
        """

    def count(self, sight: Sight = EVERYTHING) -> int:
        """How many tools there are now."""

    def tools(
        self, sight: Sight = EVERYTHING, *, after: str = "", limit: int | None = None
    ) -> Iterator[RegisteredTool]:
        """The tools there are now, in order of their ids, from behind the id `after`."""

    def get(self, ids: Sequence[str], sight: Sight = EVERYTHING) -> Mapping[str, RegisteredTool]:
        """The tools with these ids that are there now, by id."""

    def versions(self, tool_id: str, sight: Sight = EVERYTHING) -> tuple[RegisteredTool, ...]:
        """Every version of a tool, the newest first, also of one that is gone."""

    def origins(self, sight: Sight = EVERYTHING) -> Mapping[str, int]:
        """How many tools there are now of each origin that has any."""

    def unembedded(self, model: str, limit: int) -> Mapping[bytes, str]:
        """Texts of tools there are now that have no vector of this model yet, by their key; {} if none.

        The text is `registry.text.embedded_text` of a tool: what it is called and what it does. Its key is
        `document.key_of` the text, so that equal texts are embedded once.
        """

    def keep_vectors(self, model: str, vectors: Mapping[bytes, bytes]) -> None:
        """Keep vectors by the key of their text: unit vectors as float32, little-endian."""

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

        Equal ones come in order of their ids. An approximate index may miss some of them, but returns fewer
        only if fewer are permitted, embedded and above the floor.
        """

    def close(self) -> None:
        """Close what is open; the next call opens it again."""
