"""What the sessions page shows: how many, each as a row, an import, and what one session shows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.app.draw.table import table_lines
from inspector.core.number import byte_size, count, money, shown_moment, tokens
from inspector.core.ports import SessionSummary
from inspector.core.report import Table
from inspector.features.agents.finding import Findings, ServerUse
from inspector.features.agents.library import Found, ImportReport, by_tokens, tool_table
from inspector.session.miss import backlog
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
OWN = "toolsight"
_LONGEST, _MISSES = 200, 8
_SERVERS = ("server", "known", "deferred", "loaded", "called", "calls", "tokens", "trouble")
_NUMBERS = frozenset(range(1, 7))


def facts(found: Sequence[SessionSummary]) -> Content:
    """Return how many sessions there are, and whose."""
    others = sum(bool(session.agent) for session in found)
    return Content(f"{count(len(found), 'session')}, {others:,} of other agents")


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


def rows(
    found: Sequence[SessionSummary], current: str, outlines: Mapping[str, Outline]
) -> tuple[Record, ...]:
    """Return a row a session, newest first; the one that is shown has a mark."""
    return tuple(_row(one, outlines.get(one.id, UNREAD), is_shown=one.id == current) for one in found)


def _row(session: SessionSummary, known: Outline, *, is_shown: bool) -> Record:
    cells = (
        "✓" if is_shown else "●" if session.is_running else " ",
        shown_moment(session.started_at),
        session.question or "–",
        PurePath(session.config).name,
        session.agent or OWN,
        session.id,
        f"{session.searches:,}",
        known.missed,
        f"{session.calls:,}",
        known.cost,
    )
    searched = (session.id, session.agent, session.config, session.model, session.question)
    return Record(session.id, cells, search=" ".join(searched), copy=session.id)


def folders(found: Sequence[Found]) -> str:
    """Return where transcripts are, as a note below the question for a path."""
    lines = [
        f"{one.agent}: {count(one.files, 'file')}, {byte_size(one.bytes)} in {one.folder}" for one in found
    ]
    told = "Files are only read, nothing leaves this machine, and likely secrets are redacted."
    return "\n".join([*lines, told])


def detail(found: Findings, width: int) -> Iterator[Content]:
    """Yield what a session shows: servers, misses, what was loaded for nothing, lost caches, money."""
    searches = count(found.searches, "search", "searches")
    missed = f", {len(found.misses):,} missed" if found.searches else ""
    yield Content.styled(f"{count(found.model_calls, 'model call')}, {searches}{missed}", "bold")
    yield Content.styled(_reported(found), MUTED)
    if found.servers:
        yield Content()
        table = Table("", _SERVERS, tuple(map(_server, found.servers.values())), _NUMBERS)
        yield from table_lines(table, width)
    yield from _misses(found)
    yield from _tools(found, width)
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


def _reported(found: Findings) -> str:
    reported = found.reported
    if not reported.calls:
        return "the provider reported nothing"
    if not reported.input:
        return f"reported: {tokens(reported.output)} output tokens, but not the input"
    cost = f"; {money(reported.dollars)} at list prices" if reported.priced else ""
    read = f"{tokens(reported.input)} input tokens, {tokens(reported.read)} of them from the cache"
    return f"reported: {read}, {tokens(reported.output)} output{cost}"


def _server(use: ServerUse) -> tuple[str, ...]:
    trouble = "needs a login" if use.needs_login else use.trouble
    numbers = (len(use.known), len(use.deferred), len(use.loaded), len(use.called), use.calls)
    taken = tokens(use.tokens + use.results)
    told = visible(trouble, limit=80, newlines=False)
    return (use.server, *(f"{number:,}" for number in numbers), taken, told)


def _tools(found: Findings, width: int) -> Iterator[Content]:
    """Yield what the tools took: their definitions, which go with every request, and their calls."""
    tools = by_tokens([found])
    if tools:
        sent, results = (sum(getattr(use, part) for _, use in tools) for part in ("sent", "results"))
        requests = count(found.model_calls, "request")
        definitions = f"{tokens(sent)} tokens of definitions in {requests}, " if sent else ""
        yield Content()
        called = f"{tokens(results)} tokens of arguments and results"
        yield Content.styled(f"Tools took {definitions}{called}", "bold")
        yield from table_lines(tool_table(tools), width)
    if found.tool_tokens is not None:
        yield Content.styled(f"the agent itself counts {tokens(found.tool_tokens)} for one request", MUTED)


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
