"""Installs and removes on a terminal: what changes is shown, then a person says yes or no."""

import os
import sys
from collections.abc import Mapping
from typing import Any

import click

from inspector.access.restriction import require_whole
from inspector.cli.marketplace.report import facts_json, variable_text
from inspector.cli.run import interruptible
from inspector.cli.table import say
from inspector.config.installation import ServerChange
from inspector.core.error import ToolsightError
from inspector.core.events import PluginInstalled, ServerRemoved
from inspector.core.plugin import Plugin, missing_values
from inspector.core.redaction import clean
from inspector.registry.marketplace.marketplace import INSTALL
from inspector.session.workbench import Workbench
from widgets import visible

_LABEL = 9


async def install_plugin(
    bench: Workbench, name: str, given: Mapping[str, str], *, agreed: bool
) -> dict[str, Any]:
    """Ask for what is missing, show what happens, ask, install. Raises ToolsightError."""
    require_whole(bench.sight, INSTALL)
    plugin = bench.marketplace.find(name)
    values = _asked(plugin, given)
    wanted = bench.marketplace.plan(plugin.name, values)
    say(f"{plugin.name} would be installed as {wanted.server}:", err=True)
    for fact in wanted.facts():
        text = visible(fact.text, newlines=False)
        say(f"  {'!' if fact.warns else ' '} {fact.label:<{_LABEL}} {text}", err=True)
    _say_change(wanted.becomes)
    _agree("Install and start it?", agreed)
    before = frozenset(bench.catalog.by_id)
    await bench.install(wanted)
    tools = sorted(set(bench.catalog.by_id) - before)
    change = wanted.becomes.change
    say(f"installed as {wanted.server}: {', '.join(tools) or 'no permitted tools'}", err=True)
    backup = _backup(bench, PluginInstalled)
    if backup:
        say(f"backup: {backup}", err=True)
    return {
        "plugin": plugin.name,
        "server": wanted.server,
        "tools": tools,
        "file": change.path if change is not None else "",
        "backup": backup,
        "starts": facts_json(wanted),
    }


async def remove_server(bench: Workbench, server: str, *, agreed: bool) -> dict[str, Any]:
    """Show what happens, ask, remove. Raises ToolsightError."""
    wanted = bench.marketplace.removal(server)
    say(f"{server} would be removed:", err=True)
    change = wanted.becomes.change
    _say_change(wanted.becomes)
    _agree("Remove it?", agreed)
    await bench.remove_server(wanted)
    say(f"removed {server}", err=True)
    path = change.path if change is not None else ""
    return {"server": server, "file": path, "backup": _backup(bench, ServerRemoved)}


def _backup(bench: Workbench, kind: type[PluginInstalled] | type[ServerRemoved]) -> str:
    """Where the newest such event left the file as it was."""
    events = [record.event for record in bench.records((kind.kind,))]
    return next((event.backup for event in reversed(events) if isinstance(event, kind)), "")


def _say_change(becomes: ServerChange) -> None:
    if becomes.change is None:
        say(becomes.note, err=True)
        return
    say(f"{becomes.change.path} would change, with a backup beside it:", err=True)
    for line in becomes.diff(clean):
        say(f"  {visible(line, newlines=False)}", err=True)


def _asked(plugin: Plugin, given: Mapping[str, str]) -> dict[str, str]:
    """The values with those that are missing: of the person's environment as a reference, else typed."""
    values = dict(given)
    for variable in missing_values(plugin, given):
        if os.environ.get(variable.name):
            values[variable.name] = f"${{{variable.name}}}"
        elif sys.stdin.isatty():
            with interruptible():
                values[variable.name] = click.prompt(
                    visible(variable_text(variable), newlines=False), hide_input=variable.secret, err=True
                )
    return values


def _agree(question: str, agreed: bool) -> None:
    """Raises ToolsightError if nobody agrees."""
    if agreed:
        return
    if sys.stdin.isatty():
        with interruptible():
            if click.confirm(question, default=False, err=True):
                return
    hint = "" if sys.stdin.isatty() else "Run the command in a terminal to confirm, or add --yes."
    raise ToolsightError("nothing was changed, because you did not confirm", hint=hint)
