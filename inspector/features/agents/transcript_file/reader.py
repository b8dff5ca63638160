"""Opens transcripts of agents: which format a file has, its entries, and the files in a folder.

Files are opened for reading only, and a line at a time is in memory where the format has lines.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from msgspec import Struct, field
from msgspec.structs import replace

from inspector.config.file import MEGABYTE, is_file, open_file, unusable
from inspector.core.error import ConfigError
from inspector.features.agents.transcript import Entry, Tally
from inspector.features.agents.transcript_file.format import (
    READERS,
    Format,
    document_of,
    files_of,
    first_file,
    format_of,
)
from inspector.features.agents.transcript_file.opencode import MAGIC, is_database, rows
from inspector.features.agents.transcript_file.record_reader import RecordReader, parsed

MAX_LINE = 64 * MEGABYTE
MAX_BYTES = 256 * MEGABYTE
# A small file can stand for any amount of text: real ones for no more than this many times their size.
MOST_TIMES, ALWAYS = 1_000, 64 * MEGABYTE
_PACKED = b"\x28\xb5\x2f\xfd"
# What a decoder may hold at once: 128 MB, the most that zstd's own tool accepts without being asked.
_WINDOW = 27
_BROKEN = "a compressed file that is cut off or damaged"


def line_reader(kind: Format) -> RecordReader:
    """A reader for lines as they are appended to a transcript of this format."""
    return READERS[kind](Tally())


def read_lines(
    file: BinaryIO, limit: int = MAX_LINE, check: Callable[[], None] = lambda: None
) -> Iterator[bytes | None]:
    """Each line; None for one that is longer than `limit` bytes. `check` may raise between any two pieces."""
    while line := file.readline(limit + 1):
        is_long = len(line) > limit
        while is_long and not line.endswith(b"\n") and (line := file.readline(MEGABYTE)):
            check()
        check()
        yield None if is_long else line


class _Opened(Struct):
    """An open file, and the text in it, which is another one if it is compressed.

    `broken` are the errors of a decoder, `is_broken` says that one came: it ended early, or is damaged.
    """

    path: Path
    file: BinaryIO
    text: BinaryIO
    broken: tuple[type[Exception], ...] = ()
    is_broken: bool = False

    @property
    def size(self) -> int:
        return os.fstat(self.file.fileno()).st_size

    @property
    def is_packed(self) -> bool:
        return self.text is not self.file

    def lines(self, limit: int = MAX_LINE) -> Iterator[bytes | None]:
        """See `read_lines`. Raises ConfigError for a compressed file that stands for too much."""
        try:
            yield from read_lines(self.text, limit, self._check)
        except self.broken:
            self.is_broken = True

    def _check(self) -> None:
        most = max(ALWAYS, MOST_TIMES * self.size)
        if self.is_packed and self.text.tell() > most:
            raise ConfigError(
                f"{self.path} decompresses to more than {most // MEGABYTE:,} MB",
                hint="No agent writes such a file. If you trust it, decompress it with `zstd -d`.",
            )


@contextmanager
def _opened(path: Path) -> Iterator[_Opened]:
    """The file, for reading. A pipe or device may never end, and is refused. Raises ConfigError."""
    try:
        file = open_file(path, "transcript")
    except FileNotFoundError as error:
        raise ConfigError(f"{path} does not exist", hint="Check the name.") from error
    except (OSError, ValueError) as error:
        raise unusable(path, error, "read") from error
    with file:
        is_packed = file.read(len(_PACKED)) == _PACKED
        file.seek(0)
        yield _unpacked(path, file) if is_packed else _Opened(path, file, file)


def _unpacked(path: Path, file: BinaryIO) -> _Opened:
    """What a file that Codex compressed after a week stands for. Raises ConfigError without a decoder."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        try:
            from backports import zstd
        except ImportError as error:
            hint = "Install the package backports.zstd, or decompress the file with `zstd -d`."
            raise ConfigError(f"{path} is compressed with zstd", hint=hint) from error
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _WINDOW}
    text = cast("BinaryIO", zstd.ZstdFile(file, options=options))
    return _Opened(path, file, text, (EOFError, zstd.ZstdError))


_RECORDS = 20
_LONGEST = 4 * MEGABYTE
_HEAD = 64 * 1024


def _recognized(opened: _Opened) -> "Transcript | None":
    """The transcript that an open file is, or None. Reads its beginning only."""
    path = opened.path
    for number, line in enumerate(opened.lines(_LONGEST)):
        record = None if line is None else parsed(line, Tally())
        found = None if record is None else format_of(record)
        if found is not None:
            return Transcript(path, found, packed=opened.is_packed)
        if number >= _RECORDS or opened.text.tell() > MAX_LINE:
            break
    if opened.is_packed:
        return None
    opened.file.seek(0)
    head = opened.file.read(_HEAD)
    if head.startswith(MAGIC):
        return Transcript(path, Format.OPENCODE) if is_database(path) else None
    words = head.decode(errors="replace").removeprefix("\ufeff").lstrip()
    found = document_of(words) if words.startswith("{") else None
    return None if found is None else Transcript(path, found, whole=True)


