"""Log files: each server's stderr in its own, the SDK's messages in another."""

import logging
import os
import re
from contextlib import suppress
from hashlib import sha256
from logging.handlers import RotatingFileHandler
from pathlib import Path
from threading import RLock
from typing import IO, Any

from inspector.core.redaction import clean, open_private, private_folder
from inspector.mcp.client.limit import Lines

LOG = logging.getLogger("toolsight.mcp")

MAX_BYTES = 1_000_000
TAIL_LINES = 20
_TAIL_BYTES = 8_192
_LONGEST_LINE = 64_000
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


class StderrLog:
    """What a server writes to stderr: the newest of it in a file, and the end of this connection's part.

    Whatever leaves here has no secrets, as whole lines where they are whole. Any thread may use it.
    """

    def __init__(self, folder: Path, server: str) -> None:
        self._path = folder / f"{_file_name(server)}.stderr.log"
        self._file: IO[bytes] | None = None
        self._lines = Lines(_LONGEST_LINE)
        self._tail = b""
        self._lock = RLock()

    def begin(self) -> None:
        """Open the file for another connection, whose tail is empty."""
        with self._lock:
            self.close()
            self._lines, self._tail = Lines(_LONGEST_LINE), b""
            # A server must start even if the folder cannot be written to.
            with suppress(OSError):
                private_folder(self._path.parent)
                self._file = open_private(self._path, "a+b", buffering=0)

    def write(self, data: bytes) -> None:
        """Add what the server wrote, as soon as its line is whole."""
        with self._lock:
            lines = [line if isinstance(line, bytes) else line.head for line in self._lines.feed(data)]
            if lines:
                self._keep(b"\n".join([*lines, b""]))

    def _keep(self, lines: bytes) -> None:
        """Keep whole lines. Whatever is kept of stderr, in the file or in memory, passes here."""
        lines = _cleaned(lines[-MAX_BYTES // 2 :])
        self._tail = (self._tail + lines)[-_TAIL_BYTES:]
        if self._file is None:
            return
        with suppress(OSError):
            if self._file.seek(0, os.SEEK_END) + len(lines) > MAX_BYTES:
                self._shorten(self._file)
            self._file.write(lines)

    def _shorten(self, file: IO[bytes]) -> None:
        """Leave the newest lines only, half as many bytes as there may be."""
        file.seek(-min(MAX_BYTES // 2, file.tell()), os.SEEK_END)
        newest = file.read().partition(b"\n")[2]
        file.truncate(0)
        file.write(newest)

    def tail(self) -> str:
        """The last lines that this connection wrote."""
        with self._lock:
            written = self._tail + _cleaned(self._lines.rest[-_TAIL_BYTES:])
        lines = written[-_TAIL_BYTES:].decode("utf-8", "replace").splitlines()
        return "\n".join(lines[-TAIL_LINES:]).strip()

    def end(self) -> None:
        """Nothing more comes of this connection: keep its last line, though no end of line came."""
        if self._lines.rest:
            self.write(b"\n")

    def close(self) -> None:
        with self._lock, suppress(OSError):
            if self._file is not None:
                self._file.close()
            self._file = None


def _cleaned(text: bytes) -> bytes:
    return clean(text.decode("utf-8", "replace")).encode("utf-8", "replace")


def _file_name(server: str) -> str:
    safe = _UNSAFE.sub("_", server)[:60].lstrip(".")
    if safe == server:
        return safe
    return f"{safe}-{sha256(server.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
