"""What could be installed: searched, listed, shown, imported, and installed or removed by a person."""

import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
from msgspec import to_builtins
from msgspec.structs import replace

from inspector.access.restriction import require_whole
from inspector.cli.composition import make_workbench, open_memory
from inspector.cli.configuration import read_configuration
from inspector.cli.consent import TerminalApprover, answer_to, require_consent, say_question
from inspector.cli.location import configuration_path, database_path, fixtures_path
from inspector.cli.options import (
    ACCESS,
    APPROVE,
    CONFIGURED,
    DATABASE,
    DEMO,
    CommandGroup,
    Options,
    as_json,
    session_command,
)
from inspector.cli.run import interruptible, run
from inspector.cli.table import is_json, say, show
from inspector.config.configuration import Configuration
from inspector.core.error import ConfigError, ToolsightError
from inspector.core.events import PluginInstalled, ServerRemoved
from inspector.core.marketplace import MarketplaceReport, suggestion_lines
from inspector.core.number import count
from inspector.core.report import Question
from inspector.features.marketplace.facts import (
    installation_question,
    plugin_json,
    plugin_list,
    plugin_report,
    removal_question,
    starts_json,
    variable_text,
)
from inspector.features.marketplace.marketplace import marketplace_of, with_marketplace
from inspector.features.marketplace.plugin import Plugin, missing_values
from inspector.features.marketplace.reader import Catalogs, keep_catalog, read_catalog, read_catalogs
from inspector.session.assembly import Ports
from inspector.session.server_change import INSTALL
from inspector.session.workbench import Workbench
from widgets import visible


def compose(options: Options, ports: Ports) -> Ports:
    """The ports with the marketplace in them."""
    return with_marketplace(ports, partial(_offered, options))


def imported_path(options: Options) -> Path:
    """The folder of the catalogs that were imported, beside the database."""
    return database_path(options).parent / "marketplace"


def _offered(options: Options, files: Sequence[str]) -> Catalogs:
    """The plugins of these files and of what was imported; what cannot be read is a problem."""
    shipped = (fixtures_path() / "marketplace" / "catalog.json").resolve()
    places = {"TOOLSIGHT_PYTHON": sys.executable, "TOOLSIGHT_FIXTURES": str(fixtures_path())}
    kept = sorted(imported_path(options).glob("*.json"))
    # Only Toolsight's own catalog may name places of this machine.
    return read_catalogs([*(Path(file).resolve() for file in files), *kept], {shipped: places})


async def _settled_search(bench: Workbench, query: str, limit: int) -> MarketplaceReport:
    """Search once to know what there is to embed, and again when it is embedded."""
    marketplace_of(bench).look(query, limit)
    await marketplace_of(bench).settled()
    return marketplace_of(bench).look(query, limit)


async def _install(bench: Workbench, name: str, given: Mapping[str, str], *, agreed: bool) -> dict[str, Any]:
    """Ask for what is missing, show what happens, ask, install. Raises ToolsightError."""
    require_whole(bench.sight, INSTALL)
    market = marketplace_of(bench)
    plugin = market.find(name)
    wanted = market.plan(plugin.name, _asked(plugin, given))
    _agree(installation_question(plugin, wanted), agreed=agreed)
    before = frozenset(bench.catalog.by_id)
    await bench.install(wanted)
    tools = sorted(set(bench.catalog.by_id) - before)
    say(f"installed as {wanted.server}: {', '.join(tools) or 'no permitted tools'}", err=True)
    backup = _backup(bench, PluginInstalled)
    if backup:
        say(f"backup: {backup}", err=True)
    return {
        "plugin": plugin.name,
        "server": wanted.server,
        "tools": tools,
        "file": wanted.becomes.path,
        "backup": backup,
        "starts": starts_json(plugin, wanted),
    }


async def _remove(bench: Workbench, server: str, *, agreed: bool) -> dict[str, Any]:
    """Show what happens, ask, remove. Raises ToolsightError."""
    wanted = marketplace_of(bench).removal(server)
    _agree(removal_question(wanted), agreed=agreed)
    await bench.remove_server(wanted)
    say(f"removed {server}", err=True)
    return {"server": server, "file": wanted.becomes.path, "backup": _backup(bench, ServerRemoved)}


def _backup(bench: Workbench, kind: type[PluginInstalled] | type[ServerRemoved]) -> str:
    """Where the newest such event left the file as it was."""
    events = [record.event for record in bench.records((kind.kind,))]
    return next((event.backup for event in reversed(events) if isinstance(event, kind)), "")


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


def _agree(question: Question, *, agreed: bool) -> None:
    """Show what would happen, and ask unless it is agreed. Raises ToolsightError if nobody agrees."""
    if not agreed and sys.stdin.isatty():
        agreed, hint = answer_to(question) != question.refusal, ""
    else:
        say_question(question)
        hint = "Run the command in a terminal to confirm, or add --yes."
    if not agreed:
        raise ToolsightError("nothing was changed, because you did not confirm", hint=hint)


