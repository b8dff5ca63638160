"""Who still looks after a run's servers: the app and its reaper hold a lock on the record while they live.

The operating system drops a lock when its process ends, however it ends.
"""

import os
from pathlib import Path

from inspector.core.file_lock import locked


def hold(path: Path) -> int:
    """Hold a record, to append to it, until the descriptor is closed. Raises OSError."""
    handle = os.open(path, os.O_RDWR | os.O_APPEND)
    # Where files cannot be locked, `is_held` says of every record that it is.
    locked(handle, exclusive=False)
    return handle


def is_held(handle: int) -> bool:
    """Whether the app or its reaper is alive, or that is unknown."""
    return not locked(handle, exclusive=True)
