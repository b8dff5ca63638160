"""`toolsight tap`: records what a client and a server say to each other, from between them."""

import os
import shlex
import socket
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import click

from inspector.cli.options import DATABASE, CommandGroup, Options, as_json, with_options
from inspector.config.client import client_file_of, client_files, is_there
from inspector.config.client_format import PLACES, SECTIONS, URLS, load_file, passed_names, written_secrets
from inspector.config.text_edit import entry_at, with_command_ahead, with_value, without_command_ahead
from inspector.core.error import ConfigError
from inspector.core.server import ServerSpec
from inspector.features.agents.client_file import backups, bytes_before, encoded, text_of, write_with_consent
from inspector.features.agents.tap.tap import recording, run, start_recorder

_CLIENTS = (
    *("claude-code", "claude-desktop", "cursor", "vscode", "windsurf", "cline", "gemini-cli"),
    *("codex", "goose", "continue", "zed", "copilot-cli", "qwen-code", "kiro"),
)


@click.group(cls=CommandGroup, invoke_without_command=True, takes=(DATABASE,))
@click.option("--name", default="", help="The server's name in the recorded session.")
@click.option("--url", default="", help="The address of a server to pass on to.")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="With --url: 0 takes a free one.")
@click.option(
    "--redact",
    "secrets",
    multiple=True,
    metavar="NAME",
    help="Keep the value of this variable or header out of the record. May be repeated.",
)
@click.option(
    "--sign-in", "signs_in", is_flag=True, help="With --url: let clients sign in by OAuth, see above."
)
@click.pass_context
def tap(
    context: click.Context,
    name: str,
    url: str,
    port: int,
    secrets: tuple[str, ...],
    chosen: Options,
    *,
    signs_in: bool,
) -> None:
    """Record what a client and a server say to each other.

    Starts the server after `--`, so a client's configuration can name this command in place of the server's.
    Every byte passes unchanged, as do the exit code and signals. If Toolsight's database is slow or fails,
    the traffic goes on. With `--url` it runs until ctrl+c; clients use the address on this machine that it
    prints. A client that signs in by OAuth refuses a server that names another address: with `--sign-in`,
    `resource` and `resource_metadata` in the server's answers become the tap's, which the record says.

    \b
    toolsight tap --name shop -- npx -y @scope/shop
    toolsight tap --url https://example.com/mcp       for a server with an address
    toolsight tap add shop --client claude-code       change the client's configuration to that
    """
    if context.invoked_subcommand is not None:
        return
    if bool(chosen.server) is bool(url):
        raise click.UsageError("write either a server's command after --, or --url", context)
    record = recording(chosen.server or (url,), name, str(chosen.database or ""), secrets)
    if url:
        _serve(url, port, secrets, record, signs_in=signs_in)
    else:
        run(chosen.server, record)


def _serve(
    url: str, port: int, secrets: Sequence[str], record: Callable[[int], None], *, signs_in: bool
) -> None:
    """Pass on to a server with an address until a signal comes."""
    from inspector.cli.run import run as run_until_signal
    from inspector.cli.table import say
    from inspector.core.redaction import SECRETS, clean
    from inspector.features.agents.tap.http import HttpTap
    from inspector.features.agents.tap.pump import Copies

    SECRETS.learn(ServerSpec("", url=url).secrets)

    def ready(address: str) -> None:
        say(f"Listening on {clean(address)}, passing on to {clean(url)}. Ctrl+C stops.", err=True)

    with Copies(start_recorder(record)) as copies, suppress(KeyboardInterrupt):
        run_until_signal(HttpTap(url, copies, secrets, signs_in=signs_in).serve(port, ready))


_placed = with_options(
    click.argument("server"),
    click.option("--client", type=click.Choice(_CLIENTS), help="The client whose configuration changes."),
    click.option("--config", type=click.Path(path_type=Path), help="The configuration file that changes."),
    click.option("--yes", is_flag=True, help="Do not ask; the change is still shown."),
    as_json,
)


@click.command()
@_placed
def add(server: str, client: str | None, config: Path | None, yes: bool) -> None:
    """Put a tap before SERVER in a client's configuration.

    Shows the change, asks, keeps a backup of the file. The client uses it from its next start. Of a server
    with an address the tap has to run by then: the command for it is shown. Add --sign-in to it if the client
    signs in by OAuth.

    \b
    toolsight tap add shop --client claude-code
    """
    path, at = _entry(server, client, config)
    entry, text, running = entry_at(load_file(path), at), text_of(path), ""
    key = next((name for name in URLS if isinstance(entry.get(name), str)), "")
    if _tap_of(entry, server) or _address_before(path, at, key):
        raise ConfigError(f"{server} in {path} is tapped already")
    secrets = [word for name in passed_names(entry) for word in ("--redact", name)]
    try:
        if key:
            running, address = _address(server, entry[key], secrets)
            after = with_value(text, at, key, address, path.suffix)
        else:
            ahead = [*_started(), "tap", *secrets, "--name", server, "--"]
            after = with_command_ahead(text, at, ahead, path.suffix)
    except (KeyError, ValueError):
        hint = "It has no plain command or address, or is written in a way that only you can edit."
        raise ConfigError(f"{server} in {path} cannot be tapped", hint=hint) from None
    _change(server, path, encoded(path, after), yes=yes, running=running)


