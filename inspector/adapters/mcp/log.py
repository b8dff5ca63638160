"""Log files: each server's stderr goes to its own file, the SDK's log messages to another."""

import logging
import re
import tempfile
from contextlib import suppress
from hashlib import sha256
from logging.handlers import RotatingFileHandler
from pathlib import Path
from threading import RLock
from typing import IO, Any

from inspector.engine.sink import clean, open_private, private_folder

LOG = logging.getLogger("toolsight.mcp")

MAX_BYTES = 1_000_000
TAIL_LINES = 20
_TAIL_BYTES = 8_192
_SDK_LOG = "mcp.log"
_HANDLER = "toolsight-mcp"
# `client` is the SDK's session logger; `py.warnings` gets captured warnings.
_SDK_LOGGERS = ("mcp", "client", "httpx2", "httpcore2", "py.warnings")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")


def quiet_sdk(folder: Path) -> None:
    """Send the SDK's log messages and warnings to `mcp.log` in `folder`, never to the terminal.

    If the folder cannot be written to, they are dropped.
    """
    handler = _file_handler(folder / _SDK_LOG)
    handler.name = _HANDLER
    handler.setFormatter(_CleanFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    for name in (*_SDK_LOGGERS, LOG.name):
        logger = logging.getLogger(name)
        for old in [known for known in logger.handlers if known.name == _HANDLER]:
            logger.removeHandler(old)
            old.close()
        logger.addHandler(handler)
        logger.propagate = False
    LOG.setLevel(logging.INFO)
    logging.captureWarnings(True)


class _CleanFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return clean(super().format(record))


class _PrivateFileHandler(RotatingFileHandler):
    def _open(self) -> Any:
        return open_private(Path(self.baseFilename), self.mode, encoding=self.encoding)


def _file_handler(path: Path) -> logging.Handler:
    try:
        private_folder(path.parent)
        return _PrivateFileHandler(path, maxBytes=MAX_BYTES, backupCount=1, encoding="utf-8", delay=True)
    except OSError:
        return logging.NullHandler()


class StderrFile:
    """A server's stderr on disk. The child process writes to it directly; only the tail is read back.

    What is left of it after the connection has no secrets.

    The child and the reader share one file offset; append mode keeps a read from moving the child's writes.
    Any thread may use it.
    """

    def __init__(self, folder: Path, server: str) -> None:
        self._path = folder / f"{_file_name(server)}.stderr.log"
        self._file: IO[bytes] | None = None
        self._start = 0
        self._lock = RLock()

    def open(self) -> IO[bytes]:
        """Open a file with a real descriptor for the child; the tail begins after earlier connections."""
        with self._lock:
            return self._opened()

    def _opened(self) -> IO[bytes]:
        self.close()
        try:
            private_folder(self._path.parent)
            self._file = open_private(self._path, "a+b", buffering=0)
            if self._file.seek(0, 2) >= MAX_BYTES:
                self._file.truncate(0)
        except OSError:
            # A server must start even if the folder cannot be written to.
            self._file = tempfile.TemporaryFile("a+b", buffering=0)  # noqa: SIM115
        self._start = self._file.seek(0, 2)
        return self._file

    def tail(self) -> str:
        """The last lines that this connection wrote."""
        with self._lock:
            return self._tail()

    def _tail(self) -> str:
        if self._file is None or self._file.closed:
            return ""
        end = self._file.seek(0, 2)
        self._file.seek(max(min(self._start, end), end - _TAIL_BYTES))
        lines = self._file.read(_TAIL_BYTES).decode("utf-8", "replace").splitlines()
        return "\n".join(lines[-TAIL_LINES:]).strip()

    def close(self) -> None:
        if self._file is not None:
            with self._lock, suppress(OSError), self._file as file:
                if not file.closed:
                    self._clean(file)

    def _clean(self, file: IO[bytes]) -> None:
        """Replace what this connection wrote, or the newest of it, by the same without its secrets."""
        end = file.seek(0, 2)
        start = min(self._start, end)
        file.seek(max(start, end - MAX_BYTES))
        written = file.read()
        kept = clean(written.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        if kept != written or end - start > MAX_BYTES:
            file.truncate(start)
            file.write(kept)


def _file_name(server: str) -> str:
    safe = _UNSAFE.sub("_", server)[:60].lstrip(".")
    if safe == server:
        return safe
    return f"{safe}-{sha256(server.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
