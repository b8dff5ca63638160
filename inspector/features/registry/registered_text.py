"""The tools of a registry in words: what there is, a list of some of it, the versions of one tool."""

from collections.abc import Sequence
from itertools import chain

from textual.content import Content

from inspector.app.draw.line import MUTED, diff_lines
from inspector.core.number import bar, count, shown_moment
from inspector.core.session import ServerState
from inspector.features.registry.acceptance import Neighbour, RegisteredTool, SyncReport
from inspector.features.registry.facts import (
    FIRST,
    NOTHING_SEEN,
    Health,
    HealthState,
    ToolHealth,
    embedded_text,
    history,
    report_text,
)
from inspector.features.registry.library import Overview, Synchronised
from widgets import Column, Record, plain, visible

_TOOL, _ORIGIN, _VERSION, _SINCE = (
    Column("tool", "tool", weight=4, shorten="name", min_width=14),
    Column("origin", "origin", weight=2, shorten="middle", min_width=8, hide_below=44),
    Column("version", "version", align="right", width=7),
    Column("since", "since", width=10, hide_below=60),
)
TOOLS = (_TOOL, _ORIGIN, _VERSION, _SINCE)
HEALTHY = (_TOOL, _ORIGIN, Column("health", "health", width=13, hide_below=56), _VERSION, _SINCE)
"""The columns where the health of tools may be known."""
FOUND = (
    Column("tool", "tool", weight=4, shorten="name", min_width=14),
    Column("bar", "", width=10, hide_below=40),
    Column("cosine", "cosine", align="right", width=6),
    Column("origin", "origin", weight=2, shorten="middle", min_width=8, hide_below=52),
)
READING = "Reading the registry …"
SEARCHING = "Searching by meaning …"
EMPTY = (
    "The registry is empty. Press i to import the connected servers' tools.\n"
    "`toolsight registry import FILE` reads a saved tools/list response or an export."
)
NO_MATCH = "No id contains this text. Clear the filter to see every tool."
NOT_FOUND = "Nothing is embedded yet. Press m to embed the tools so this search can find them."
NOT_HERE = "This session has no registry. Run `toolsight registry` to see one."
_NOTHING = Content()
NOT_CONNECTED = "Its server is not connected: you can find it here, but not load, edit or call it."
_BAR, _LONGEST, _ORIGINS, _SAID = 10, 200, 4, 4000


def empty(*, whole: bool) -> str:
    """Return the text for a registry without tools; `whole` says whether its reader may see all of it."""
    return EMPTY if whole else NOTHING_SEEN


def facts(overview: Overview, *, whole: bool = True) -> Content:
    """Return how many tools there are, of where, and how many a search by meaning can find."""
    if not overview.tools:
        return Content(empty(whole=whole).partition("\n")[0])
    most = sorted(overview.origins.items(), key=lambda pair: (-pair[1], pair[0]))
    named = [f"{visible(name, limit=40, newlines=False)} {number:,}" for name, number in most[:_ORIGINS]]
    more = f", and {len(most) - len(named):,} more" if len(most) > len(named) else ""
    share = embedded_text(overview.embedded, overview.tools)
    is_missing = overview.embedded < overview.tools and overview.model and whole
    missing = ", m embeds the rest" if is_missing else ""
    return Content.assemble(
        (count(overview.tools, "tool"), "bold"),
        f" from {count(len(most), 'origin')}: {', '.join(named)}{more}",
        (f"   {share if overview.model else 'no embeddings'}{missing}", MUTED),
    )


def rows(tools: Sequence[RegisteredTool], health: Health | None) -> tuple[Record, ...]:
    """Return a row for each tool; without `health` for the columns TOOLS, else for HEALTHY."""
    rows = []
    for one in tools:
        id_ = one.tool.id
        known = () if health is None else (health_cell(health.of(id_)),)
        cells = (id_, one.origin, *known, f"{one.version:,}", shown_moment(one.at, "%Y-%m-%d"))
        rows.append(Record(id_, cells, copy=id_))
    return tuple(rows)


_HEALTH = {
    HealthState.WORKS: ("●", "$text-success"),
    HealthState.FAILING: ("⚠", "$text-warning"),
    HealthState.BLOCKED: ("✕", "$text-error"),
    HealthState.UNCALLED: ("○", MUTED),
}


def health_cell(health: ToolHealth) -> Content:
    """Return a tool's health as a sign, a word and how many calls failed."""
    sign, style = _HEALTH[health.state]
    return Content.styled(f"{sign} {health.brief}", style)


def health_line(health: ToolHealth, server: ServerState | None) -> Content:
    """Return all that is known of a tool's health: its calls, its circuit breaker, its server if here."""
    known = health.told(server)
    told = plain(f"   {known}" if known else "", limit=_LONGEST, newlines=False)
    return Content.assemble(health_cell(health), told.stylize(MUTED))


def found_rows(found: Sequence[Neighbour]) -> tuple[Record, ...]:
    """Return a row for each tool that was found, with its cosine as a bar."""
    return tuple(
        Record(
            one.found.tool.id,
            (
                one.found.tool.id,
                bar(max(one.similarity, 0.0), _BAR),
                f"{one.similarity:.2f}",
                one.found.origin,
            ),
            copy=one.found.tool.id,
        )
        for one in found
    )


def title(shown: int, total: int, part: str) -> str:
    """Return the title of the list: how much of it is there."""
    matching = f" with “{visible(part, limit=40, newlines=False)}”" if part else ""
    if shown >= total:
        return f"{count(total, 'tool')}{matching}"
    return f"the first {shown:,} of {count(total, 'tool')}{matching}; / filters them"


def found_title(found: int, query: str) -> str:
    """Return the title of the list of what was found."""
    return f"{count(found, 'nearest tool')} to “{visible(query, limit=60, newlines=False)}”; esc lists all"


def detail(versions: Sequence[RegisteredTool], *, connected: bool, health: Content = _NOTHING) -> Content:
    """Return a tool: what it does, its health, where it came from, and what each version changed."""
    if not versions:
        return Content()
    newest = versions[0]
    state = ("● in this session", "$text-success") if connected else ("○ not in this session", MUTED)
    if not newest.is_there:
        state = ("✕ removed from its origin", "$text-warning")
    lines = [
        Content.assemble(plain(newest.tool.id, limit=_LONGEST, newlines=False).stylize("bold"), "   ", state),
        *([health] if health else []),
        plain(newest.tool.description.strip() or "(no description)", limit=_SAID),
    ]
    for one, changes in history(versions):
        lines += [Content(), _version(one)]
        if changes is None:
            lines.append(Content.styled(FIRST, MUTED))
        else:
            lines += chain.from_iterable(map(diff_lines, changes))
    return Content("\n").join(lines)


def synchronised(done: Sequence[Synchronised]) -> str:
    """Return what a synchronisation did, and which servers were left out."""
    reports = [one.report for one in done if one.report is not None]
    names = ("added", "changed", "unchanged", "removed")
    total = SyncReport(*(sum(getattr(one, name) for one in reports) for name in names))
    told = [f"{count(len(reports), 'server')}: {report_text(total)}"]
    for one in done:
        if one.report is None:
            server = visible(one.server, limit=40, newlines=False)
            told.append(f"skipped {server}: {visible(one.why, limit=80)}")
    return "\n".join(told)


def _version(one: RegisteredTool) -> Content:
    return Content.assemble(
        (f"version {one.version:,}", "bold"),
        f"   {shown_moment(one.at)}   ",
        plain(one.origin, limit=_LONGEST, newlines=False),
        (f"   {one.hash[:12]}", MUTED),
    )
