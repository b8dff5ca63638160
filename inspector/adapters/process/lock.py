"""Who still looks after a run's servers: the app and its reaper hold a lock on the record while they live.

The operating system drops a lock when its process ends, however it ends.
"""

import os
from pathlib import Path


def hold(path: Path) -> int:
    """Hold a record, to append to it, until the descriptor is closed. Raises OSError."""
    handle = os.open(path, os.O_RDWR | os.O_APPEND)
    # Where files cannot be locked, `is_held` says of every record that it is.
    _lock(handle, exclusive=False)
    return handle


def is_held(handle: int) -> bool:
    """Whether the app or its reaper is alive, or nobody can tell."""
    return not _lock(handle, exclusive=True)


def _lock(handle: int, *, exclusive: bool) -> bool:
    try:
        from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
    except ImportError:
        return False
    try:
        flock(handle, LOCK_NB | (LOCK_EX if exclusive else LOCK_SH))
    except OSError:
        return False
    return True
