"""What earlier runs left, from their records."""

import json
import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from inspector.config.configuration import without_secrets
from inspector.core.server import Leftover
from inspector.mcp.process import record
from inspector.mcp.process.record import Run, is_held
from inspector.mcp.process.remains import Remains, end, remains
from inspector.mcp.process.table import Table, place, table

# Records of another machine or container that shares the folder are none of ours; those of an earlier start
# of this machine cannot be told from them, and go when they are old.
_OLD_SECONDS = 30 * 24 * 3600.0


class ProcessLeftovers:
    """See `Leftovers`. Runs whose app or reaper is alive are left to them."""

    def __init__(self, folder: Path, processes: Table | None = None) -> None:
        self._folder = folder
        self._processes = processes or table()

    def find(self) -> tuple[Leftover, ...]:
        """See `Leftovers`. A record of which nothing runs any more is removed."""
        found: list[Leftover] = []
        for path in self._records():
            with _unheld(path) as run:
                if run is None:
                    continue
                left = remains(run, self._processes) if run.place == place() else []
                found += [self._leftover(run, each) for each in left]
                if not left:
                    with suppress(OSError):
                        if run.place == place() or _is_old(path):
                            path.unlink()
        return tuple(sorted(found, key=lambda each: each.since))

    def end(self, chosen: Sequence[Leftover]) -> tuple[Leftover, ...]:
        """See `Leftovers`."""
        wanted = {each.id for each in chosen}

        def chosen_of(run: Run) -> list[Remains]:
            left = remains(run, self._processes)
            return [each for each in left if run.marker(each.start) in wanted]

        return tuple(
            self._leftover(run, each)
            for _, run in self._runs_of(wanted)
            for each in end(lambda run=run: chosen_of(run), detached=True)  # type: ignore[misc]
        )

    def keep(self, chosen: Sequence[Leftover]) -> None:
        """See `Leftovers`."""
        wanted = {each.id for each in chosen}
        for path, run in self._runs_of(wanted):
            with suppress(OSError), path.open("ab") as file:
                for start in run.starts:
                    if run.marker(start) in wanted:
                        file.write(record.kept(start.number))

    def _records(self) -> list[Path]:
        try:
            return sorted(self._folder.iterdir())
        except OSError:
            return []

    def _runs_of(self, wanted: set[str]) -> Iterator[tuple[Path, Run]]:
        for path in self._records():
            with _unheld(path) as run:
                if run is not None and run.place == place() and wanted & set(map(run.marker, run.starts)):
                    yield path, run

    def _leftover(self, run: Run, each: Remains) -> Leftover:
        start, pids = each.start, (*each.members, *each.detached)
        words = self._processes.command(each.group if each.group in pids else pids[0])
        try:
            server = str(json.loads(start.name))
        except ValueError:
            server = start.name
        command = shlex.join(without_secrets(words))
        return Leftover(run.marker(start), server, command, start.at, pids, detached=not each.members)


@contextmanager
def _unheld(path: Path) -> Iterator[Run | None]:
    """The run that nobody looks after any more, held against others meanwhile; else None."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        yield None
        return
    try:
        run = None if is_held(handle) else record.read(path)
    except OSError:
        run = None  # Its reaper has removed it meanwhile.
    try:
        yield run
    finally:
        os.close(handle)


def _is_old(path: Path) -> bool:
    import time

    return time.time() - path.stat().st_mtime > _OLD_SECONDS
