"""`toolsight export`: what a command shows as a page to send, or a session to open elsewhere."""

import sys
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

import click

from inspector.app.draw.document import PAGE, Document
from inspector.cli.options import DATABASE, Options, SessionCommand
from inspector.cli.run import Exit
from inspector.cli.stores import open_store, require_sessions
from inspector.cli.table import gathered, say, write_file
from inspector.config.configuration import without_secrets
from inspector.core.error import ConfigError, StoreError
from inspector.core.number import byte_size
from inspector.core.ports import SessionSummary, SystemClock
from inspector.store.shared_session import SUFFIX, packed

_SHOW = ("sessions", "show")
_ENDINGS = f"Use a name that ends in {PAGE} for a page, or in {SUFFIX} for a session."


@click.command(cls=SessionCommand, takes=(DATABASE,), context_settings={"ignore_unknown_options": True})
@click.option("-o", "--output", "file", required=True, metavar="FILE", help=_ENDINGS)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[COMMAND]...")
@click.pass_context
def export(context: click.Context, /, file: str, words: tuple[str, ...], chosen: Options) -> None:
    """Write a page to send, or a session to open elsewhere.

    FILE.html has what COMMAND prints, by default the newest session. FILE.toolsight has a session with its
    tools, and is opened without any server. Both are without secrets that are known or look like one.

    \b
    toolsight export -o run.html sessions show SESSION
    toolsight export -o why.html search "late orders" --why list_orders server.py
    toolsight export -o run.toolsight sessions show SESSION
    toolsight run.toolsight                replay it
    """
    path, code = Path(file), 0
    if path.suffix == SUFFIX:
        data = _session(words, chosen)
    elif path.suffix == PAGE:
        data, code = _page(context, words, chosen)
    else:
        raise ConfigError(f"{path} is neither a page nor a session", hint=_ENDINGS)
    write_file(path, data)
    say(f"{path}: {byte_size(len(data))}")
    sys.exit(code)


def _session(words: Sequence[str], chosen: Options) -> bytes:
    """The session that is named, or the newest one. Raises StoreError and UsageError."""
    named = words[len(_SHOW) :] if tuple(words[: len(_SHOW)]) == _SHOW else words
    if len(named) > 1 or chosen.server:
        raise click.UsageError(f"A file that ends in {SUFFIX} takes one session: `toolsight sessions`.")
    with open_store(chosen) as store:
        session = (*named, *_newest(require_sessions(store, named)))[0]
        return packed(session, store.stream(session))


def _newest(stored: Sequence[SessionSummary]) -> Sequence[str]:
    """The session that is meant if none is named. Raises StoreError if there is none."""
    if not stored:
        raise StoreError("no session has been recorded yet", hint="`toolsight demo --headless` records one.")
    return (stored[0].id,)


def _page(context: click.Context, words: Sequence[str], chosen: Options) -> tuple[bytes, int]:
    """What the command prints, and its exit code: one that found something wrong has its page, too."""
    if len(words) <= 1:
        with open_store(chosen) as store:
            stored = store.sessions()
        # The newest one by its name: later it is another.
        named = words or _newest(stored)
        words = (*_SHOW, *named) if named[0] in {one.id for one in stored} else words
    database = () if chosen.database is None else ("--db", str(chosen.database))
    server = ("--", *chosen.server) if chosen.server else ()
    program, code = context.find_root().command, 0
    with gathered() as page:
        try:
            program.main([*words, *database, *server], prog_name="toolsight", standalone_mode=False)
        except SystemExit as ended:
            if ended.code not in (Exit.FAILED, Exit.GATE):
                raise
            code = int(ended.code)
    if not page:
        raise ConfigError(f"'{words[0]}' prints nothing", hint="`toolsight --help` lists the commands.")
    named = " ".join(takewhile(str.isalpha, words)).capitalize() or "Toolsight"
    title = "Session" if tuple(words[: len(_SHOW)]) == _SHOW else named
    again = (*words, *database, *without_secrets(server))
    return Document(title, page, again, SystemClock().now()).html(), code
