"""`toolsight tap`: records what a client and a server say to each other, from between them."""

from collections.abc import Callable, Sequence
from pathlib import Path

import click

from inspector.cli.client_file import changes_file, encoded, text_of, write_all_with_consent
from inspector.cli.options import DATABASE, CommandGroup, Options, with_options
from inspector.core.error import ConfigError
from inspector.features.agents.tap import shared, tap as tap_of_command
from inspector.features.agents.tap.entries import Entry, Left, each, entries, without_taps


@click.group(cls=CommandGroup, invoke_without_command=True, takes=(DATABASE,))
@click.option("--name", default="", help="The server's name in the recorded session.")
@click.option(
    "--redact",
    "secrets",
    multiple=True,
    metavar="NAME",
    help="Keep the value of this variable or header out of the record. May be repeated.",
)
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="NAME",
    help="To an address after --: send the value of this variable as the header. May be repeated.",
)
@click.option("--bearer", default="", metavar="NAME", help="The same, of the token in this variable.")
@click.pass_context
def tap(
    context: click.Context,
    name: str,
    secrets: tuple[str, ...],
    headers: tuple[str, ...],
    bearer: str,
    chosen: Options,
) -> None:
    """Record what a client and a server say to each other.

    Starts the server after `--`, so a client's configuration can name this command in place of the server's.
    Every byte passes unchanged, as do the exit code and signals. If Toolsight's database is slow or fails,
    the traffic goes on. An address after `--` is reached over stdio, through one process in the background
    for all of them: the first such command starts it, and it ends two seconds after the last.

    \b
    toolsight tap --name shop -- npx -y @scope/shop
    toolsight tap --name shop -- https://example.com/mcp
    toolsight tap add shop --client claude-code       change the client's configuration to that
    """
    if context.invoked_subcommand is not None:
        return
    if not chosen.server:
        raise click.UsageError("write the server's command or its address after --", context)
    database = str(chosen.database or "")
    start = shared.start if "://" in chosen.server[0] else tap_of_command.start
    several = (("--redact", secrets), ("--header", headers))
    given = [(option, value) for option, values in several for value in values]
    start([("--name", name), ("--db", database), ("--bearer", bearer), *given], chosen.server)


_placed = with_options(
    click.argument("server", required=False, default=""),
    click.option(
        "--all", "every", is_flag=True, help="Every server of the client, with one change to confirm."
    ),
    changes_file("goose", "continue"),
)


@click.command()
@_placed
def add(server: str, every: bool, client: str | None, config: Path | None, yes: bool) -> None:
    """Put taps before the servers in a client's configuration.

    Shows the change, asks, keeps a backup of each file. The client uses it from its next start. A server with
    an address is started over stdio from then on: its command passes everything to one background process,
    which reaches all of them. The first such command starts it, and it ends two seconds after the last. A
    server that wants a sign-in by OAuth answers with the command that signs in to it once.

    \b
    toolsight tap add shop --client claude-code
    toolsight tap add --all --client codex
    """

    chosen, left = _chosen(server, client, config, every=every), Left()

    def tapped(text: str, one: Entry) -> str:
        if every:
            one.require_untapped()
        return one.tapped(text)

    def change(path: Path, of_file: list[Entry]) -> str:
        return each(text_of(path), of_file, tapped, left)

    _change(chosen, change, left, every=every, yes=yes)


@click.command()
@_placed
def remove(server: str, every: bool, client: str | None, config: Path | None, yes: bool) -> None:
    """Take taps out of a client's configuration.

    If nothing else has changed in the file since, it has the same bytes again as before the tap.

    \b
    toolsight tap remove shop --client claude-code
    toolsight tap remove --all --client codex
    """
    chosen, left = _chosen(server, client, config, every=every), Left()
    tapped = [one for one in chosen if one.tap]
    if not (tapped or every):
        raise ConfigError(f"{server} in {chosen[0].path} is not tapped")

    def change(path: Path, of_file: list[Entry]) -> str:
        return without_taps(path, text_of(path), of_file, left)

    _change(tapped, change, left, every=every, yes=yes)


def _chosen(server: str, client: str | None, config: Path | None, *, every: bool) -> list[Entry]:
    """The entries that a command is about. Raises ConfigError, also if there are none."""
    if (client is None) == (config is None):
        raise click.UsageError("use either --client or --config")
    if bool(server) is every:
        raise click.UsageError("name a server, or use --all")
    found, where = entries(client, config, server)
    if not found:
        told = f"there is no server '{server}' in {where}" if server else f"there are no servers in {where}"
        raise ConfigError(told, hint="`toolsight audit` lists them.")
    return found if every else found[:1]


def _change(
    chosen: Sequence[Entry],
    change: Callable[[Path, list[Entry]], str],
    left: Left,
    *,
    every: bool,
    yes: bool,
) -> None:
    """Show what would change in every file, ask once, write it, and say where the backups are."""
    from inspector.cli.table import show

    after = {}
    for path in dict.fromkeys(one.path for one in chosen):
        changed = encoded(path, change(path, [one for one in chosen if one.path == path]))
        if changed != path.read_bytes():
            after[path] = changed
    if left and not every:
        only, why = left[0]
        raise ConfigError(f"{only.server} in {only.path} stays as it is: {why}", hint="Edit it by hand.")
    notes = [f"{one.server} in {one.path} stays as it is: {why}" for one, why in left]
    written = write_all_with_consent(after, yes=yes, notes=notes)
    skipped, done, said = [one for one, _ in left], [], []
    for path, (backup, lines) in written.items():
        names = [one.server for one in chosen if one.path == path and one not in skipped]
        done.append({"file": str(path), "servers": names, "backup": backup, "diff": list(lines)})
        said += [f"changed {', '.join(names)} in {path}", f"backup: {backup}"]
    kept = [{"server": one.server, "file": str(one.path), "reason": why} for one, why in left]
    show({"changed": done, "left": kept}, said or ["nothing to change"])