def _run(work: Callable[[Workbench], Awaitable[None]], options: Options) -> None:
    """Do the work on the configuration that was named, or on none; no server of it is started."""
    named = options.demo or options.server or configuration_path(options) is not None
    configuration = Configuration("no configuration", (), trusted=True)
    if named:
        configuration = read_configuration(options, may_be_empty=True).unrestricted
    approver, memory = TerminalApprover(yes=False), open_memory(options)
    # No server is started, but a file's settings may name catalogs to read and a model to fetch.
    require_consent(replace(configuration, servers=()), memory, approve=options.approve)

    async def opened() -> None:
        async with make_workbench(configuration, options, approver, memory, record=False) as bench:
            await work(bench)

    run(opened())


_PROBLEMS_TOLD = 10


_SESSION = (*ACCESS, DEMO, *CONFIGURED, APPROVE, DATABASE)


@click.group(cls=CommandGroup)
def marketplace() -> None:
    """Find, install and remove servers.

    Only you can install servers, never a model. Catalogs come from the setting marketplace.catalogs, and from
    those you import.

    \b
    toolsight marketplace search "exchange rates" --demo
    toolsight marketplace search --set marketplace.catalogs=ours.json
    """


@session_command(takes=_SESSION)
@click.argument("query", default="", metavar="[QUERY]")
@click.option(
    "--limit", default=5, show_default=True, type=click.IntRange(1, 100), help="Maximum number of plugins."
)
@as_json
def search(query: str, limit: int, chosen: Options) -> None:
    """Search plugins by what they do; without QUERY, list all.

    \b
    toolsight marketplace search "exchange rates" --demo
    """

    async def work(bench: Workbench) -> None:
        if query:
            found = await _settled_search(bench, query, limit)
            show(to_builtins(found), suggestion_lines(found))
            return
        market = marketplace_of(bench)
        plugins = [plugin_json(market, one) for one in market.plugins]
        show({"plugins": plugins, "problems": market.problems}, plugin_list(market.plugins, market.server_of))
        if not is_json():
            _say_problems(market.problems)

    _run(work, chosen)


@session_command("show", takes=_SESSION)
@click.argument("name")
@as_json
def show_plugin(name: str, chosen: Options) -> None:
    """Show a plugin's tools, command and requirements.

    \b
    toolsight marketplace show fixtures/currency --demo
    """

    async def work(bench: Workbench) -> None:
        market = marketplace_of(bench)
        plugin = market.find(name)
        show(plugin_json(market, plugin), plugin_report(plugin, market.server_of(plugin)))

    _run(work, chosen)


@session_command("install", takes=_SESSION)
@click.argument("name")
@click.option(
    "--env",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a variable the plugin needs. May be repeated.",
)
@click.option("--yes", is_flag=True, help="Install without asking; the change is still shown.")
@as_json
def install(name: str, given: tuple[str, ...], yes: bool, chosen: Options) -> None:
    """Install a plugin, after showing what would change.

    Shows the command and the file change, asks, starts the server, then writes the file. If the server does
    not start or the file cannot be written, nothing changes. To keep a secret out of the file, use the value
    ${NAME}, which is read from your environment at every start.

    \b
    toolsight marketplace install fixtures/currency --config .mcp.json
    """
    pairs = dict(_pair(one) for one in given)

    async def work(bench: Workbench) -> None:
        show(await _install(bench, name, pairs, agreed=yes), ())

    _run(work, chosen)


@session_command("remove", takes=_SESSION)
@click.argument("server")
@click.option("--yes", is_flag=True, help="Remove without asking; the change is still shown.")
@as_json
def remove(server: str, yes: bool, chosen: Options) -> None:
    """Remove a server from the configuration.

    Keeps a backup of the file.

    \b
    toolsight marketplace remove currency --config .mcp.json
    """

    async def work(bench: Workbench) -> None:
        show(await _remove(bench, server, agreed=yes), ())

    _run(work, chosen)


@session_command("import", takes=(DATABASE,))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--name", default="", help="Name to import the catalog under. Default: the file's name.")
@as_json
def import_catalog(file: Path, name: str, chosen: Options) -> None:
    """Import a plugin catalog for all sessions.

    FILE is a catalog in Toolsight's format, a server.json, or a registry's response that lists servers.
    Entries that cannot be read are counted and skipped. Importing under the same name replaces the earlier
    catalog.

    \b
    toolsight marketplace import servers.json
    """

    found = read_catalog(file)
    if not found.plugins:
        why = f": {found.problems[0]}" if found.problems else ""
        raise ConfigError(f"{file} has no readable plugins{why}", hint="Is it a marketplace catalog?")
    kept = keep_catalog(imported_path(chosen), name or file.stem, found.plugins)
    lines = [f"imported {count(len(found.plugins), 'plugin')} to {kept}"]
    blocked = sum(bool(plugin.package.obstacle) for plugin in found.plugins)
    if blocked:
        lines.append(f"{blocked:,} of them cannot be installed here; `show` says why")
    show({"file": str(kept), "plugins": len(found.plugins), "problems": found.problems}, lines)
    if not is_json():
        _say_problems(found.problems)


def _say_problems(problems: Sequence[str]) -> None:
    if not problems:
        return
    say(f"skipped {count(len(problems), 'entry', 'entries')}:", err=True)
    for problem in problems[:_PROBLEMS_TOLD]:
        say(f"  {problem[:300]}", err=True)
    if len(problems) > _PROBLEMS_TOLD:
        say(f"  … and {len(problems) - _PROBLEMS_TOLD:,} more", err=True)


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise ConfigError(f"--env {name} has no value", hint="Write --env NAME=VALUE.")
    return name.strip(), value
