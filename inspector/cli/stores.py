"""The databases of a command: what only reads one imports neither a server nor a model."""

from collections.abc import Iterable, Sequence

from inspector.cli.location import database_path
from inspector.cli.options import Options
from inspector.core.error import StoreError
from inspector.core.ports import EventStore, SessionSummary
from inspector.store.store import SqliteStore


def open_store(options: Options) -> SqliteStore:
    return SqliteStore(database_path(options))


def require_sessions(store: EventStore, named: Iterable[str]) -> Sequence[SessionSummary]:
    """The stored sessions, newest first. Raises StoreError for a name that none of them has."""
    stored = store.sessions()
    known = {one.id for one in stored}
    for session in named:
        if session not in known:
            raise StoreError(f"there is no session '{session}'", hint="`toolsight sessions` lists them.")
    return stored
