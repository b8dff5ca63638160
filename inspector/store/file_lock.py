"""A lock on an open file, between the processes of one machine."""


def locked(handle: int, *, exclusive: bool) -> bool:
    """Lock an open file until it is closed; False if it is locked already or cannot be locked."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
    except ImportError:
        return False
    try:
        flock(handle, LOCK_NB | (LOCK_EX if exclusive else LOCK_SH))
    except OSError:
        return False
    return True
