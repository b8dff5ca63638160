"""What could be installed: searched, listed, shown, imported, and installed or removed by a person."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from inspector.cli.group import CommandGroup
from inspector.cli.marketplace import report
from inspector.cli.marketplace.installing import install_plugin, remove_server
from inspector.cli.marketplace.opening import open_marketplace
from inspector.cli.options import (
    ACCESS,
    CommonOption,
    Options,
    approve,
    as_json,
    checked_values,
    configured,
    database,
    options,
)
from inspector.cli.run import run
from inspector.cli.table import say, say_json
from inspector.config.setting import find_knob
from inspector.core.error import ConfigError
from inspector.core.number import count
from inspector.session.workbench import Workbench

F = TypeVar("F", bound=Callable[..., Any])
_PROBLEMS_TOLD = 10
_COMMANDS = {
    "search": "marketplace.command",
    "show": "marketplace.command",
    "install": "marketplace.command",
    "remove": "marketplace.command",
    "import": "marketplace.command:import_catalog",
}


def _options(function: F) -> F:
    for option in (
        database,
        approve,
        configured,
        click.option("--demo", is_flag=True, cls=CommonOption, help="Use the demo's servers."),
        click.option(
            "--catalog",
            "catalogs",
            multiple=True,
            metavar="FILE",
            help="Use this catalog file. May be repeated.",
        ),
        *reversed(ACCESS),
    ):
        function = option(function)
    return function


def _chosen(catalogs: tuple[str, ...], **values: Any) -> Options:
    if catalogs:
        pairs = (f"marketplace.catalogs={','.join(catalogs)}",)
        values["values"] = {**values["values"], **checked_values("--catalog", pairs, find_knob)}
    return options(**values)


@click.group(cls=CommandGroup, modules=_COMMANDS)
def marketplace() -> None:
    """Find, install and remove servers.

    Only you can install servers, never a model. Catalogs come from --catalog or the setting
    marketplace.catalogs, and from those you import.

    \b
    toolsight marketplace search "exchange rates" --demo
    """


@click.command()
@click.argument("query", default="", metavar="[QUERY]")
@click.option(
    "--limit", default=5, show_default=True, type=click.IntRange(1, 100), help="Maximum number of plugins."
)
@click.option("--category", default="", help="Without QUERY: list only plugins in this category.")
@_options
@as_json
def search(query: str, limit: int, category: str, as_json: bool, **values: Any) -> None:
    """Search plugins by what they do; without QUERY, list all.

    \b
    toolsight marketplace search "exchange rates" --demo
    """
    if query and category:
        raise click.UsageError("Use either QUERY or --category, not both.")

    async def work() -> None:
        async with open_marketplace(_chosen(**values)) as bench:
            if query:
                found = await report.settled_search(bench, query, limit)
                say_json(report.search_json(found)) if as_json else report.say_found(found)
            else:
                _list(bench, category, as_json=as_json)

    run(work())


def _list(bench: Workbench, category: str, *, as_json: bool) -> None:
    """Print every plugin of the catalogs, with what is installed already."""
    market = bench.marketplace
    shown = [one for one in market.plugins if category in ("", one.category)]
    if as_json:
        plugins = [report.plugin_json(bench, one) for one in shown]
        say_json({"plugins": plugins, "problems": market.problems})
        return
    report.say_plugins(bench, shown)
    _say_problems(market.problems)


@click.command("show")
@click.argument("name")
@_options
@as_json
def show(name: str, as_json: bool, **values: Any) -> None:
    """Show a plugin's tools, command and requirements.

    \b
    toolsight marketplace show fixtures/currency --demo
    """

    async def work() -> None:
        async with open_marketplace(_chosen(**values)) as bench:
            plugin = bench.marketplace.find(name)
            say_json(report.plugin_json(bench, plugin)) if as_json else report.say_plugin(bench, plugin)

    run(work())


@click.command("install")
@click.argument("name")
@click.option(
    "--env",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a variable the plugin needs. May be repeated.",
)
@click.option("--yes", is_flag=True, help="Install without asking; the change is still shown.")
@_options
@as_json
def install(name: str, given: tuple[str, ...], yes: bool, as_json: bool, **values: Any) -> None:
    """Install a plugin, after showing what would change.

    Shows the command and the file change, asks, starts the server, then writes the file. If the server does
    not start or the file cannot be written, nothing changes. To keep a secret out of the file, use the value
    ${NAME}, which is read from your environment at every start.

    \b
    toolsight marketplace install fixtures/currency --config .mcp.json
    """
    pairs = dict(_pair(one) for one in given)

    async def work() -> None:
        async with open_marketplace(_chosen(**values)) as bench:
            done = await install_plugin(bench, name, pairs, agreed=yes)
            if as_json:
                say_json(done)

    run(work())


@click.command("remove")
@click.argument("server")
@click.option("--yes", is_flag=True, help="Remove without asking; the change is still shown.")
@_options
@as_json
def remove(server: str, yes: bool, as_json: bool, **values: Any) -> None:
    """Remove a server from the configuration.

    Keeps a backup of the file.

    \b
    toolsight marketplace remove currency --config .mcp.json
    """

    async def work() -> None:
        async with open_marketplace(_chosen(**values)) as bench:
            done = await remove_server(bench, server, agreed=yes)
            if as_json:
                say_json(done)

    run(work())


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--name", default="", help="Name to import the catalog under. Default: the file's name.")
@database
@as_json
def import_catalog(file: Path, name: str, as_json: bool, database: Path | None) -> None:
    """Import a plugin catalog for all sessions.

    FILE is a catalog in Toolsight's format, a server.json, or a registry's response that lists servers.
    Entries that cannot be read are counted and skipped. Importing under the same name replaces the earlier
    catalog.

    \b
    toolsight marketplace import servers.json
    """
    from inspector.cli.location import imported_path
    from inspector.registry.marketplace.reader import keep_catalog, read_catalog

    found = read_catalog(file)
    if not found.plugins:
        why = f": {found.problems[0]}" if found.problems else ""
        raise ConfigError(f"{file} has no readable plugins{why}", hint="Is it a marketplace catalog?")
    kept = keep_catalog(imported_path(Options(database=database)), name or file.stem, found.plugins)
    if as_json:
        say_json({"file": str(kept), "plugins": len(found.plugins), "problems": found.problems})
        return
    say(f"imported {count(len(found.plugins), 'plugin')} to {kept}")
    blocked = sum(bool(plugin.package.obstacle) for plugin in found.plugins)
    if blocked:
        say(f"{blocked:,} of them cannot be installed here; `show` says why")
    _say_problems(found.problems)


def _say_problems(problems: tuple[str, ...]) -> None:
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
