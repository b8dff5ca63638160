"""Installs and removes on a terminal: what changes is shown, then a person says yes or no."""

import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from inspector.access.restriction import require_whole
from inspector.cli import composition
from inspector.cli.composition import configuration_path, make_workbench, open_memory, read_configuration
from inspector.cli.consent import TerminalApprover, require_consent
from inspector.cli.marketplace.report import facts_json, variable_text
from inspector.cli.options import Options
from inspector.cli.run import interruptible
from inspector.cli.table import say
from inspector.config.installation import ServerChange
from inspector.core.configuration import Configuration
from inspector.core.error import ToolsightError
from inspector.core.events import PluginInstalled, ServerRemoved
from inspector.core.plugin import Plugin, missing_values
from inspector.core.redaction import clean
from inspector.registry.marketplace.marketplace import INSTALL
from inspector.registry.marketplace.port import Catalogs, MarketplacePorts
from inspector.session.workbench import Workbench
from widgets import visible

_NOWHERE = "no configuration"


@asynccontextmanager
async def open_marketplace(options: Options) -> AsyncIterator[Workbench]:
    """A workbench on the configuration that was named, or on none; no server of it is started."""
    named = options.demo or options.server or configuration_path(options) is not None
    configuration = Configuration(_NOWHERE, (), trusted=True)
    if named:
        configuration = read_configuration(options, may_be_empty=True).unrestricted
    approver, memory = TerminalApprover(yes=False), open_memory(options)
    # No server is started, but a file's settings may name catalogs to read and a model to fetch.
    require_consent(replace(configuration, servers=()), memory, approve=options.approve)
    async with make_workbench(configuration, options, approver, memory, record=False) as bench:
        yield bench


def read_catalogs(options: Options, files: Sequence[str], imported: bool) -> Catalogs:
    """The plugins of these files and, if wanted, of what was imported; what cannot be read is a problem."""
    from inspector.registry.marketplace.reader import kept_catalogs, read_catalogs as read

    shipped = composition.shipped_catalog().resolve()
    places = {
        "TOOLSIGHT_PYTHON": sys.executable,
        "TOOLSIGHT_FIXTURES": str(composition.fixtures_path()),
    }
    named = [Path(file).resolve() for file in files]
    kept = kept_catalogs(composition.imported_path(options)) if imported else []
    # Only Toolsight's own catalog may name places of this machine.
    return Catalogs(*read([*named, *kept], {shipped: places}))


def make_marketplace(options: Options) -> MarketplacePorts:
    """The marketplace's ports with the real adapters."""
    from inspector.config.source.editor import ConfigurationEditor

    editor = ConfigurationEditor(os.environ, composition.given_inputs(options))
    return MarketplacePorts(partial(read_catalogs, options), editor)


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
