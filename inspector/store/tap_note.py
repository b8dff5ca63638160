"""Notes of taps that cannot record. A client shows nothing that a tap would say, so a later command does."""

import hashlib
import json
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from inspector.core.number import shown_moment
from inspector.core.redaction import private_folder, write


@dataclass(frozen=True, slots=True)
class TapNote:
    """Which server's tap does not record, since when (seconds since 1970, UTC), and why."""

    server: str
    since: float
    why: str

    @property
    def text(self) -> str:
        return f"{self.server} has not been recorded since {shown_moment(self.since)} UTC: {self.why}"


class TapNotes:
    """The notes in a folder, a file for each server and database. None of them is worth an error."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, server: str, database: str, why: str) -> None:
        """Note why a tap does not record; "" takes the note back."""
        name = hashlib.sha256(f"{server}\n{database}".encode(errors="replace")).hexdigest()[:16]
        path = self._folder / f"{name}.json"
        with suppress(OSError):
            if why:
                private_folder(self._folder)
                write(path, json.dumps(asdict(TapNote(server, time.time(), why))))
            else:
                path.unlink(missing_ok=True)

    def all(self) -> Sequence[TapNote]:
        """The oldest first; what is no note is left out."""
        found = []
        for path in self._folder.glob("*.json"):
            with suppress(OSError, ValueError, TypeError, LookupError):
                said = json.loads(path.read_bytes())
                found.append(TapNote(str(said["server"]), float(said["since"]), str(said["why"])))
        return sorted(found, key=lambda note: note.since)
