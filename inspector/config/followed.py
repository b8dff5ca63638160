"""The lines of a file that another program appends to."""

from collections.abc import Callable, Iterator
from pathlib import Path

from inspector.config import content

_CHUNK = 1 << 20


def followed_lines(path: Path, wait: Callable[[], bool]) -> Iterator[bytes | None]:
    """Yield each whole line of the file, and None whenever there is no more for now.

    Then `wait` waits a moment, and returns False to end. A line counts once its end is there. Raises
    ConfigError if the file cannot be read.
    """
    try:
        with content.open_file(path, "transcript") as file:
            rest = b""
            while True:
                if chunk := file.read(_CHUNK):
                    *lines, rest = (rest + chunk).split(b"\n")
                    yield from lines
                    continue
                yield None
                if not wait():
                    return
    except (OSError, ValueError) as error:
        raise content.unusable(path, error, "read") from error
