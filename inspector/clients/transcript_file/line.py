"""Reads the lines of a file with bounded memory."""

from collections.abc import Iterator
from typing import BinaryIO

from inspector.config.content import MEGABYTE

MAX_LINE = 64 * MEGABYTE


def read_lines(file: BinaryIO, limit: int = MAX_LINE) -> Iterator[tuple[bytes | None, int]]:
    """Each line with the number of bytes read so far; None for a line that is longer than `limit` bytes."""
    done = 0
    while line := file.readline(limit + 1):
        done += len(line)
        if len(line) <= limit:
            yield line, done
            continue
        while not line.endswith(b"\n") and (line := file.readline(MEGABYTE)):
            done += len(line)
        yield None, done