Progress = Callable[[int, int], None]
"""Called with the bytes read so far and the size of the file."""

_SUFFIXES = (".jsonl", ".json", ".jsonl.zst", ".db")
_NOT_CONVERSATIONS = frozenset({"tool-results", "workflows"})
HINT = "docs/papers/transcripts.md lists the agents and files that Toolsight can read."


class Transcript(Struct):
    """A file of a known format; `whole` if it is one JSON value and not one a line, `packed` if compressed.

    `tally` is that of the latest reading, and grows with it.
    """

    path: Path
    format: Format
    whole: bool = False
    packed: bool = False
    tally: Tally = field(default_factory=Tally)

    def entries(
        self, progress: Progress = lambda _done, _size: None, stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[Entry]:
        """The entries in their order; ends early when `stopped` says so. Raises ConfigError."""
        reader = line_reader(self.format)
        reader.file, self.tally = self.path.name, reader.tally
        done = 0
        for path in self.files:
            with _opened(path) as opened:
                for line in self._lines(opened):
                    if stopped():
                        return
                    if line is None:
                        self.tally.count_malformed("a line that is too long")
                    else:
                        yield from reader.feed(line)
                    progress(done + opened.file.tell(), done + opened.size)
                done += opened.size
                if opened.is_broken:
                    self.tally.count_malformed(_BROKEN)
        yield from reader.finish()

    @property
    def files(self) -> list[Path]:
        """Its files, as far as they are there. What lies beside the one that was named may be no link."""
        own = self.path.absolute()
        found = files_of(self.format, self.path)
        return [path for path in found if path == own or (path.is_file() and not path.is_symlink())]

    @property
    def grows(self) -> bool:
        """Whether it is one file to which lines are appended."""
        is_one = len(files_of(self.format, self.path)) == 1 and self.format is not Format.OPENCODE
        return is_one and not (self.whole or self.packed)

    def _lines(self, opened: _Opened) -> Iterable[bytes | None]:
        if opened.path == self.path.absolute():
            if self.whole:
                return (self._value(opened),)
            if self.format is Format.OPENCODE:
                return rows(opened.path)
        return (self._value(opened),) if opened.path.suffix == ".json" else opened.lines()

    def _value(self, opened: _Opened) -> bytes:
        if opened.size > MAX_BYTES:
            raise ConfigError(
                f"{self.path} is larger than {MAX_BYTES // MEGABYTE} MB",
                hint="Only transcripts with one record per line may be larger.",
            )
        return opened.file.read(MAX_BYTES)


def open_transcript(path: Path) -> Transcript:
    """Open a transcript. Raises ConfigError if it cannot be read, or nothing in it is known."""
    with _opened(path) as opened:
        found = _recognized(opened)
    if found is None:
        raise ConfigError(f"{path} is not a transcript in a known format", hint=HINT)
    return replace(found, path=first_file(found.format, path))


def find_transcripts(folder: Path) -> list[Path]:
    """The transcripts in a folder and below, the newest last; a transcript by itself is a list of one.

    Links are not followed, hidden folders and files that cannot be read are passed over. Raises ConfigError
    if the folder does not exist.
    """
    if is_file(folder):
        return [folder]
    if not folder.is_dir():
        raise ConfigError(f"{folder} does not exist", hint="Pass a transcript or a folder with transcripts.")
    return by_age(path for path in named_like_transcripts(folder) if _is_transcript(path))


def by_age(files: Iterable[Path]) -> list[Path]:
    """Files in the order of their last change; one that has vanished by now is the oldest."""
    return sorted(files, key=lambda file: (changed_at(file), file))


def changed_at(file: Path) -> float:
    """When a file was changed last, in seconds since 1970; 0 if it has vanished."""
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def named_like_transcripts(folder: Path) -> Iterator[Path]:
    """The files in a folder and below that may be transcripts by their names; none is opened."""
    for above, folders, names in os.walk(folder):
        folders[:] = (name for name in folders if name not in _NOT_CONVERSATIONS and name[0] != ".")
        for name in names:
            path = Path(above, name)
            # A rollout that is being decompressed is there twice for a moment.
            is_copy = name.endswith(".zst") and name.removesuffix(".zst") in names
            if name.endswith(_SUFFIXES) and not is_copy and path.is_file() and not path.is_symlink():
                yield path


def _is_transcript(path: Path) -> bool:
    with suppress(ConfigError):
        return open_transcript(path).path == path
    return False
