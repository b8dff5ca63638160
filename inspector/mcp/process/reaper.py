"""The reaper: ends the servers that a killed app leaves behind.

A waiting shell is started with the first server, as it takes a megabyte where Python takes ten. The app holds
the other end of its input, which closes however the app ends. It has a session of its own, so that neither
Ctrl+C nor a closed terminal reaches it. If the run's record is still there then, the shell becomes this
program.
"""

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

if __name__ == "__main__":
    # Started as a file, by an interpreter that looks for packages where it is told to alone.
    sys.path[:0] = [str(Path(__file__).resolve().parents[3]), sys.argv[2]]

from inspector.mcp.process.record import Remains, end, read, remains
from inspector.mcp.process.table import MARKER, Table

# Seconds that servers get to end by themselves, as their input has ended, and in which one that the app was
# just starting shows whose it is.
_BY_ITSELF = 0.5
_APPEARING = 1.0
_LOOK = 0.02
_SHELL = Path("/bin/sh")
_WAITING = """trap '' HUP INT TERM; read -r _; [ -e "$1" ] && shift && exec "$@" """


class Reaper:
    """This process's side of a reaper."""

    def __init__(self, record: Path, lock: int) -> None:
        """Start it. `lock` is the record's descriptor, which it holds too. Raises OSError."""
        import psutil

        path, packages = str(record), str(Path(psutil.__file__).parents[1])
        program = [sys.executable, "-I", "-S", "-B", __file__, path, packages]
        waiting = [str(_SHELL), "-c", _WAITING, "toolsight-reaper", path] if _SHELL.exists() else []
        theirs, self._ours = os.pipe()
        try:
            self._process = subprocess.Popen(
                [*waiting, *program],
                stdin=theirs,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={name: value for name, value in os.environ.items() if name != MARKER},
                cwd="/",
                pass_fds=(lock,),
                start_new_session=True,
            )
        except BaseException:
            os.close(self._ours)
            raise
        finally:
            os.close(theirs)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        """Let it do its work, and wait until it has."""
        os.close(self._ours)
        self._process.wait()


def reap(path: Path) -> list[Remains]:
    """End the process groups of a run's servers, and return what is still there. Raises OSError."""
    run, processes = read(path), Table()
    if run is None:
        return []
    appears_until = time.monotonic() + _APPEARING
    unknown = {start.number for start in run.unknown}
    while unknown and time.monotonic() < appears_until:
        unknown -= {each.start.number for each in remains(run, processes)}
        # Nobody tells when a process that is no child appears, and the reaper has nothing else to do.
        time.sleep(_LOOK)
    return end(lambda: remains(run, processes), detached=False, first=_BY_ITSELF)


def main(path: Path) -> None:
    """Wait until the app is gone, end what is left of its servers, and remove the record if nothing is."""
    while os.read(0, 1):
        pass
    with suppress(OSError):
        if not reap(path):
            path.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
