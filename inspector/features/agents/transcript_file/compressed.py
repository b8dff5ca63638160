"""Reads files that an agent compressed with Zstandard as if they were plain; Codex does so after a week.

A small file can stand for any amount of text. What it stands for is read piece by piece, and no further than
real transcripts go: more than `MOST_TIMES` its size is refused, as soon as it exceeds `ALWAYS` bytes.
"""

import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from inspector.config.file import MEGABYTE
from inspector.core.error import ConfigError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MOST_TIMES, ALWAYS = 1_000, 64 * MEGABYTE
_MAGIC = b"\x28\xb5\x2f\xfd"
# What a decoder may hold at once: 128 MB, the most that zstd's own tool accepts without being asked.
_WINDOW = 27


def plain(file: BinaryIO, path: Path) -> BinaryIO:
    """The file, or what it stands for if it is compressed. Raises ConfigError if that cannot be read here."""
    is_compressed = file.read(len(_MAGIC)) == _MAGIC
    file.seek(0)
    if not is_compressed:
        return file
    try:
        return cast("BinaryIO", io.BufferedReader(Decompressed(file, path), MEGABYTE))
    except ConfigError:
        file.close()
        raise


def decompressed(file: BinaryIO) -> "Decompressed | None":
    """The decoder below a file that `plain` returned; None if it is not compressed."""
    raw = getattr(file, "raw", None)
    return raw if isinstance(raw, Decompressed) else None


class Decompressed(io.RawIOBase):
    """What a compressed file stands for. `is_broken`: it ended early, or what followed is damaged."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        """`file` is open at its beginning. Raises ConfigError without a decoder, which is a package."""
        super().__init__()
        self._file, self._path = file, path
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            try:
                from backports import zstd
            except ImportError as error:
                hint = "Install the package backports.zstd, or decompress the file with `zstd -d`."
                raise ConfigError(f"{path} is compressed with zstd", hint=hint) from error
        self._most = max(ALWAYS, MOST_TIMES * os.fstat(file.fileno()).st_size)
        self._broken = (EOFError, zstd.ZstdError)
        options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _WINDOW}
        self._decoder = zstd.ZstdFile(file, options=options)
        self.is_broken = False

    @property
    def consumed(self) -> int:
        """How many bytes of the compressed file were read so far."""
        return self._file.tell()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return int(self._decoder.seek(offset, whence))

    def fileno(self) -> int:
        return self._file.fileno()

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer).cast("B")
        try:
            data = self._decoder.read1(len(view))
        except self._broken:
            self.is_broken, data = True, b""
        if self._decoder.tell() > self._most:
            raise ConfigError(
                f"{self._path} decompresses to more than {self._most // MEGABYTE:,} MB",
                hint="No agent writes such a file. If you trust it, decompress it with `zstd -d`.",
            )
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()
