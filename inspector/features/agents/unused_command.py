"""`toolsight sessions unused`: tools that clients were given and never called, and lists without them."""

from collections.abc import Iterator, Sequence
from typing import Any

import click

from inspector.cli.client_file import write_all_with_consent
from inspector.cli.options import DATABASE, Options, as_json, session_command
from inspector.cli.stores import open_store
from inspector.cli.table import Progress, is_json, say_report, show
from inspector.core.error import ConfigError
from inspector.core.number import count
from inspector.core.ports import SystemClock
from inspector.core.text import did_you_mean
from inspector.features.agents.command import MachineLibrary
from inspector.features.agents.tool_list import narrowed, tool_list_rules
from inspector.features.agents.unused import DAYS, ClientUse, recent, unused
from inspector.features.agents.unused_facts import unused_json, unused_report

_UNCHANGED = "No file changes: what was unused is left out already, or no known file has those servers."


@session_command("unused", takes=(DATABASE,))
@click.option(
    "--days", type=click.IntRange(1, 3650), default=DAYS, show_default=True, help="Only the last N days."
)
@click.option("--client", default="", metavar="NAME", help="Only this client's sessions.")
@click.option("--write", is_flag=True, help="Write the lists into the clients' files, after a question.")
@click.option("--yes", is_flag=True, help="Do not ask; the change is still shown.")
@as_json
def unused_tools(days: int, client: str, write: bool, yes: bool, chosen: Options) -> None:
    """Show tools that clients had and never called.

    Over taps and imported sessions, by client: what the definitions of such tools took, and the shortest list
    of tools that keeps every call. A tool that was called once counts as used.

    \b
    toolsight sessions unused --client codex --write
    """
    uses = _uses(chosen, days, client)
    data, report = unused_json(uses, days), unused_report(uses, days)
    if not write:
        show(data, report)
        return
    if not is_json():
        say_report(report)
    changed = list(_written(uses, yes=yes))
    show(data | {"written": changed}, map(_said, changed) if changed else [_UNCHANGED])


def _uses(options: Options, days: int, client: str) -> tuple[ClientUse, ...]:
    """What the sessions of the last days show. Raises ConfigError for a client without any session."""
    stored, library, found = open_store(options).sessions(), MachineLibrary(options), []
    names = sorted({one.agent for one in stored if one.agent})
    if client and client not in names:
        hint = did_you_mean("Clients with sessions", client, names) or "Import: `toolsight sessions import`."
        raise ConfigError(f"there are no sessions of '{client}'", hint=hint)
    meant = recent(stored, days, SystemClock().now(), client)
    with Progress() as progress:
        for number, one in enumerate(meant, start=1):
            progress("reading sessions", number, len(meant))
            found.append((one, library.findings(one.id)))
    return unused(found)


def _written(uses: Sequence[ClientUse], *, yes: bool) -> Iterator[dict[str, Any]]:
    """Every file that was changed."""
    for use in uses:
        for path, after in narrowed(use.client, use.servers) if use.client in tool_list_rules() else ():
            seen = f"{count(use.sessions, 'session')} on {count(len(use.days), 'day')}"
            note = f"This rests on {seen}. {use.client} reads it when it starts the next time."
            backup, lines = write_all_with_consent({path: after}, yes=yes, notes=(note,))[path]
            yield {"client": use.client, "file": str(path), "backup": backup, "diff": list(lines)}


def _said(changed: dict[str, Any]) -> str:
    return f"changed {changed['file']}; copy its backup over it to undo this: {changed['backup']}"
