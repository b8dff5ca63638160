"""`toolsight tap`: records what a client and a server say to each other, from between them."""

import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import click

from inspector.cli.options import TYPED_SERVER, CommandGroup, as_json, database
from inspector.clients.tap import run
from inspector.config.client import client_file_of, client_files, is_there
from inspector.config.file import load_object, read_bytes, read_text
from inspector.config.format import SECTIONS
from inspector.config.plugin import FileChange
from inspector.core.error import ConfigError

_CLIENTS = ("claude-code", "claude-desktop", "cursor", "vs-code", "windsurf", "cline", "gemini-cli")


@click.group(
    cls=CommandGroup, modules={"add": "tap:add", "remove": "tap:remove"}, invoke_without_command=True
)
@click.option("--name", default="", help="The server's name in the recorded session.")
@database
@click.pass_context
def tap(context: click.Context, name: str, database: Path | None) -> None:
    """Start the server after `--` and record its traffic.

    A client's configuration can name this command in place of the server's. Every byte passes unchanged, as
    do the exit code and signals. If Toolsight's database is slow or fails, the traffic goes on.

    \b
    toolsight tap --name shop -- npx -y @scope/shop
    toolsight tap add shop --client claude-code       change the client's configuration to that
    """
    if context.invoked_subcommand is not None:
        return
    command: tuple[str, ...] = context.meta.get(TYPED_SERVER, ())
    if not command:
        raise click.UsageError("no server to start: write its command after --", context)
    given = str(database or "")
    run(command, lambda source: record(source, command, name=name, database=given))


def record(source: int, command: Sequence[str], *, name: str = "", database: str = "") -> None:
    """Record a tapped server in the database, until it ends."""
    from inspector.cli.composition import bulk_counter_for, new_session_id, open_store
    from inspector.cli.options import Options
    from inspector.clients.tapped import Tapped, TapRecorder, pieces
    from inspector.core.redaction import learn_environment

    # What a client's configuration passes to the server as a secret is one in its messages, too.
    learn_environment(os.environ)
    store = open_store(Options(database=Path(database) if database else None))
    tapped = Tapped(new_session_id(), name or _name(command), shlex.join(command), str(Path.cwd()))
    with store:
        TapRecorder(tapped, store, cache(bulk_counter_for)).run(pieces(source))


def _name(command: Sequence[str]) -> str:
    """A server's name by its command: its last word that looks like a program or package."""
    named = [word for word in command if not word.startswith("-")] or list(command)
    return Path(named[-1]).stem or command[0]


_OPTIONS = (
    click.argument("server"),
    click.option("--client", type=click.Choice(_CLIENTS), help="The client whose configuration changes."),
    click.option("--config", type=click.Path(path_type=Path), help="The configuration file that changes."),
    click.option("--yes", is_flag=True, help="Do not ask; the change is still shown."),
    as_json,
)


def _placed(function: Any) -> Any:
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@click.command()
@_placed
def add(server: str, client: str | None, config: Path | None, yes: bool) -> None:
    """Put a tap before SERVER in a client's configuration.

    Shows the change, asks, keeps a backup of the file. The client uses it from its next start.

    \b
    toolsight tap add shop --client claude-code
    """
    from inspector.config.editor import with_command_ahead

    path, at = _entry(server, client, config)
    text, words = _text(path), _ahead(server)
    if _tap_of(_at(load_object(path), at), server):
        raise ConfigError(f"{server} in {path} is tapped already")
    try:
        after = with_command_ahead(text, at, words)
    except KeyError:
        hint = "A tap stands before a command; a server with an address has none."
        raise ConfigError(f"{server} in {path} has no command", hint=hint) from None
    _change(server, path, _encoded(path, after), yes=yes)


@click.command()
@_placed
def remove(server: str, client: str | None, config: Path | None, yes: bool) -> None:
    """Take the tap before SERVER out of a client's configuration.

    If nothing else has changed in the file since, it has the same bytes again as before the tap.

    \b
    toolsight tap remove shop --client claude-code
    """
    from inspector.config.editor import without_command_ahead

    path, at = _entry(server, client, config)
    words = _tap_of(_at(load_object(path), at), server)
    if not words:
        raise ConfigError(f"{server} in {path} is not tapped")
    try:
        after = without_command_ahead(_text(path), at, words)
    except (KeyError, ValueError):
        hint = "Edit it by hand: what follows `--` is the server's own command."
        raise ConfigError(f"the tap of {server} in {path} was changed by hand", hint=hint) from None
    _change(server, path, _before(path, at, words) or _encoded(path, after), yes=yes)


