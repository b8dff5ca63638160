"""100 MB of transcripts, imported: `python -m docs.hard.transcripts`.

Measured are the seconds, the most memory that the process ever had, what a second import of the same does,
and the seconds from a wish to stop until the import has ended with a session that the next one completes.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from docs.benchmark import say
from fixtures.transcripts.make import write_folder
from inspector.cli.options import Options
from inspector.features.agents.command import MachineLibrary
from inspector.features.agents.importing import Imported

MEGABYTES = 100


def _peak() -> float:
    """The most memory that this process ever had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class _StopAt:
    """Wants to stop once a share of the bytes is read, and knows since when."""

    def __init__(self, share: float) -> None:
        self._share = share
        self.since = 0.0

    def progress(self, done: int, total: int) -> None:
        if not self.since and done >= total * self._share:
            self.since = time.perf_counter()

    def stopped(self) -> bool:
        return bool(self.since)


def _imported(
    database: Path, folder: Path, progress: Callable[[int, int], None], stopped: Callable[[], bool]
) -> Imported:
    library = MachineLibrary(Options(database=database))
    return library.import_from([str(folder)], progress, stopped)


def main() -> int:
    """Print what was measured."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "transcripts"
        files = write_folder(folder, MEGABYTES)
        size = sum(file.stat().st_size for file in files)
        stop = _StopAt(0.05)
        cut = _imported(Path(name) / "stopped.db", folder, stop.progress, stop.stopped)
        took = time.perf_counter() - stop.since
        say(f"stopped at 5 %: ended after {took:.2f} s, {cut.added:,} events")
        say(f"most memory so far, with the tokenizer: {_peak():.0f} MB")
        for told in ("first import", "the same again"):
            began = time.perf_counter()
            done = _imported(Path(name) / "whole.db", folder, lambda _done, _total: None, lambda: False)
            took = time.perf_counter() - began
            say(
                f"{told}: {size / 10**6:.0f} MB in {took:.1f} s, {size / 10**6 / took:.1f} MB/s, "
                f"{done.added:,} of {sum(one.events for one in done.sessions):,} events stored, "
                f"most memory so far {_peak():.0f} MB"
            )
        rest = _imported(Path(name) / "stopped.db", folder, lambda _done, _total: None, lambda: False)
        say(f"the stopped one completed: {cut.added + rest.added:,} events")
    return 0


if __name__ == "__main__":
    sys.exit(main())
