"""The texts of the sessions page: sessions as rows, what one of them shows, and what an import did."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.app.draw.table import table_lines
from inspector.clients.finding import Findings, ServerUse
from inspector.clients.library import Found, ImportReport
from inspector.clients.miss import backlog
from inspector.core.number import byte_size, count, money, shown_moment, tokens
from inspector.core.report import Table
from inspector.core.store_ports import SessionSummary
from widgets import Column, Record, plain, visible

COLUMNS = (
    Column("mark", "", width=1),
    Column("started", "started (UTC)", width=16),
    Column("question", "first question", weight=8, min_width=16),
    Column("servers", "servers", weight=3, shorten="middle", hide_below=100),
    Column("agent", "agent", weight=4, min_width=9),
    Column("session", "session", weight=4, min_width=10, shorten="middle", hide_below=140),
    Column("searches", "searches", align="right", width=8, weight=1),
    Column("missed", "missed", align="right", width=6, weight=6),
    Column("calls", "calls", align="right", width=5, weight=2),
    Column("cost", "cost", align="right", width=8, weight=5),
)
READING = "Reading the recorded sessions …"
EMPTY = "No sessions recorded yet."
OWN = "toolsight"
NOT_HERE = "This session cannot import. Use `toolsight sessions import`."
_LONGEST, _QUERY, _MISSES = 200, 80, 8
_SERVERS = ("server", "known", "deferred", "loaded", "called", "calls", "trouble")
_NUMBERS = frozenset(range(1, 6))


def facts(found: Sequence[SessionSummary]) -> Content:
    """Return how many sessions there are, and whose."""
    imported = sum(bool(session.agent) for session in found)
    return Content(f"{count(len(found), 'session')}, {imported:,} imported from agents' transcripts")


def importing(done: int, total: int) -> Content:
    """Return how far an import is, in bytes."""
    return Content(
        f"Importing: {byte_size(done)} of {byte_size(total)}. esc stops; the next import continues."
    )


def imported(report: ImportReport) -> Content:
    """Return what an import did, with what was not understood."""
    done = report.imported
    parts = [
        f"{count(report.transcripts, 'transcript')}: {done.new:,} new, {done.grown:,} extended",
        f"{count(done.added, 'event')} stored",
    ]
    odd = done.tally.unknown.total() + done.tally.malformed.total()
    parts += [f"{count(odd, 'record')} not understood"] if odd else []
    parts += [f"{count(len(report.skipped), 'file')} skipped"] if report.skipped else []
    parts += [f"{count(len(done.held), 'session')} still being written"] if done.held else []
    parts += [] if done.is_complete else ["stopped early"]
    return Content("; ".join(parts))


def requests(added: int, path: str) -> Content:
    """Return what became of a session's searches."""
    if not added:
        return Content("Nothing to add: no tool found by any other search was called.")
    return Content.assemble(f"{count(added, 'request')} added to ", plain(path, newlines=False))


@dataclass(frozen=True, slots=True)
class Outline:
    """What a row shows of a session's findings, made when it had so many events."""

    events: int = 0
    missed: str = ""
    cost: str = ""


UNREAD = Outline()


def outline(events: int, found: Findings) -> Outline:
    """Return how many searches missed, and what the session cost: dollars if reported, else tokens sent."""
    reported = found.reported
    cost = money(reported.dollars) if reported.priced else f"{tokens(reported.input or found.sent)} tok"
    missed = f"{len(found.misses):,}" if found.searches else "–"
    return Outline(events, missed, cost if found.model_calls else "–")


def unread(found: Sequence[SessionSummary], known: Mapping[str, Outline]) -> list[SessionSummary]:
    """Return the sessions without an outline, or with more events than their outline knows."""
    return [one for one in found if known.get(one.id, UNREAD).events != one.events]


