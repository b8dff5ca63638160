"""The commands that hints name, as they have to be typed here: with the servers and the database in use."""

import shlex
from collections.abc import Callable, Sequence

# Whose servers a command is about is part of what is typed; the others ask for none.
OF_SERVERS = frozenset({"servers", "tools", "search", "call", "chat", "check", "cost", "race"})

Words = Callable[[], Sequence[str]]


class _Given:
    """What this process was started with: it opens one set of servers, with one database."""

    servers: Words = staticmethod(tuple)
    database: Sequence[str] = ()


def remember(servers: Words, database: Sequence[str]) -> None:
    """Take note of the words that name the servers, asked for when a hint needs them, and the database."""
    _Given.servers, _Given.database = staticmethod(servers), tuple(database)


def command(*words: str) -> str:
    """The command line in backquotes, for hints; `words` begin with the command's name."""
    servers = _Given.servers() if words[0] in OF_SERVERS else ()
    return f"`{shlex.join(['toolsight', *words, *_Given.database, *servers])}`"
