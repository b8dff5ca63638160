"""What is remembered between sessions: eras and tools of servers, approvals, vectors, taps that failed."""

import hashlib
import json
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, to_builtins

from inspector.core.definition import ToolDefinition, definition_hash
from inspector.core.number import shown_moment
from inspector.core.ports import Snapshot
from inspector.core.redaction import clean, private_folder, write
from inspector.core.server import ConsentItem, Era, RunFile
from inspector.core.tool import Tool
from inspector.store.codec import UnreadableEvent, as_column, decode_as, decode_value, encode, encode_value
from inspector.store.database import InDatabase
from inspector.store.part import Listed, keep, kept

_REMEMBER_ERA = "INSERT OR REPLACE INTO server_memory (fingerprint, era) VALUES (?, ?)"
_REMEMBER_TOOLS = (
    "INSERT INTO snapshot (fingerprint, listed_at, summary, tools, definitions) VALUES (?, ?, ?, '', ?) "
    "ON CONFLICT (fingerprint) DO UPDATE SET listed_at = excluded.listed_at, summary = excluded.summary, "
    "tools = '', definitions = excluded.definitions"
)
_SNAPSHOT = (
    "SELECT definitions, text, tools, listed_at, summary FROM snapshot "
    "LEFT JOIN definitions ON hash = definitions WHERE fingerprint = ?"
)
_APPROVE = "INSERT OR REPLACE INTO approval (fingerprint, source, approved_at) VALUES (?, ?, ?)"
_APPROVE_FILE = "INSERT INTO approved_file (fingerprint, path, digest, lines) VALUES (?, ?, ?, '')"
_APPROVED = (
    "SELECT approval.fingerprint, path, digest FROM approval "
    "LEFT JOIN approved_file ON approved_file.fingerprint = approval.fingerprint "
    "WHERE approval.fingerprint IN (SELECT value FROM json_each(?))"
)
_FIRST_VERSION = "UPDATE approval SET version = ? WHERE fingerprint = ? AND version = ''"


class SqliteServerMemory(InDatabase):
    """A ServerMemory that is stored."""

    def __init__(self, path: Path, *, now: Callable[[], float] = time.time) -> None:
        """`now` gives the time of an approval, in seconds since 1970, UTC."""
        super().__init__(path)
        self._now = now

    def era(self, fingerprint: str) -> Era | None:
        """The era that worked last; None for a server not seen before, or an unknown era."""
        rows = self._database.rows("SELECT era FROM server_memory WHERE fingerprint = ?", (fingerprint,))
        known = {str(era): era for era in Era}
        return known.get(rows[0][0]) if rows else None

    def remember_era(self, fingerprint: str, era: Era) -> None:
        """Keep the era that worked, in place of any earlier one."""
        with self._database.transaction() as connection:
            connection.execute(_REMEMBER_ERA, (fingerprint, str(era)))

    def approved(self, ids: Collection[str]) -> dict[str, tuple[RunFile, ...]]:
        """Those of the consent items that a person approved, each with its files as they were then."""
        found: dict[str, tuple[RunFile, ...]] = {}
        for item, path, digest in self._database.rows(_APPROVED, (json.dumps(list(ids)),)):
            file = RunFile(os.fsdecode(path), digest) if path is not None else None
            found[item] = (*found.get(item, ()), *((file,) if file is not None else ()))
        return found

    def approve(self, items: Collection[ConsentItem], source: str) -> None:
        """Store a person's approval; `source` names the file, for people who read the database."""
        source = clean(source).encode("utf-8", "backslashreplace").decode("utf-8")
        with self._database.transaction() as connection:
            for item in items:
                connection.execute(_APPROVE, (item.id, source, self._now()))
                connection.execute("DELETE FROM approved_file WHERE fingerprint = ?", (item.id,))
                files = ((item.id, os.fsencode(file.path), file.digest) for file in item.files)
                connection.executemany(_APPROVE_FILE, files)

    def first_version(self, id: str, version: str) -> str:  # noqa: A002 - as consent items call it
        """The version that a server had when it was connected first after its approval, or this one."""
        if not version:
            return ""
        read = "SELECT version FROM approval WHERE fingerprint = ?"
        rows = self._database.rows(read, (id,))
        if rows and not rows[0][0]:
            with self._database.transaction() as connection:
                connection.execute(_FIRST_VERSION, (encode_value(version), id))
        return str(decode_value(rows[0][0])) if rows and rows[0][0] else version

    def snapshot(self, fingerprint: str) -> Snapshot | None:
        """The tools kept last; None for a server not seen before, or a row that cannot be read."""
        rows = self._database.rows(_SNAPSHOT, (fingerprint,))
        if not rows:
            return None
        return _snapshot(*rows[0][1:])

    def remember_tools(self, fingerprint: str, snapshot: Snapshot) -> Snapshot | None:
        """Keep the tools, in place of any earlier ones; return the earlier ones if they are others."""
        # As the session that lists them records them, so that they are stored once.
        listed = encode([ToolDefinition(tool.name, definition_hash(tool), tool) for tool in snapshot.tools])
        before = self._database.rows(_SNAPSHOT, (fingerprint,))
        with self._database.transaction() as connection:
            hash_ = keep(connection, listed.encode())
            row = (fingerprint, snapshot.at, encode_value(snapshot.summary), hash_)
            connection.execute(_REMEMBER_TOOLS, row)
        # Mostly they are the same to the letter, and need not be read to know it.
        if not before or before[0][0] == hash_ or before[0][2] == encode(snapshot.tools):
            return None
        return _snapshot(*before[0][1:])