def rows(
    found: Sequence[SessionSummary], current: str, outlines: Mapping[str, Outline]
) -> tuple[Record, ...]:
    """Return a row a session, newest first; the one that is shown has a mark."""
    return tuple(
        Record(
            session.id,
            (
                "✓" if session.id == current else " ",
                shown_moment(session.started_at),
                visible(session.question or "–", limit=_LONGEST, newlines=False),
                visible(PurePath(session.config).name, limit=_LONGEST, newlines=False),
                visible(session.agent or OWN, limit=_LONGEST, newlines=False),
                visible(session.id, limit=_LONGEST, newlines=False),
                f"{session.searches:,}",
                outlines.get(session.id, UNREAD).missed,
                f"{session.calls:,}",
                outlines.get(session.id, UNREAD).cost,
            ),
            search=f"{session.id} {session.agent} {session.config} {session.model} {session.question}",
            copy=session.id,
        )
        for session in found
    )


def folders(found: Sequence[Found]) -> str:
    """Return where transcripts are, as a note below the question for a path."""
    lines = [
        f"{one.agent}: {count(one.files, 'file')}, {byte_size(one.bytes)} in {one.folder}" for one in found
    ]
    told = "Files are only read, nothing leaves this machine, and likely secrets are redacted."
    return "\n".join([*lines, told])


def detail(found: Findings, width: int) -> Content:
    """Return what a session shows: servers, misses, what was loaded for nothing, lost caches, money."""
    return Content("\n").join(_detail(found, width))


def _detail(found: Findings, width: int) -> Iterator[Content]:
    yield Content.styled(_counts(found), "bold")
    yield Content.styled(_reported(found), MUTED)
    if found.servers:
        yield Content()
        table = Table("", _SERVERS, tuple(map(_server, found.servers.values())), _NUMBERS)
        yield from table_lines(table, width)
    yield from _misses(found)
    unused = sorted(tool_id for use in found.servers.values() for tool_id in use.unused)
    if unused:
        yield Content()
        yield Content.styled(f"{count(len(unused), 'tool')} loaded but never called", "bold")
        yield plain(", ".join(unused), limit=_LONGEST * 2, newlines=False)
    if found.rewrites:
        yield Content()
        yield Content.styled(f"Prompt cache lost {count(len(found.rewrites), 'time')}", "bold")
        for lost in found.rewrites[:_MISSES]:
            causes = " and ".join(lost.causes)
            yield Content(f"call {lost.call}: {tokens(lost.tokens)} tokens, probably because {causes}")


def _counts(found: Findings) -> str:
    searches = count(found.searches, "search", "searches")
    missed = f", {len(found.misses):,} missed" if found.searches else ""
    return f"{count(found.model_calls, 'model call')}, {searches}{missed}"


def _reported(found: Findings) -> str:
    reported = found.reported
    if not reported.calls:
        return "the provider reported nothing"
    cost = f"; {money(reported.dollars)} at list prices" if reported.priced else ""
    read = f"{tokens(reported.input)} input tokens, {tokens(reported.read)} of them from the cache"
    return f"reported: {read}, {tokens(reported.output)} output{cost}"


def _server(use: ServerUse) -> tuple[str, ...]:
    trouble = "needs a login" if use.needs_login else use.trouble
    return (
        visible(use.server, limit=_LONGEST, newlines=False),
        f"{len(use.known):,}",
        f"{len(use.deferred):,}",
        f"{len(use.loaded):,}",
        f"{len(use.called):,}",
        f"{use.calls:,}",
        visible(trouble, limit=_QUERY, newlines=False),
    )


def _misses(found: Findings) -> Iterator[Content]:
    groups = backlog(found.misses)
    if not groups:
        return
    yield Content()
    yield Content.styled("Missed searches", "bold")
    for group in groups[:_MISSES]:
        queries = "; ".join(group.queries)
        yield Content.assemble((f"{group.count:,}x ", MUTED), plain(queries, limit=_LONGEST, newlines=False))
    if len(groups) > _MISSES:
        yield Content.styled(f"and {len(groups) - _MISSES:,} more", MUTED)
