"""Plugins of the marketplace, for people and as JSON."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from inspector.core.error import ToolsightError
from inspector.core.marketplace import MarketplaceReport, price_text, rating_text
from inspector.core.number import count, milliseconds
from inspector.core.report import NAME, NUMBER, SHARE, Column, Table, selected
from inspector.features.marketplace.marketplace import marketplace_of
from inspector.features.marketplace.plugin import Plugin, Variable, installation_facts, missing_values
from inspector.session.workbench import Workbench

_NONE = (
    "No catalogs found. Add one with --catalog or the setting marketplace.catalogs, import one with "
    "`toolsight marketplace import FILE`, or try the demo's with --demo."
)
FOUND = (
    "query suggestions{plugin description category price rating publisher origin version tools similarity "
    "matched score{tool_id value parts{signal term value inputs}}} considered installed why milliseconds "
    "probability"
)
_PLUGIN = (
    "name description package{kind identifier version command args url "
    "variables{name description required secret default place} obstacle} category price rating publisher "
    "origin version tools{name description} permissions{files network environment}"
)
FACT = "label text warns"
_PRICE = Column("price", lambda one: price_text(one.price) or "?")
_RATING = Column("rating", lambda one: rating_text(one.rating) or "?", NUMBER)


def further(found: MarketplaceReport | None) -> Iterator[str | Table]:
    """What the marketplace has where a search of tools went on there, apart from the tools."""
    if found is not None and found.suggestions:
        yield f"In the marketplace, not installed ({found.why}):"
        yield from suggestion_lines(found)


def suggestion_lines(found: MarketplaceReport) -> Iterator[str | Table]:
    """The suggestions, best first."""
    if not found.considered:
        yield _NONE if not found.installed else "Every plugin in the marketplace is already installed."
        return
    columns = (
        Column("plugin", kind=NAME),
        Column("fits", "similarity", SHARE),
        Column("matched", lambda one: one.matched or "itself"),
        Column("category"),
        *_terms(found.suggestions),
        Column("what", "description"),
    )
    yield Table.of(columns, found.suggestions) if found.suggestions else "No plugin matches."
    left = f", {found.installed} already installed and not listed" if found.installed else ""
    sure = f"   fits {found.probability:.2f}" if found.probability is not None else ""
    took = milliseconds(found.milliseconds)
    yield f"{len(found.suggestions)} of {count(found.considered, 'plugin')}{left}{sure}   {took}"


def _terms(rows: Sequence[Any]) -> Iterator[Column]:
    """The columns of prices and ratings, without those that none of the rows has."""
    return (column for column in (_PRICE, _RATING) if any(column.text(row) != "?" for row in rows))


def plugin_lines(bench: Workbench, plugins: Sequence[Plugin]) -> Iterator[str | Table]:
    """A line for each plugin."""
    if plugins:
        columns = (
            Column("plugin", "name", NAME),
            Column("category"),
            *_terms(plugins),
            Column("tools", lambda one: len(one.tools) or "?", NUMBER),
            Column("state", partial(_state, bench)),
        )
        yield Table.of(columns, plugins)
        yield count(len(plugins), "plugin")
    else:
        yield _NONE


def _state(bench: Workbench, plugin: Plugin) -> str:
    server = marketplace_of(bench).server_of(plugin)
    if server:
        return f"installed as {server}"
    return "cannot be installed here" if plugin.package.obstacle else ""


def plugin_report(bench: Workbench, plugin: Plugin) -> Iterator[str]:
    """Everything that is known of a plugin."""
    package = plugin.package
    said = (
        price_text(plugin.price),
        f"rated {rating_text(plugin.rating)} out of 5" if plugin.rating is not None else "",
    )
    yield f"{plugin.name}   {plugin.version}".rstrip()
    yield plugin.description
    rows = (
        ("publisher", plugin.publisher),
        ("origin", plugin.origin),
        ("category", plugin.category),
        ("terms", ", ".join(filter(None, said))),
        ("state", _state(bench, plugin)),
        ("blocked", package.obstacle),
        ("package", package.label),
        ("command", " ".join((package.command, *package.args)).strip()),
        ("address", package.url),
        ("files", plugin.permissions.files),
        ("network", plugin.permissions.network),
        ("variables", plugin.permissions.environment),
        *(("needs" if one.required else "takes", variable_text(one)) for one in package.variables),
    )
    yield from (f"  {label:<10} {value}" for label, value in rows if value)
    yield from (f"  - {tool.name}: {tool.description}".rstrip(": ") for tool in plugin.tools)


def variable_text(variable: Variable) -> str:
    """A variable with what it is for; the value of a secret is never shown."""
    secret = " (secret)" if variable.secret else ""
    default = f" [{variable.default}]" if variable.default and not variable.secret else ""
    about = f": {variable.description}" if variable.description else ""
    return f"{variable.name}{secret}{default}{about}"


def plugin_json(bench: Workbench, plugin: Plugin) -> dict[str, Any]:
    """Everything that is known of a plugin, and what installing it would start."""
    known: dict[str, Any] = selected(plugin, _PLUGIN)
    known["installed_as"] = marketplace_of(bench).server_of(plugin)
    for variable in known["package"]["variables"]:
        if variable["secret"]:
            variable["default"] = ""
    if not known["installed_as"] and not plugin.package.obstacle and not missing_values(plugin, {}):
        try:
            known["starts"] = selected(
                installation_facts(plugin, marketplace_of(bench).plan(plugin.name)), FACT
            )
        except ToolsightError as error:
            known["refused"] = error.message
    return known
