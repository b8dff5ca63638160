"""What is known of plugins, for page, terminal and programs, and what is asked before a file changes."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from inspector.config.server_change import Addition, Removal, ServerChange
from inspector.config.suspect import lookalikes
from inspector.core.error import ToolsightError
from inspector.core.marketplace import NO_CATALOG, price_text, rating_text, terms_columns
from inspector.core.number import count
from inspector.core.package_run import PackageKind, package_run, program_name, runs_anything
from inspector.core.redaction import clean
from inspector.core.report import NAME, NUMBER, YES, Block, Column, Diff, Fact, Facts, Option, Question, Table
from inspector.features.marketplace.marketplace import Marketplace
from inspector.features.marketplace.plugin import Plugin, Variable, missing_values

_NO = Option("no", "no")
_NETWORK = {
    PackageKind.NPM: "npx fetches the package and its dependencies from npm and runs it",
    PackageKind.PYPI: "uvx fetches the package and its dependencies from PyPI and runs it",
    PackageKind.OCI: "docker fetches the image and runs it",
}


def state_text(plugin: Plugin, server: str) -> str:
    """Under which name it is installed, or that it cannot be; "" if it could be."""
    if server:
        return f"installed as {server}"
    return "cannot be installed here" if plugin.package.obstacle else ""


def plugin_facts(plugin: Plugin, server: str) -> Facts:
    """Where a plugin is from, what it would start, and what it says that it needs."""
    package = plugin.package
    is_blocked = bool(package.obstacle) and not server
    state = state_text(plugin, server) + (f": {package.obstacle}" if is_blocked else "")
    known = (
        Fact("state", state, is_blocked),
        Fact("publisher", plugin.publisher),
        Fact("from", plugin.origin),
        Fact("category", plugin.category),
        Fact("price", price_text(plugin.price)),
        Fact("rating", f"{rating_text(plugin.rating)} of 5" if plugin.rating is not None else ""),
        Fact("package", package.label),
        Fact("command", shlex.join(package.argv)),
        Fact("address", package.url),
        *(Fact("needs" if one.required else "takes", variable_text(one)) for one in package.variables),
    )
    return Facts(tuple(fact for fact in known if fact.text))


def variable_text(variable: Variable) -> str:
    """A variable with what it is for; the value of a secret is never shown."""
    secret = " (secret)" if variable.secret else ""
    default = f" [{variable.default}]" if variable.default and not variable.secret else ""
    about = f": {variable.description}" if variable.description else ""
    return f"{variable.name}{secret}{default}{about}"


def plugin_report(plugin: Plugin, server: str) -> Iterator[Block]:
    """Everything that is known of a plugin."""
    yield f"{plugin.name}   {plugin.version}".rstrip()
    yield plugin.description
    yield plugin_facts(plugin, server)
    yield from (f"  - {tool.name}: {tool.description}".rstrip(": ") for tool in plugin.tools)


def plugin_list(plugins: Sequence[Plugin], server_of: Callable[[Plugin], str]) -> Iterator[Block]:
    """A line for each plugin."""
    if not plugins:
        yield NO_CATALOG
        return
    columns = (
        Column("plugin", "name", NAME),
        Column("category"),
        *terms_columns(plugins),
        Column("tools", lambda one: len(one.tools) or "?", NUMBER),
        Column("state", lambda one: state_text(one, server_of(one))),
    )
    yield Table.of(columns, plugins)
    yield count(len(plugins), "plugin")


def plugin_json(market: Marketplace, plugin: Plugin) -> dict[str, Any]:
    """Everything that is known of a plugin, and what installing it would start."""
    known: dict[str, Any] = to_builtins(plugin)
    known["installed_as"] = market.server_of(plugin)
    for variable in known["package"]["variables"]:
        if variable["secret"]:
            variable["default"] = ""
    if not known["installed_as"] and not plugin.package.obstacle and not missing_values(plugin, {}):
        try:
            known["starts"] = starts_json(plugin, market.plan(plugin.name))
        except ToolsightError as error:
            known["refused"] = error.message
    return known


def starts_json(plugin: Plugin, wanted: Addition) -> list[Mapping[str, object]]:
    """What programs read of what installing starts."""
    return list(map(to_builtins, installation_facts(plugin, wanted)))


def installation_facts(plugin: Plugin, wanted: Addition) -> tuple[Fact, ...]:
    """What is started and what it fetches; what needs a look is marked."""
    told = (
        *wanted.consent.facts(),
        *(Fact("look-alike", f"{one} is not {known}", True) for one, known in lookalikes((), plugin.name)),
        *(replace(fact, text=wanted.covered(fact.text)) for fact in _run_facts(wanted.spec.shown_argv)),
        Fact("reaches", "whatever you can: the server runs with your permissions"),
    )
    return tuple(fact for fact in told if fact.text)


def _run_facts(argv: tuple[str, ...]) -> Iterator[Fact]:
    """What the words themselves say of what is fetched and run, whatever a catalog says of them."""
    run = package_run(argv)
    if run is not None:
        yield Fact("package", run.label)
        if run.name and not run.is_exact:
            yield Fact("version", "no exact version given, so the newest one runs", True)
        if run.options:
            yield Fact("options", f"for {program_name(argv[0])} itself: {shlex.join(run.options)}", True)
        yield Fact("fetches", _NETWORK[run.kind])
    yield Fact("shell", runs_anything(argv), True)


def installation_question(plugin: Plugin, wanted: Addition) -> Question:
    """Whether to start a plugin's server: what it runs, and what becomes of the file."""
    known = installation_facts(plugin, wanted)
    marked = sum(fact.warns for fact in known)
    warning = [Fact("", f"Check the lines marked ! ({marked})", warns=True)] if marked else []
    head = Fact("", f"would be installed as {wanted.server}")
    facts = Facts((head, *warning, *known), plugin.name)
    title, yes = "Install and start this server?", Option(YES, "install and start it")
    return Question(title, (facts, _change(wanted.becomes)), (yes, _NO), is_exact=True)


def removal_question(wanted: Removal) -> Question:
    """Whether to take a server out of the file, and what becomes of that."""
    told = f"{wanted.server} will be disconnected and its tools removed."
    yes = Option(YES, "remove it")
    return Question("Remove this server?", (told, _change(wanted.becomes)), (yes, _NO))


def _change(becomes: ServerChange) -> Diff | str:
    if becomes.change is None:
        return becomes.note
    title = f"{becomes.path} would change; a backup is kept next to it:"
    return Diff(title, tuple(becomes.diff(clean)))
