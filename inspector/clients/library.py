"""What can be done with the transcripts on this machine and the sessions made of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from inspector.clients.finding import Findings
from inspector.clients.importing import Imported, ImportedSession
from inspector.clients.transcript import Tally


@dataclass(frozen=True, slots=True)
class Found:
    """A folder of an agent, and the files in it that may be transcripts; none of them was opened."""

    agent: str
    folder: str
    files: int
    bytes: int


@dataclass(slots=True)
class ImportReport:
    """An import of many transcripts. `skipped` are files that could not be read, and why."""

    imported: Imported = field(default_factory=Imported)
    transcripts: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)

    @property
    def sessions(self) -> Sequence[ImportedSession]:
        return self.imported.sessions

    @property
    def tally(self) -> Tally:
        return self.imported.tally


class AgentLibrary(Protocol):
    """Imports transcripts, and reads what they show. Every method may take long, and belongs in a thread."""

    def folders(self) -> tuple[Found, ...]:
        """Where the known agents keep their transcripts, as far as that is there."""

    def import_from(
        self,
        paths: Sequence[str],
        progress: Callable[[int, int], None],
        stopped: Callable[[], bool],
        last: int | None = None,
    ) -> ImportReport:
        """Import files, and all transcripts below folders; of all these the `last` newest.

        `progress` gets the bytes done and all there are. Raises ConfigError if none can be read, StoreError.
        """

    def findings(self, session: str) -> Findings:
        """What a session shows. Raises StoreError."""

    def write_requests(self, sessions: Sequence[str], path: str) -> int:
        """Add the sessions' labelled requests to a file, and return how many were new.

        Raises ConfigError if the file cannot be read or written, StoreError.
        """
