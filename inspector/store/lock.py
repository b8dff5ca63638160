"""Locks between the processes of one machine, which tell other programs what sessions are being written."""

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_PRIVATE_FILE = 0o600
_PRIVATE_FOLDER = 0o700


def locked(handle: int, *, exclusive: bool, waits: bool = False) -> bool:
    """Lock an open file until it is closed; False if it is locked already or cannot be locked.

    With `waits`, what is locked already is waited for.
    """
    try:
        from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
    except ImportError:
        return False
    try:
        flock(handle, (0 if waits else LOCK_NB) | (LOCK_EX if exclusive else LOCK_SH))
    except OSError:
        return False
    return True


class WriterLocks:
    """The locks of one database, in a folder beside it. The locks that this object took end with `close`."""

    def __init__(self, database: Path) -> None:
        # Two names of one database have the same locks.
        self._folder = database.resolve().with_name(f".{database.resolve().name}-writers")
        self._held: dict[str, int] = {}

    def hold(self, session: str) -> None:
        """Mark a session as written until it is released, or this process ends. Raises OSError."""
        if session in self._held:
            return
        self._folder.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
        handle = os.open(self._file(session), os.O_RDWR | os.O_CREAT, _PRIVATE_FILE)
        # Shared, as several writers do not exclude one another. Where files cannot be locked, nobody can tell
        # whether this session is being written either, see `is_held`.
        locked(handle, exclusive=False)
        self._held[session] = handle

    def is_held(self, session: str) -> bool:
        """Whether any program is writing the session, or that is unknown. Raises OSError."""
        try:
            handle = os.open(self._file(session), os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            return not locked(handle, exclusive=True)
        finally:
            os.close(handle)

    def running(self, sessions: Iterable[str]) -> frozenset[str]:
        """Those of the sessions that any program is writing, as far as is known."""
        try:
            marked = set(self._folder.iterdir())
            return frozenset(one for one in sessions if self._file(one) in marked and self.is_held(one))
        except OSError:
            return frozenset()

    def is_held_elsewhere(self, session: str) -> bool:
        """Whether anybody but this object is writing the session. Raises OSError."""
        return session not in self._held and self.is_held(session)

    def release(self, session: str) -> None:
        """Mark a session as no longer written by this object."""
        handle = self._held.pop(session, None)
        if handle is not None:
            os.close(handle)
            if not self.is_held(session):
                self.discard(session)

    def discard(self, session: str) -> None:
        """Remove the file of a session that nobody writes, such as one whose process was killed."""
        with suppress(OSError):
            self._file(session).unlink()

    def close(self) -> None:
        """Release every session."""
        for session in tuple(self._held):
            self.release(session)

    def _file(self, session: str) -> Path:
        # A session's id may contain anything, a file's name may not.
        return self._folder / hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()