def _before(path: Path, at: Sequence[str], words: Sequence[str]) -> bytes | None:
    """The bytes of the backup that the tap was added to, if nothing else has changed since."""
    from inspector.config.editor import with_command_ahead

    now = path.read_bytes()
    for backup in path.resolve().parent.glob(f"{path.resolve().name}.bak*"):
        try:
            if _encoded(path, with_command_ahead(_text(backup), at, words)) == now:
                return backup.read_bytes()
        except (ConfigError, KeyError, ValueError, OSError):
            continue
    return None


_MARK = b"\xef\xbb\xbf"


def _text(path: Path) -> str:
    return read_text(path, "configuration").removeprefix("\ufeff")


def _encoded(path: Path, text: str) -> bytes:
    """The text in bytes, with the byte order mark that the file has."""
    return (_MARK if read_bytes(path, "configuration").startswith(_MARK) else b"") + text.encode()


def _ahead(server: str) -> list[str]:
    """The words that start a tap of the server: by whole paths, as a client may have another PATH."""
    program = Path(sys.argv[0]).absolute()
    started = [str(program)] if program.name == "toolsight" else [sys.executable, "-m", "inspector"]
    return [*started, "tap", "--name", server, "--"]


def _tap_of(entry: Mapping[str, Any], server: str) -> list[str]:
    """The words of a tap that the entry starts, of this Toolsight or one that was elsewhere; none without."""
    args = entry.get("args")
    words = [entry.get("command"), *(args if isinstance(args, list) else ())]
    end = words.index("--") + 1 if "--" in words else 0
    return words[:end] if words[:end][-4:] == _ahead(server)[-4:] else []


def _entry(server: str, client: str | None, config: Path | None) -> tuple[Path, tuple[str, ...]]:
    """The file that has the server, and the keys that lead to it. Raises ConfigError."""
    if (client is None) == (config is None):
        raise click.UsageError("use either --client or --config")
    known = client_files(Path.home(), Path.cwd(), sys.platform, os.environ)
    files = (
        [client_file_of(config, known)]
        if config is not None
        else [file for file in known if file.client.lower().replace(" ", "-") == client and is_there(file)]
    )
    found = [(file, at) for file in files for at in _places() if server in _at(load_object(file.path), at)]
    # A client prefers what is nearer: the project's part of its own file, then the project's file.
    found.sort(key=lambda one: (len(one[1]) < 3, one[0].scope != "project"))
    if not found:
        where = ", ".join(str(file.path) for file in files) or f"a file of {client}"
        raise ConfigError(f"there is no server '{server}' in {where}", hint="`toolsight clients` lists them.")
    file, at = found[0]
    return file.path, (*at, server)


def _places() -> Iterator[tuple[str, ...]]:
    """The keys that may lead to servers, in any client's file."""
    yield from (("projects", str(Path.cwd()), name) for name in SECTIONS)
    yield from ((name,) for name in SECTIONS)
    yield from (("mcp", name) for name in SECTIONS)


def _at(data: Any, path: Sequence[str]) -> Mapping[str, Any]:
    for key in path:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data if isinstance(data, Mapping) else {}


def _change(server: str, path: Path, after: bytes, *, yes: bool) -> None:
    """Show the change, ask, write it and say where the backup is."""
    from inspector.cli.table import say, show
    from inspector.config.editor import replace_file
    from inspector.core.redaction import SECRETS, Redactor

    change = FileChange(str(path), read_bytes(path, "configuration"), after)
    lines = change.diff(Redactor(SECRETS).text)
    say(f"{path} would change:", err=True)
    for line in lines:
        say(f"  {line}", err=True)
    if not yes and not click.confirm("Write it?", default=False, err=True):
        raise click.Abort
    backup = replace_file(path, change.before, change.after)
    said = [f"changed {server} in {path}", f"backup: {backup}"]
    show({"server": server, "file": str(path), "backup": backup, "diff": list(lines)}, said)
