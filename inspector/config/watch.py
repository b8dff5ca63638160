"""Notices that the files of a server under work have changed."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from pathlib import Path

from inspector.config.content import is_file, open_file, unusable
from inspector.core.server import ServerSpec, is_registered

_CHUNK = 1 << 20


def followed_lines(path: Path, wait: Callable[[], bool]) -> Iterator[bytes | None]:
    """Yield each whole line of the file, and None whenever there is no more for now.

    Then `wait` waits a moment, and returns False to end. A line counts once its end is there. Raises
    ConfigError if the file cannot be read.
    """
    try:
        with open_file(path, "transcript") as file:
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
        raise unusable(path, error, "read") from error


_EVERY = 0.5
State = dict[Path, tuple[int, int]]


def server_files(spec: ServerSpec) -> list[Path]:
    """The files that a server is started from: its script and what lies beside it, or its stored listing."""
    if spec.listing:
        return [] if is_registered(spec) else [Path(spec.listing)]
    folder = Path(spec.cwd) if spec.cwd else Path.cwd()
    named = [path for word in spec.args if is_file(path := folder / word)]
    return sorted({beside for path in named for beside in path.parent.glob(f"*{path.suffix}")})


async def changes(files: Callable[[], Iterable[Path]]) -> AsyncIterator[None]:
    """Yield whenever the files have changed; they are listed and looked at in a thread."""

    def look() -> State:
        return file_state(files())

    looks = Looks(await asyncio.to_thread(look))
    while True:
        await asyncio.sleep(_EVERY)
        if looks.changed(await asyncio.to_thread(look)):
            yield


class Looks:
    """Compares one look at files with the next: editors write in steps, so a change has to come to rest."""

    def __init__(self, state: State) -> None:
        self._told = self._last = state

    def changed(self, now: State) -> bool:
        """Whether files have changed since the last report, and are as they were at the last look."""
        at_rest, self._last = now == self._last, now
        if not at_rest or now == self._told:
            return False
        self._told = now
        return True


def file_state(files: Iterable[Path]) -> State:
    """When each file was last written, and its size."""
    state: State = {}
    for path in files:
        try:
            found = path.stat()
        except OSError:
            continue
        state[path] = (found.st_mtime_ns, found.st_size)
    return state
