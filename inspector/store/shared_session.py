"""A session as one file to give to somebody: its events, which have its catalog in them, compressed.

The file is gzip; its first line says what it is, in which format, and by which version. Each other line is an
event, as `toolsight sessions show --as events --json` has it. What it says is somebody else's: it is read
within bounds, checked, and put only into a database of its own.
"""

import json
import shutil
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from typing import Any

from inspector import __version__
from inspector.config.file import MEGABYTE, is_file, read_bytes
from inspector.core.error import ConfigError
from inspector.core.events import Record
from inspector.core.number import byte_size
from inspector.core.redaction import clean
from inspector.store.codec import UnreadableEvent, decode, encode
from inspector.store.store import SqliteStore

SUFFIX = ".toolsight"
FORMAT = 1
# The bytes of a file and of what it unpacks to, and its lines: a writer keeps to them, so that a reader can
# insist on them.
_PACKED, _UNPACKED = 64 * MEGABYTE, 256 * MEGABYTE
_LINE, _LINES, _PIECE, _BATCH = 32 * MEGABYTE, 500_000, MEGABYTE, 500
_GZIP, _LONGEST_ID, _NEWEST, _LAST_MOMENT = 31, 200, 2**53, 253_402_300_799
_EVENT = ',"event":'
_MOST = f"{byte_size(_UNPACKED)}, {_LINES:,} events or {byte_size(_LINE)} an event"


def is_shared(name: str) -> bool:
    """Whether a word names such a file."""
    return name.endswith(SUFFIX) and is_file(Path(name))


def packed(session: str, records: Iterable[Record]) -> bytes:
    """The file of a session, without secrets. Raises ConfigError if it would be larger than one may be."""
    made = zlib.compressobj(wbits=_GZIP)
    parts, size = [], 0
    for number, line in enumerate(_lines(session, records)):
        size += len(line)
        if size > _UNPACKED or len(line) > _LINE or number >= _LINES:
            hint = "Share its page instead: a file that ends in .html."
            raise ConfigError(f"the session has more than {_MOST}", hint=hint)
        parts.append(made.compress(line))
    return b"".join((*parts, made.flush()))


def _lines(session: str, records: Iterable[Record]) -> Iterator[bytes]:
    about = {"toolsight": "session", "format": FORMAT, "version": __version__, "session": session}
    yield f"{json.dumps(about)}\n".encode()
    for one in records:
        place = json.dumps({"seq": one.seq, "at": one.at, "kind": one.kind}, separators=(",", ":"))
        yield f"{place[:-1]}{_EVENT}{encode(clean(one.event))}}}\n".encode()


@contextmanager
def opened_session(path: Path) -> Iterator[tuple[Path, str]]:
    """A new database with the session of the file, and its id. It is deleted at the end.

    Raises ConfigError for a file that is none, is of a newer version, or is out of bounds.
    """
    data = read_bytes(path, "session", limit=_PACKED)
    # Once only to see whether it is within bounds: that takes a second, and to read events takes many.
    if sum(1 for _ in _unpacked(path, data)) > _LINES:
        raise _too_large(path, len(data))
    lines = _unpacked(path, data)
    session = _session(path, next(lines, b""))
    folder = Path(tempfile.mkdtemp(prefix="toolsight-shared-"))
    try:
        database = folder / "session.db"
        with SqliteStore(database) as store:
            records = _records(path, session, lines)
            while batch := list(islice(records, _BATCH)):
                store.append_all(batch)
        yield database, session
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unpacked(path: Path, data: bytes) -> Iterator[bytes]:
    """Its lines, of which no more is in memory than a piece and the line that it ends in."""
    reader, size, rest, packed_size = zlib.decompressobj(_GZIP), 0, b"", len(data)
    try:
        while data and not reader.eof:
            piece = reader.decompress(data, _PIECE)
            data = reader.unconsumed_tail
            size += len(piece)
            *lines, rest = (rest + piece).split(b"\n")
            if size > _UNPACKED or len(rest) > _LINE:
                raise _too_large(path, packed_size)
            yield from lines
    except zlib.error as error:
        raise _not_one(path, "it is not compressed, or damaged") from error
    if not reader.eof:
        raise _not_one(path, "its end is missing")


def _too_large(path: Path, size: int) -> ConfigError:
    told = f"{path} is refused: its {byte_size(size)} unpack to more than {_MOST}"
    return ConfigError(told, hint="Toolsight writes no such file. Ask for another one.")


def _not_one(path: Path, why: str) -> ConfigError:
    hint = f"`toolsight export -o FILE{SUFFIX}` writes such a file. Ask for it again."
    return ConfigError(f"{path} is no session of Toolsight: {why}", hint=hint)


def _read(path: Path, number: int, line: bytes | str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _not_one(path, f"line {number} is no JSON") from error
    if not isinstance(value, dict):
        raise _not_one(path, f"line {number} is no object")
    return value


def _session(path: Path, line: bytes) -> str:
    """The id of the session, if this version reads the format."""
    about = _read(path, 1, line)
    session, form = about.get("session"), about.get("format")
    if about.get("toolsight") != "session" or type(form) is not int or not isinstance(session, str):
        raise _not_one(path, "line 1 does not say that it is one")
    if form != FORMAT:
        told = f"{path} has format {form}, and Toolsight {__version__} reads format {FORMAT}"
        by = f"It was written by Toolsight {str(about.get('version'))[:40]}. " if "version" in about else ""
        raise ConfigError(told, hint=f"{by}Update Toolsight, then open it again.")
    if not 0 < len(session) <= _LONGEST_ID:
        raise _not_one(path, "its session has no id")
    return session


def _records(path: Path, session: str, lines: Iterator[bytes]) -> Iterator[Record]:
    before = 0
    for number, line in zip(count(2), lines):
        head, _, event = line.decode("ascii", "replace").partition(_EVENT)
        match _read(path, number, f"{head}}}"):
            case {"seq": int(seq), "at": float() | int() as at, "kind": str(kind)} if (
                before < seq < _NEWEST and 0 <= at <= _LAST_MOMENT
            ):
                before = seq
            case _:
                raise _not_one(path, f"line {number} has no number, time and kind in order")
        try:
            yield Record(session, seq, at, decode(kind, event[:-1]))
        except UnreadableEvent as error:
            raise _not_one(path, f"line {number}: {error}") from error
