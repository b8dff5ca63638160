"""What could be installed: searched, listed, shown, imported, and installed or removed by a person."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

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
from inspector.cli.render import say, say_json
from inspector.cli.run import run
from inspector.domain.error import ConfigError
from inspector.domain.knob import find_knob
from inspector.domain.number import count

F = TypeVar("F", bound=Callable[..., Any])
_PROBLEMS_TOLD = 10


def _options(function: F) -> F:
    for option in (
        database,
        approve,
        configured,
        click.option("--demo", is_flag=True, cls=CommonOption, help="Use the demo's servers."),
        click.option(
            "--catalog", "catalogs", multiple=True, metavar="FILE", help="Search this file of plugins."
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


@click.group()
def marketplace() -> None:
    """Find, install and remove servers of a marketplace; nothing is installed without a person's yes.

    The catalogs are those of the setting marketplace.catalogs, of --catalog, and what was imported.
    """


@marketplace.command("search")
@click.argument("query")
@click.option("--limit", default=5, show_default=True, type=click.IntRange(1, 100), help="The most plugins.")
@_options
@as_json
def search(query: str, limit: int, as_json: bool, **values: Any) -> None:
    """Search the plugins that are not installed, and say how well each fits."""

    async def work() -> None:
        async with open_marketplace(_chosen(**values)) as bench:
            found = await report.settled_search(bench, query, limit)
            say_json(report.search_json(found)) if as_json else report.say_found(found)

    run(work())


@marketplace.command("list")
@click.option("--category", default="", help="Only plugins of this category.")
@_options
@as_json
def list_plugins(category: str, as_json: bool, **values: Any) -> None:
    """List every plugin of the catalogs, with what is installed already."""

    async def work() -> None:
        async with open_marketplace(_chosen(**values)) as bench:
            market = bench.marketplace
            shown = [one for one in market.plugins if category in ("", one.category)]
            if as_json:
                say_json(
                    {
                        "plugins": [report.plugin_json(bench, one) for one in shown],
                        "problems": market.problems,
                    }
                )
                return
            report.say_plugins(bench, shown)
            _say_problems(market.problems)

    run(work())


@marketplace.command("show")
@click.argument("name")
@_options
@as_json
def show(name: str, as_json: bool, **values: Any) -> None:
    """Show a plugin: its tools, the exact command, what it needs and what it says that it reaches."""

    async def work() -> None:
        async with open_marketplace(_chosen(**values)) as bench:
            plugin = bench.marketplace.find(name)
            say_json(report.plugin_json(bench, plugin)) if as_json else report.say_plugin(bench, plugin)

    run(work())


@marketplace.command("install")
@click.argument("name")
@click.option(
    "--env", "given", multiple=True, metavar="NAME=VALUE", help="The value of a variable that it needs."
)
@click.option("--yes", is_flag=True, help="Install it without asking; what it changes is told all the same.")
@_options
@as_json
def install(name: str, given: tuple[str, ...], yes: bool, as_json: bool, **values: Any) -> None:
    """Install a plugin: show the command and the change of the file, ask, start it, then write the file.

    If it does not start, or the file cannot be written, everything is as it was. A secret need not be in the
    file: the value ${NAME} takes it from your environment at every start.
    """
    pairs = dict(_pair(one) for one in given)

    async def work() -> None:
        async with open_marketplace(_chosen(**values)) as bench:
            done = await install_plugin(bench, name, pairs, agreed=yes)
            if as_json:
                say_json(done)

    run(work())


@marketplace.command("remove")
@click.argument("server")
@click.option("--yes", is_flag=True, help="Remove it without asking; what it changes is told all the same.")
@_options
@as_json
def remove(server: str, yes: bool, as_json: bool, **values: Any) -> None:
    """Take a server out of the configuration, installed from a marketplace or not; a backup is kept."""

    async def work() -> None:
        async with open_marketplace(_chosen(**values)) as bench:
            done = await remove_server(bench, server, agreed=yes)
            if as_json:
                say_json(done)

    run(work())


@marketplace.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--name", default="", help="Keep it under this name; by default, the file's.")
@database
@as_json
def import_catalog(file: Path, name: str, as_json: bool, database: Path | None) -> None:
    """Keep the plugins of a catalog or of a snapshot of an MCP registry, for every session.

    FILE is Toolsight's own format, a server.json, or an answer of a registry's list of servers. Entries that
    cannot be read are counted and left out. The same name again replaces what was imported before.
    """
    from inspector.adapters.files.marketplace.reader import keep_catalog, read_catalog
    from inspector.cli.composition import imported_path

    found = read_catalog(file)
    if not found.plugins:
        why = f": {found.problems[0]}" if found.problems else ""
        raise ConfigError(f"{file} has no plugin that can be read{why}", hint="Is it a marketplace catalog?")
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
    say(f"left out: {count(len(problems), 'entry', 'entries')}", err=True)
    for problem in problems[:_PROBLEMS_TOLD]:
        say(f"  {problem[:300]}", err=True)
    if len(problems) > _PROBLEMS_TOLD:
        say(f"  … and {len(problems) - _PROBLEMS_TOLD:,} more", err=True)


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise ConfigError(f"--env {name} has no value", hint="Write --env NAME=VALUE.")
    return name.strip(), value
