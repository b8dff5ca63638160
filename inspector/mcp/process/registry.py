"""What this process starts, noted where its reaper and the next start find it; and what earlier runs left."""

import atexit
import json
import logging
import os
import secrets
import shlex
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from inspector.config.configuration import without_secrets
from inspector.core.leftover import Leftover
from inspector.core.redaction import private_folder
from inspector.mcp.process import record
from inspector.mcp.process.reaper import Reaper
from inspector.mcp.process.table import MARKER, Table, place

_LOG = logging.getLogger("toolsight.process")
_PRIVATE_FILE = 0o600


def records_folder(database: Path) -> Path:
    """Where the runs on a database are recorded: beside it."""
    return database.resolve().with_name(f".{database.resolve().name}-servers")


class Registration:
    """One start of a server, created before its process: there is no moment in which it is unknown."""

    def __init__(self, marker: str, number: int, write: Callable[[bytes], None]) -> None:
        """Without a `marker` the server's environment has none."""
        self.variables: Mapping[str, str] = {MARKER: marker} if marker else {}
        self._number = number
        self._write = write

    def started(self, pid: int) -> None:
        """The process is there, and leads a group of its own."""
        self._write(record.line("started", self._number, pid, Table().started(pid)))

    def ended(self) -> None:
        """Nothing of its group is left, or it was never started."""
        self._write(record.line("ended", self._number))


class ProcessRegistry:
    """The record of this run, and its reaper; both begin with the first server.

    Without a folder nothing is noted. Nothing here keeps a server from starting: what cannot be written is
    logged. Any thread may use it.
    """

    def __init__(self, folder: Path | None) -> None:
        self.reaper: Reaper | None = None
        self._folder = folder
        self._lock = threading.Lock()
        self._run = ""
        self._path = Path()
        self._handle: int | None = None
        self._numbers = 0

    def register(self, server: str) -> Registration:
        """Note that a server is about to be started; it may take some milliseconds, and never raises."""
        with self._lock:
            self._numbers += 1
            number = self._numbers
            try:
                self._prepare()
            except OSError as error:
                _LOG.warning("servers are started without a record: %s", error)
        marker = f"{self._run}.{number}" if self._run else ""
        self._write(record.line("announced", number, time.time(), json.dumps(server)))
        return Registration(marker, number, self._write)

    def close(self) -> None:
        """End the run: its record is removed, or left to the reaper with what still runs."""
        with self._lock:
            handle, self._handle = self._handle, None
            reaper, self.reaper = self.reaper, None
        atexit.unregister(self._forget)
        if handle is not None:
            self._forget()
            os.close(handle)
        if reaper is not None:
            reaper.close()

    def _prepare(self) -> None:
        if self._folder is None:
            return
        if self._handle is None:
            private_folder(self._folder)
            run = secrets.token_hex(8)
            self._path = self._folder / run
            self._path.touch(mode=_PRIVATE_FILE, exist_ok=False)
            self._handle = record.hold(self._path)
            self._run = run
            self._write(record.opening(place()))
            atexit.register(self._forget)
        if self.reaper is None or not self.reaper.is_alive:
            self.reaper = Reaper(self._path, self._handle)

    def _write(self, line: bytes) -> None:
        if self._handle is not None:
            try:
                os.write(self._handle, line)
            except OSError as error:
                _LOG.warning("a server's start or end is not recorded: %s", error)

    def _forget(self) -> None:
        """Remove the record if nothing is left of what it has."""
        with suppress(OSError):
            run = record.read(self._path)
            if run is not None and not run.unknown and not record.remains(run, Table()):
                self._path.unlink()


# Records of another machine or container that shares the folder are none of ours; those of an earlier start
# of this machine cannot be told from them, and go when they are old.
_OLD_SECONDS = 30 * 24 * 3600.0


class ProcessLeftovers:
    """See `Leftovers`. Runs whose app or reaper is alive are left to them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes = Table()

    def find(self) -> tuple[Leftover, ...]:
        """See `Leftovers`. A record of which nothing runs any more is removed."""
        found: list[Leftover] = []
        for path in self._records():
            with _unheld(path) as run:
                if run is None:
                    continue
                left = record.remains(run, self._processes) if run.place == place() else []
                found += [self._leftover(run, each) for each in left]
                if not left:
                    with suppress(OSError):
                        if run.place == place() or time.time() - path.stat().st_mtime > _OLD_SECONDS:
                            path.unlink()
        return tuple(sorted(found, key=lambda each: each.since))

    def end(self, chosen: Sequence[Leftover]) -> tuple[Leftover, ...]:
        """See `Leftovers`."""
        wanted = {each.id for each in chosen}

        def chosen_of(run: record.Run) -> list[record.Remains]:
            left = record.remains(run, self._processes)
            return [each for each in left if run.marker(each.start) in wanted]

        return tuple(
            self._leftover(run, each)
            for _, run in self._runs_of(wanted)
            for each in record.end(lambda run=run: chosen_of(run), detached=True)  # type: ignore[misc]
        )

    def keep(self, chosen: Sequence[Leftover]) -> None:
        """See `Leftovers`."""
        wanted = {each.id for each in chosen}
        for path, run in self._runs_of(wanted):
            with suppress(OSError), path.open("ab") as file:
                for start in run.starts:
                    if run.marker(start) in wanted:
                        file.write(record.line("kept", start.number))

    def _records(self) -> list[Path]:
        try:
            return sorted(self._folder.iterdir())
        except OSError:
            return []

    def _runs_of(self, wanted: set[str]) -> Iterator[tuple[Path, record.Run]]:
        for path in self._records():
            with _unheld(path) as run:
                if run is not None and run.place == place() and wanted & set(map(run.marker, run.starts)):
                    yield path, run

    def _leftover(self, run: record.Run, each: record.Remains) -> Leftover:
        start, pids = each.start, (*each.members, *each.detached)
        words = self._processes.command(each.group if each.group in pids else pids[0])
        try:
            server = str(json.loads(start.name))
        except ValueError:
            server = start.name
        command = shlex.join(without_secrets(words))
        return Leftover(run.marker(start), server, command, start.at, pids, detached=not each.members)


@contextmanager
def _unheld(path: Path) -> Iterator[record.Run | None]:
    """The run that nobody looks after any more, held against others meanwhile; else None."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        yield None
        return
    try:
        run = None if record.is_held(handle) else record.read(path)
    except OSError:
        run = None  # Its reaper has removed it meanwhile.
    try:
        yield run
    finally:
        os.close(handle)
