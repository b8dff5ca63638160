"""Plugins of the marketplace as rows, and the chosen one whole."""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.core.marketplace import MarketplaceReport, Suggestion, price_text, rating_text
from inspector.core.number import bar, count, percent
from inspector.core.ranking import Signal
from inspector.features.marketplace.plugin import Plugin
from widgets import Column, Record, plain

Listed = Sequence[tuple[Plugin, Suggestion | None]]
"""Plugins in the order of the list, each with what a search says of it."""
COLUMNS = (
    Column("mark", "", width=1, weight=9),
    Column("plugin", "plugin", weight=5, min_width=16, shorten="middle"),
    Column("fits", "fits", align="right", weight=8),
    Column("category", "category", weight=2, min_width=8, hide_below=52),
    Column("price", "price", align="right", weight=4, min_width=5, hide_below=40),
    Column("rating", "rating", align="right", weight=6),
    Column("tools", "tools", align="right", weight=7),
)
NO_CATALOG = (
    "No catalogs yet. Add one to marketplace.catalogs (ctrl+o), or run: toolsight marketplace import FILE"
)
NOTHING_FITS = "No plugin matches. esc shows all plugins."
YOURS = "only you can install, never a model"
NOT_YOURS = "only the administrator can install and remove"
INSTALLED, BLOCKED = "✓", "✕"
_UNKNOWN = "?"
_BAR, _LABEL = 6, 10
_TEXT, _NAMED = 2_000, 60
_SIGNALS = {Signal.SEMANTIC: "meaning", Signal.WORDS: "words as written", Signal.SERVER: "its plugin"}


def facts(
    plugins: Sequence[Plugin],
    installed: int,
    report: MarketplaceReport | None,
    problems: int,
    *,
    whole: bool = True,
) -> Content:
    """Return how many plugins there are, and what a search found."""
    left_out = f"   {count(problems, 'entry', 'entries')} could not be read" if problems else ""
    if report is None:
        known = f"{count(len(plugins), 'plugin')}, {installed} installed {INSTALLED}"
        note = f"   {YOURS if whole else NOT_YOURS}"
        return Content.assemble((known, "bold"), (note, MUTED), (left_out, "$text-warning"))
    found = len(report.suggestions)
    sure = f"   confidence {percent(report.probability)}" if report.probability is not None else ""
    return Content.assemble(
        (f"{found} of {count(report.considered, 'plugin')} may fit", "bold"),
        " “",
        plain(report.query, newlines=False, limit=_NAMED),
        (f"”{sure}   {report.installed} installed, left out", MUTED),
        (left_out, "$text-warning"),
    )


def listed(plugins: Sequence[Plugin], report: MarketplaceReport | None) -> Listed:
    """Return the plugins in their order, or those that a search found, best first."""
    if report is None:
        return tuple((plugin, None) for plugin in plugins)
    by_name = {plugin.name: plugin for plugin in plugins}
    return tuple((by_name[one.plugin], one) for one in report.suggestions if one.plugin in by_name)


def columns(shown: Listed) -> tuple[Column, ...]:
    """Return the columns; fits, prices and ratings have none where no plugin of the list has one."""
    told = {
        "fits": any(found is not None for _, found in shown),
        "price": any(plugin.price is not None for plugin, _ in shown),
        "rating": any(plugin.rating is not None for plugin, _ in shown),
    }
    return tuple(column for column in COLUMNS if told.get(column.key, True))


def rows(shown: Listed, servers: Mapping[str, str]) -> tuple[Record, ...]:
    """Return a row for each of the `listed`, in these `columns`.

    `servers` holds the server of each installed plugin.
    """
    keys = [column.key for column in columns(shown)]
    return tuple(_row(plugin, servers.get(plugin.name, ""), found, keys) for plugin, found in shown)


def _row(plugin: Plugin, server: str, found: Suggestion | None, keys: Sequence[str]) -> Record:
    state = INSTALLED if server else BLOCKED if plugin.package.obstacle else ""
    cells = {
        "mark": state,
        "plugin": plugin.name,
        "fits": percent(found.similarity) if found is not None else "",
        "category": plugin.category,
        "price": price_text(plugin.price) or _UNKNOWN,
        "rating": rating_text(plugin.rating) or _UNKNOWN,
        "tools": str(len(plugin.tools)) if plugin.tools else _UNKNOWN,
    }
    return Record(plugin.name, tuple(cells[key] for key in keys), "muted" if state else "", copy=plugin.name)


def detail(plugin: Plugin, server: str, found: Suggestion | None) -> Content:
    """Return everything that is known of a plugin, with why it fits and what would be started."""
    version = plain(plugin.version, newlines=False, limit=_NAMED).stylize(MUTED)
    head = Content.assemble(_text(plugin.name).stylize("bold"), "   ", version)
    parts = [head, _text(plugin.description), Content("\n").join(_lines(plugin, server))]
    if found is not None:
        parts.insert(1, _why(found))
    if plugin.tools:
        title = Content.styled(f"{count(len(plugin.tools), 'tool')}, according to its publisher", MUTED)
        named = (
            Content.assemble("• ", _text(one.name).stylize("bold"), "  ", _text(one.description))
            for one in plugin.tools
        )
        parts.append(Content("\n").join([title, *named]))
    else:
        parts.append(Content.styled("The catalog does not list its tools.", MUTED))
    return Content("\n\n").join(parts)


def _lines(plugin: Plugin, server: str) -> Iterator[Content]:
    package, said = plugin.package, plugin.permissions
    known = (
        ("state", f"installed as {server}" if server else ""),
        ("publisher", plugin.publisher),
        ("from", plugin.origin),
        ("price", price_text(plugin.price)),
        ("rating", f"{rating_text(plugin.rating)} of 5" if plugin.rating is not None else ""),
    )
    to_start = (
        ("package", package.label),
        ("command", shlex.join((package.command, *package.args)) if package.command else ""),
        ("address", package.url),
    )
    needs = (
        (
            "needs" if one.required else "takes",
            f"{one.name}{' (secret)' * one.secret}{f': {one.description}' if one.description else ''}",
        )
        for one in package.variables
    )
    reaches = (("files", said.files), ("network", said.network), ("variables", said.environment))
    yield from (_line(label, text) for label, text in known if text)
    if package.obstacle:
        yield Content.assemble(("! cannot be installed here: ", "$text-warning"), _text(package.obstacle))
    yield from (_line(label, text) for label, text in to_start if text)
    yield from (_line(label, text) for label, text in needs)
    yield from (_line(label, text or "not stated by the publisher") for label, text in reaches)


def _line(label: str, text: str) -> Content:
    return Content.assemble((f"{label:<{_LABEL}}", MUTED), _text(text))


def _text(text: str) -> Content:
    return plain(text, newlines=False, limit=_TEXT)


def _why(found: Suggestion) -> Content:
    """Return how well it fits, by which of its texts, and what that text's score is made of."""
    by = f"matches its tool {found.matched}" if found.matched else "matches its description"
    sums: dict[str, float] = {}
    for part in found.score.parts:
        name = _SIGNALS.get(part.signal, part.signal.name.lower())
        sums[name] = sums.get(name, 0.0) + part.value
    made = "   ".join(f"{name} {value:+.2f}" for name, value in sums.items())
    return Content.assemble(
        ("fits ", MUTED),
        (f"{bar(found.similarity, _BAR):<{_BAR}}", "$primary"),
        (f" {percent(found.similarity)}", "bold"),
        " ",
        _text(by),
        (f"\nscore {found.score.value:.2f}: {made}", MUTED),
    )
