"""The plugins of a marketplace as text and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from inspector.cli.table import say, say_table
from inspector.config.installation import Installation
from inspector.core.error import ToolsightError
from inspector.core.marketplace import MarketplaceReport, Suggestion
from inspector.core.number import count, milliseconds, percent
from inspector.core.plugin import Plugin, Variable, missing_values, price_text, rating_text
from inspector.session.workbench import Workbench

_NONE = (
    "No catalogs found. Add one with --catalog or the setting marketplace.catalogs, import one with "
    "`toolsight marketplace import FILE`, or try the demo's with --demo."
)
_WITHOUT = "?"
_TERMS, _NUMBERS = ("price", "rating"), ("fits", "rating", "tools")


async def settled_search(bench: Workbench, query: str, limit: int) -> MarketplaceReport:
    """Search once to know what there is to embed, and again when it is embedded."""
    bench.marketplace.look(query, limit)
    await bench.marketplace.settled()
    return bench.marketplace.look(query, limit)


def search_json(found: MarketplaceReport) -> dict[str, Any]:
    """The search with every part of its scores."""
    return asdict(found)


def say_found(found: MarketplaceReport) -> None:
    """Print the suggestions, best first."""
    if not found.considered:
        say(_NONE if not found.installed else "Every plugin in the marketplace is already installed.")
        return
    if found.suggestions:
        rows = [_found_row(one) for one in found.suggestions]
        _say_table(("plugin", "fits", "matched", "category", "price", "rating", "what"), rows)
    else:
        say("No plugin matches.")
    left = f", {found.installed} already installed and not listed" if found.installed else ""
    sure = f"   fits {found.probability:.2f}" if found.probability is not None else ""
    took = milliseconds(found.milliseconds)
    say(f"{len(found.suggestions)} of {count(found.considered, 'plugin')}{left}{sure}   {took}")


def _found_row(one: Suggestion) -> tuple[str, ...]:
    terms = (price_text(one.price) or _WITHOUT, rating_text(one.rating) or _WITHOUT)
    return (
        one.plugin,
        percent(one.similarity),
        one.matched or "itself",
        one.category,
        *terms,
        one.description,
    )


def say_plugins(bench: Workbench, plugins: Sequence[Plugin]) -> None:
    """Print a line for each plugin."""
    if not plugins:
        say(_NONE if not bench.marketplace.plugins else "No plugins in that category.")
        return
    rows = [
        (
            one.name,
            one.category,
            price_text(one.price) or _WITHOUT,
            rating_text(one.rating) or _WITHOUT,
            str(len(one.tools)) if one.tools else _WITHOUT,
            _state(bench, one),
        )
        for one in plugins
    ]
    _say_table(("plugin", "category", "price", "rating", "tools", "state"), rows)
    say(count(len(plugins), "plugin"))


def _say_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a line for each plugin, without the prices and ratings that none of them has."""
    kept = [
        at
        for at, header in enumerate(headers)
        if header not in _TERMS or any(row[at] != _WITHOUT for row in rows)
    ]
    shown = [headers[at] for at in kept]
    numbers = frozenset(at for at, header in enumerate(shown) if header in _NUMBERS)
    say_table(shown, [[row[at] for at in kept] for row in rows], right=numbers, whole=frozenset({0}))


def _state(bench: Workbench, plugin: Plugin) -> str:
    server = bench.marketplace.server_of(plugin)
    if server:
        return f"installed as {server}"
    return "cannot be installed here" if plugin.package.obstacle else ""


def say_plugin(bench: Workbench, plugin: Plugin) -> None:
    """Print everything that is known of a plugin."""
    package = plugin.package
    said = (
        price_text(plugin.price),
        f"rated {rating_text(plugin.rating)} out of 5" if plugin.rating is not None else "",
    )
    say(f"{plugin.name}   {plugin.version}".rstrip())
    say(plugin.description)
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
    )
    for label, value in rows:
        if value:
            say(f"  {label:<10} {value}")
    for variable in package.variables:
        say(f"  {'needs' if variable.required else 'takes':<10} {variable_text(variable)}")
    for tool in plugin.tools:
        say(f"  - {tool.name}: {tool.description}".rstrip(": "))


def variable_text(variable: Variable) -> str:
    """A variable with what it is for; the value of a secret is never shown."""
    secret = " (secret)" if variable.secret else ""
    default = f" [{variable.default}]" if variable.default and not variable.secret else ""
    about = f": {variable.description}" if variable.description else ""
    return f"{variable.name}{secret}{default}{about}"


def plugin_json(bench: Workbench, plugin: Plugin) -> dict[str, Any]:
    """Everything that is known of a plugin, and what installing it would start."""
    known = asdict(plugin) | {"installed_as": bench.marketplace.server_of(plugin)}
    for variable in known["package"]["variables"]:
        if variable["secret"]:
            variable["default"] = ""
    if not known["installed_as"] and not plugin.package.obstacle and not missing_values(plugin, {}):
        try:
            known["starts"] = facts_json(bench.marketplace.plan(plugin.name))
        except ToolsightError as error:
            known["refused"] = error.message
    return known


def facts_json(wanted: Installation) -> list[dict[str, Any]]:
    """The lines that a person is shown before a yes."""
    return [asdict(fact) for fact in wanted.facts()]


def further_json(found: MarketplaceReport | None) -> dict[str, Any]:
    """What a search of tools adds to its own answer if it went on in the marketplace."""
    return {"marketplace": search_json(found)} if found is not None else {}


def say_further(found: MarketplaceReport | None) -> None:
    """Print what the marketplace has where a search of tools went on there, apart from the tools."""
    if found is not None and found.suggestions:
        say(f"In the marketplace, not installed ({found.why}):")
        say_found(found)
