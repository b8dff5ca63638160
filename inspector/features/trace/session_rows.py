"""The rows of the sessions page: what is known of a session at a glance."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from msgspec import Struct
from textual.content import Content

from inspector.core.number import count, money, shown_moment, tokens
from inspector.core.ports import SessionSummary
from inspector.features.agents.finding import Findings
from widgets import Column, Record

COLUMNS = (
    Column("mark", "", width=1),
    Column("started", "started (UTC)", width=16),
    Column("question", "first question", weight=8, min_width=10),
    Column("servers", "servers", weight=3, min_width=16, shorten="middle", hide_below=100),
    Column("agent", "agent", weight=4, min_width=14),
    Column("session", "session", weight=4, min_width=10, shorten="middle", hide_below=140),
    Column("searches", "searches", align="right", width=8, weight=1),
    Column("missed", "missed", align="right", width=6, weight=6),
    Column("calls", "calls", align="right", width=5, weight=2),
    Column("tools", "tools", align="right", width=6, weight=5, hide_below=100),
    Column("results", "results", align="right", width=7, weight=5, hide_below=100),
    Column("cost", "cost", align="right", width=8, weight=5),
)
OWN = "toolsight"


def facts(found: Sequence[SessionSummary]) -> Content:
    """Return how many sessions there are, and whose."""
    others = sum(bool(session.agent) for session in found)
    return Content(f"{count(len(found), 'session')}, {others:,} of other agents")


class Outline(Struct, frozen=True):
    """What a row shows of a session's findings, made when it had so many events."""

    events: int = 0
    missed: str = ""
    tools: str = ""
    results: str = ""
    cost: str = ""


UNREAD = Outline()


def outline(events: int, found: Findings) -> Outline:
    """Return how many searches missed, the tokens of definitions and of results, and the cost.

    That is in dollars if they were reported, else in tokens sent.
    """
    reported = found.reported
    cost = money(reported.dollars) if reported.priced else f"{tokens(reported.input or found.sent)} tok"
    missed = f"{len(found.misses):,}" if found.searches else "–"
    results = sum(use.results for use in found.servers.values())
    tools, read = (tokens(size) if size else "–" for size in (found.definitions, results))
    return Outline(events, missed, tools, read, cost if found.model_calls else "–")


def live_first(found: Sequence[SessionSummary]) -> list[SessionSummary]:
    """What agents do now comes first: the session of this app has often begun after theirs."""
    return sorted(found, key=lambda one: not (one.agent and one.is_running))


def rows(
    found: Sequence[SessionSummary], marks: Mapping[str, str], outlines: Mapping[str, Outline]
) -> tuple[Record, ...]:
    """Return a row a session, newest first, with its mark if it has one."""
    return tuple(_row(one, outlines.get(one.id, UNREAD), marks.get(one.id, "")) for one in found)


def _row(session: SessionSummary, known: Outline, mark: str) -> Record:
    cells = (
        mark or ("●" if session.is_running else " "),
        shown_moment(session.started_at),
        session.question or "–",
        PurePath(session.config).name,
        session.agent or OWN,
        session.id,
        f"{session.searches:,}",
        known.missed,
        f"{session.calls:,}",
        known.tools,
        known.results,
        known.cost,
    )
    searched = (session.id, session.agent, session.config, session.model, session.question)
    return Record(session.id, cells, search=" ".join(searched), copy=session.id)
