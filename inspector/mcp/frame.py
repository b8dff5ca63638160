"""What is kept of a running server: its messages as they crossed the wire, and log files of its stderr."""

import json
import logging
import os
import re
from collections import deque
from contextlib import suppress
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from threading import Lock, RLock
from typing import IO, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.redaction import Redactor, clean, open_private, private_folder
from inspector.mcp.pace import Lines
from inspector.schema.json_value import compact

MOST_FRAMES = 2_000
MOST_BYTES = 1_000_000
LONGEST_TEXT = 500_000

Outcome = Literal["repaired", "dropped"]


class FrameKind(StrEnum):
    """What a message is. `INVALID` is a reply that is no JSON-RPC response, `OTHER` no message at all.

    `HTTP` and `REFUSED` are the status and the headers of an HTTP response, from 400 on a refusal.
    """

    REQUEST = "request"
    RESULT = "result"
    ERROR = "error"
    INVALID = "invalid"
    NOTIFICATION = "notification"
    OTHER = "other"
    HTTP = "http"
    REFUSED = "refused"


_WORDS = {
    FrameKind.RESULT: "result of ",
    FrameKind.ERROR: "error from ",
    FrameKind.INVALID: "invalid reply to ",
}
_SHOWN = 80


class Frame(Struct, frozen=True):
    """One JSON-RPC message. `number` counts a server's frames from 1; `at` is in seconds since 1970, UTC.

    `method` is the method of a request or a notification, and of the request that a reply answers; "" if that
    is unknown. `id` is the request's id as JSON. `size` is in bytes, of the whole frame; `text` has its
    beginning if it is cut. `milliseconds` is how long a reply took, None for anything else.
    """

    number: int
    at: float
    sent: bool
    kind: FrameKind
    method: str
    id: str
    size: int
    text: str
    milliseconds: float | None = None

    @property
    def what(self) -> str:
        """The message in a few words: `tools/list`, `result of tools/list`."""
        if self.kind is FrameKind.OTHER:
            return f"not a message: {self.text.strip()[:_SHOWN]}"
        return f"{_WORDS.get(self.kind, '')}{self.method or 'an unknown request'}"

    @property
    def arrow(self) -> str:
        """→ for what Toolsight sent, ← for what the server sent."""
        return "→" if self.sent else "←"

    @property
    def is_cut(self) -> bool:
        """Whether `text` is only the beginning."""
        return len(self.text) < self.size and len(self.text.encode("utf-8", "replace")) < self.size


class Flaw(Struct, frozen=True):
    """Something wrong with what a server sent, how often, and whether it was repaired or dropped.

    `first` is the beginning of the first line of it if that is text which is no message: noise on stdout.
    """

    what: str
    outcome: Outcome
    count: int = 1
    first: str = ""

    def __str__(self) -> str:
        times = f" ({self.count:,} times)" if self.count > 1 else ""
        return f"{self.outcome} {self.what}{times}{f': “{self.first}”' if self.first else ''}"


class FrameLog:
    """The newest frames of one server over all its connections: so many, and so many bytes of text.

    It also counts what was repaired or dropped. It may be read in any thread.
    """

    def __init__(self, most_frames: int = MOST_FRAMES, most_bytes: int = MOST_BYTES) -> None:
        self._frames: deque[Frame] = deque()
        self._most_frames, self._most_bytes = most_frames, most_bytes
        self._bytes = 0
        self._total = 0
        self._flaws: dict[tuple[str, Outcome], Flaw] = {}
        self._lock = Lock()
        self.age = 0
        """How often it was cleared: what answers a request from before is none of what it keeps now."""

    def clear(self) -> None:
        """Forget everything: another session begins."""
        with self._lock:
            self.age += 1
            self._frames.clear()
            self._flaws.clear()
            self._bytes = self._total = 0

    @property
    def total(self) -> int:
        """How many frames there were so far, with those that are dropped."""
        return self._total

    def append(self, frame: Frame) -> None:
        """Add a frame; the oldest ones are dropped until the rest is within the bounds. The newest stays."""
        with self._lock:
            self._total += 1
            self._frames.append(frame)
            self._bytes += _weight(frame)
            while len(self._frames) > 1 and (
                len(self._frames) > self._most_frames or self._bytes > self._most_bytes
            ):
                self._bytes -= _weight(self._frames.popleft())

    def note(self, what: str, outcome: Outcome, first: str = "") -> None:
        """Count something that was wrong."""
        with self._lock:
            known = self._flaws.get((what, outcome), Flaw(what, outcome, 0, first))
            self._flaws[what, outcome] = replace(known, count=known.count + 1)

    def flaws(self) -> tuple[Flaw, ...]:
        """What was repaired or dropped so far, in the order in which it first came."""
        with self._lock:
            return tuple(self._flaws.values())

    def frames(self) -> tuple[Frame, ...]:
        """The frames that are kept, oldest first."""
        with self._lock:
            return tuple(self._frames)


def _weight(frame: Frame) -> int:
    return min(frame.size, LONGEST_TEXT)


def beginning(text: str, longest: int = LONGEST_TEXT) -> str:
    """The text, or its beginning up to the last quotation mark that fits.

    A string is left out as a whole, so that no half of a secret is left, which nothing would recognize.
    """
    if len(text) <= longest:
        return text
    return text[: text.rfind('"', 0, longest) + 1]


class WireLog:
    """The newest frames of a server. They are kept in memory alone, and no session has them in its record."""

    def __init__(self, log: FrameLog, redactor: Redactor) -> None:
        """`redactor` knows the secrets of the configuration."""
        self._log = log
        self._redactor = redactor
        self._clean: dict[int, Frame] = {}
        self._lock = Lock()

    @property
    def total(self) -> int:
        """How many frames there were so far, with those that are dropped."""
        return self._log.total

    def flaws(self) -> tuple[Flaw, ...]:
        """What was repaired or dropped so far."""
        return tuple(replace(one, first=self._redactor.text(one.first)) for one in self._log.flaws())

    def frames(self) -> tuple[Frame, ...]:
        """The frames that are kept, oldest first. Takes time after much was exchanged; runs in any thread."""
        with self._lock:
            newest = self._log.frames()
            clean = {frame.number: self._clean.get(frame.number) or self._redacted(frame) for frame in newest}
            self._clean = clean
        return tuple(clean.values())

    def took(self, method: str) -> float | None:
        """The milliseconds until the last answer to a method."""
        times = (one.milliseconds for one in reversed(self._log.frames()) if one.method == method)
        return next((one for one in times if one is not None), None)

    def _redacted(self, frame: Frame) -> Frame:
        clean = self._redactor.text
        return replace(frame, method=clean(frame.method), id=clean(frame.id), text=self._text(frame.text))

    def _text(self, text: str) -> str:
        """The message as compact JSON; what is no JSON, or cut, is read as text."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return self._redactor.text(text)
        kept = self._redactor.value(value)
        return text if kept is value else compact(kept)


LOG = logging.getLogger("toolsight.mcp")

MAX_BYTES = 1_000_000
TAIL_LINES = 1_000
_TAIL_BYTES = 65_536
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


def _file_handler(path: Path) -> logging.Handler:
    from logging.handlers import RotatingFileHandler

    class Private(RotatingFileHandler):
        def _open(self) -> Any:
            return open_private(Path(self.baseFilename), self.mode, encoding=self.encoding)

    try:
        private_folder(path.parent)
        return Private(path, maxBytes=MAX_BYTES, backupCount=1, encoding="utf-8", delay=True)
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