@click.command()
@_placed
def remove(server: str, client: str | None, config: Path | None, yes: bool) -> None:
    """Take the tap before SERVER out of a client's configuration.

    If nothing else has changed in the file since, it has the same bytes again as before the tap.

    \b
    toolsight tap remove shop --client claude-code
    """
    path, at = _entry(server, client, config)
    entry, text = entry_at(load_file(path), at), text_of(path)
    key = next((name for name in URLS if name in entry), "")
    words, was = _tap_of(entry, server), _address_before(path, at, key)
    if not (words or was):
        raise ConfigError(f"{server} in {path} is not tapped")

    def tapped(text: str) -> str:
        if was:
            return with_value(text, at, key, entry[key], path.suffix)
        return with_command_ahead(text, at, words, path.suffix)

    def untapped() -> str:
        if was:
            return with_value(text, at, key, was, path.suffix)
        return without_command_ahead(text, at, words, path.suffix)

    try:
        before = bytes_before(path, tapped) or encoded(path, untapped())
    except (KeyError, ValueError):
        hint = "Edit it by hand: what follows `--` is the server's own command."
        raise ConfigError(f"the tap of {server} in {path} was changed by hand", hint=hint) from None
    _change(server, path, before, yes=yes)


def _address(server: str, url: str, secrets: Sequence[str]) -> tuple[str, str]:
    """The command that runs a tap of the address, and where it listens. Raises ValueError without a host."""
    port = _port(server)
    if not urlsplit(url).hostname or "@" in urlsplit(url).netloc or "${" in url:
        raise ValueError(url)
    words = [*_started(), "tap", *secrets, "--name", server, "--url", url, "--port", str(port)]
    return shlex.join(words), _local(url, port)


def _local(url: str, port: int | None) -> str:
    return urlunsplit(urlsplit(url)._replace(scheme="http", netloc=f"127.0.0.1:{port}"))


def _port(server: str) -> int:
    """A free port, the same one each time if it can be, and none that outgoing connections get."""
    for port in range(20_000 + zlib.crc32(server.encode()) % 10_000, 32_000):
        with suppress(OSError), socket.socket() as tried:
            tried.bind(("127.0.0.1", port))
            return port
    raise ConfigError("no port is free for the tap")


def _address_before(path: Path, at: Sequence[str], key: str) -> str:
    """The address that a backup has for an entry whose own is that of a tap; "" if it is not tapped."""
    now = entry_at(load_file(path), at).get(key)
    for backup in backups(path) if isinstance(now, str) else ():
        # A backup may be of anything, and so may an address.
        with suppress(ConfigError, ValueError):
            was = entry_at(load_file(backup, path.suffix), at).get(key)
            if isinstance(was, str) and was != now and _local(was, urlsplit(now).port) == now:
                return was
    return ""


def _started() -> list[str]:
    """The words that start this program: by whole paths, as a client may have another PATH."""
    program = Path(sys.argv[0]).absolute()
    return [str(program)] if program.name == "toolsight" else [sys.executable, "-m", "inspector"]


def _tap_of(entry: Mapping[str, Any], server: str) -> list[str]:
    """The words of a tap that the entry starts, of this Toolsight or one that was elsewhere; none without."""
    args = entry.get("args")
    words = [entry.get("command", entry.get("cmd")), *(args if isinstance(args, list) else ())]
    end = words.index("--") + 1 if "--" in words else 0
    return words[:end] if "tap" in words[:end] and words[:end][-3:] == ["--name", server, "--"] else []


def _entry(server: str, client: str | None, config: Path | None) -> tuple[Path, tuple[str, ...]]:
    """The file that has the server, and the keys that lead to it. Raises ConfigError."""
    if (client is None) == (config is None):
        raise click.UsageError("use either --client or --config")
    known = client_files(Path.home(), Path.cwd(), sys.platform, os.environ)
    title = "vs-code" if client == "vscode" else client
    files = (
        [client_file_of(config, known)]
        if config is not None
        else [file for file in known if file.client.lower().replace(" ", "-") == title and is_there(file)]
    )
    read = [(file, load_file(file.path)) for file in files]
    found = [(file, at) for file, data in read for at in _places() if entry_at(data, (*at, server))]
    # A client prefers what is nearer: the project's part of its own file, then the project's file.
    found.sort(key=lambda one: (len(one[1]) < 3, one[0].scope != "project"))
    if not found:
        where = ", ".join(str(file.path) for file in files) or f"a file of {client}"
        raise ConfigError(f"there is no server '{server}' in {where}", hint="`toolsight audit` lists them.")
    file, at = found[0]
    return file.path, (*at, server)


def _places() -> Iterator[tuple[str, ...]]:
    """The keys that may lead to servers, in any client's file."""
    yield from (("projects", str(Path.cwd()), name) for name in SECTIONS)
    yield from PLACES


def _change(server: str, path: Path, after: bytes, *, yes: bool, running: str = "") -> None:
    """Show the change, ask, write it and say where the backup is, and what has to run from now on."""
    from inspector.cli.table import show
    from inspector.core.redaction import SECRETS, clean

    # The command has what the file has, which is redacted where it is shown.
    SECRETS.learn(written_secrets(load_file(path)))
    notes = [f"Until the tap is removed, {server} needs this to run:\n  {clean(running)}"] if running else []
    if clean(running) != running:
        notes.append("  [redacted] stands for a secret: put it in as your file has it now.")
    backup, lines = write_with_consent(path, after, yes=yes, notes=tuple(notes))
    said = [f"changed {server} in {path}", f"backup: {backup}"]
    told = {"server": server, "file": str(path), "backup": backup, "diff": list(lines), "run": clean(running)}
    show(told, said)
