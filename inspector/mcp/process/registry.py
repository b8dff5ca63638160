"""What this process starts, noted where its reaper and the next start find it."""

import atexit
import json
import logging
import os
import secrets
import threading
import time
from contextlib import suppress
from pathlib import Path

from inspector.core.redaction import private_folder
from inspector.mcp.process import record
from inspector.mcp.process.reaper import Reaper
from inspector.mcp.process.record import Registration, hold
from inspector.mcp.process.remains import remains
from inspector.mcp.process.table import Table, place, table

_LOG = logging.getLogger("toolsight.process")
_PRIVATE_FILE = 0o600


def records_folder(database: Path) -> Path:
    """Where the runs on a database are recorded: beside it."""
    return database.resolve().with_name(f".{database.resolve().name}-servers")


class ProcessRegistry:
    """A `Registry`: the record of this run, and its reaper; both begin with the first server.

    Nothing here keeps a server from starting: what cannot be written is logged. Any thread may use it.
    """

    def __init__(self, folder: Path, processes: Table | None = None) -> None:
        self.reaper: Reaper | None = None
        self._folder = folder
        self._processes = processes or table()
        self._lock = threading.Lock()
        self._run = ""
        self._handle: int | None = None
        self._numbers = 0

    def register(self, server: str) -> Registration:
        """See `Registry`."""
        with self._lock:
            self._numbers += 1
            number = self._numbers
            try:
                self._prepare()
            except OSError as error:
                _LOG.warning("servers are started without a record: %s", error)
        marker = record.marker(self._run, number) if self._run else ""
        self._write(record.announced(number, time.time(), json.dumps(server)))
        return Registration(marker, number, self._write, self._processes)

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

    @property
    def _path(self) -> Path:
        return self._folder / self._run

    def _prepare(self) -> None:
        if self._handle is None:
            private_folder(self._folder)
            run = secrets.token_hex(8)
            path = self._folder / run
            path.touch(mode=_PRIVATE_FILE, exist_ok=False)
            self._handle = hold(path)
            self._run = run
            self._write(record.opening(place()))
            atexit.register(self._forget)
        if self._handle is not None and (self.reaper is None or not self.reaper.is_alive):
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
            if run is not None and not run.unknown and not remains(run, self._processes):
                self._path.unlink()
