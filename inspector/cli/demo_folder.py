"""A folder for the files of a demo, which goes when nothing uses it any more."""

import atexit
import os
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

# A process that is killed leaves its folder, and the next demo removes it. Each folder has a locked file: the
# operating system drops the lock when the process ends, however it ends.
_PREFIX, _LOCK, _PRIVATE = "toolsight-demo-", ".used", 0o600


@cache
def demo_folder() -> Path:
    """This process's folder, made on first use, after those of killed processes are removed."""
    parent = Path(tempfile.gettempdir())
    sweep(parent)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    use(folder)
    return folder


def use(folder: Path) -> int:
    """Lock the folder for as long as the returned handle is open."""
    # Under its name the file is never seen without its lock.
    handle = os.open(unlocked := folder / f"{_LOCK}.new", os.O_RDWR | os.O_CREAT, _PRIVATE)
    _lock(handle)
    unlocked.rename(folder / _LOCK)
    return handle


def sweep(parent: Path) -> None:
    """Remove the demo's folders that no process uses any more; what is somebody else's stays."""
    for folder in parent.glob(f"{_PREFIX}*"):
        if _is_left(folder):
            # This removes no link.
            shutil.rmtree(folder, ignore_errors=True)


def _is_left(folder: Path) -> bool:
    """Whether the folder is a dead process's, as far as is known."""
    try:
        if folder.stat().st_uid != os.getuid():
            return False
        handle = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return _lock(handle)
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    """Whether the open file is locked now, and was not before."""
    with suppress(ImportError, OSError):
        from fcntl import LOCK_EX, LOCK_NB, flock

        flock(handle, LOCK_EX | LOCK_NB)
        return True
    return False