def _snapshot(listed: bytes | None, tools: str, at: float, summary: str) -> Snapshot | None:
    try:
        known = (
            decode_as(tools, tuple[Tool, ...])
            if listed is None
            else tuple(one.tool for one in kept(listed, Listed) if one.tool)
        )
        return Snapshot(known, at, str(decode_value(summary)))
    except (ValueError, UnreadableEvent):
        return None


class MemoryServerMemory:
    """A ServerMemory that is not stored; `approvals` maps consent items to their files and sources."""

    def __init__(self) -> None:
        self.eras: dict[str, Era] = {}
        self.approvals: dict[str, tuple[tuple[RunFile, ...], str]] = {}
        self.versions: dict[str, str] = {}
        self.snapshots: dict[str, Snapshot] = {}

    def era(self, fingerprint: str) -> Era | None:
        return self.eras.get(fingerprint)

    def remember_era(self, fingerprint: str, era: Era) -> None:
        self.eras[fingerprint] = era

    def approved(self, ids: Collection[str]) -> dict[str, tuple[RunFile, ...]]:
        return {known: self.approvals[known][0] for known in ids if known in self.approvals}

    def approve(self, items: Collection[ConsentItem], source: str) -> None:
        for item in items:
            self.approvals[item.id] = (item.files, source)
            self.versions.pop(item.id, None)

    def first_version(self, id: str, version: str) -> str:  # noqa: A002 - as consent items call it
        if not version or id not in self.approvals:
            return version
        return self.versions.setdefault(id, version)

    def snapshot(self, fingerprint: str) -> Snapshot | None:
        return self.snapshots.get(fingerprint)

    def remember_tools(self, fingerprint: str, snapshot: Snapshot) -> Snapshot | None:
        before = self.snapshots.get(fingerprint)
        self.snapshots[fingerprint] = snapshot
        return before if before is not None and before.tools != snapshot.tools else None


# SQLite before 3.32 binds at most 999 values per statement.
_KEYS_A_STATEMENT = 500
_KEEP = "INSERT OR REPLACE INTO vector (model, key, vector) VALUES (?, ?, ?)"

_LENGTH = "SELECT length(vector) FROM vector WHERE model = ? LIMIT 1"


class SqliteVectors(InDatabase):
    """A VectorStore that is stored."""

    def vectors(self, model: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The vectors kept for this model, by key; keys without one are left out."""
        kept: dict[bytes, bytes] = {}
        for start in range(0, len(keys), _KEYS_A_STATEMENT):
            chunk = keys[start : start + _KEYS_A_STATEMENT]
            marks = ", ".join("?" * len(chunk))
            sql = f"SELECT key, vector FROM vector WHERE model = ? AND key IN ({marks})"
            kept.update(self._database.rows(sql, (as_column(model), *chunk)))
        return kept

    def keep_vectors(self, model: str, vectors: Mapping[bytes, bytes]) -> None:
        """Keep the vectors, replacing those with the same keys; if that fails, none are kept."""
        if not vectors:
            return
        name = as_column(model)
        with self._database.transaction() as connection:
            connection.executemany(_KEEP, [(name, key, vector) for key, vector in vectors.items()])

    def forget_others(self, model: str, size: int) -> None:
        """Forget the model's vectors if they do not have this many bytes; one stands for all of them."""
        name = as_column(model)
        if self._database.rows(_LENGTH, (name,)) in ([], [(size,)]):
            return
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM vector WHERE model = ? AND length(vector) <> ?", (name, size))


# A client shows nothing that a tap would say, so a later command does.


class TapNote(Struct, frozen=True):
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
                write(path, json.dumps(to_builtins(TapNote(server, time.time(), why))))
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
