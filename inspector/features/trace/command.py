"""`toolsight sessions`: those recorded, one as its timeline, events or spans, and what calls follow what."""

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import to_builtins

from inspector.cli.location import database_path, tap_notes_path
from inspector.cli.options import (
    COMMON,
    DATABASE,
    CommandGroup,
    Options,
    as_json,
    require_nobody,
    session_command,
)
from inspector.cli.stores import open_store, require_sessions
from inspector.cli.table import Progress, is_gathered, is_json, say, say_json, say_raw, say_report, show
from inspector.core.error import ConfigError, StoreError
from inspector.core.events import EVENT_TYPES, Record
from inspector.core.events.base import record_json
from inspector.core.inertia import Aging, InertiaGraph
from inspector.core.number import shown_moment
from inspector.core.ports import EventStore, SessionSummary, SystemClock
from inspector.core.redaction import clean
from inspector.core.report import NAME, NUMBER, TIME, Column, Table
from inspector.core.settings import InertiaSettings
from inspector.core.text import closest
from inspector.core.turns import turns
from inspector.store.server_memory import TapNotes
from inspector.store.shared_session import is_shared, opened_session
from inspector.store.store import SqliteStore

if TYPE_CHECKING:
    from inspector.loop.flow import Flow
    from inspector.session.timeline import Timeline

_SESSIONS = (
    Column("session", "id", NAME),
    Column("started (UTC)", "started_at", TIME),
    Column("searches", kind=NUMBER),
    Column("calls", kind=NUMBER),
    Column("agent", lambda one: one.agent or "toolsight"),
    Column("servers", lambda one: Path(one.config).name),
    Column("first question", lambda one: one.question or ("running" if one.is_running else "")),
)


@click.group(cls=CommandGroup, invoke_without_command=True, takes=COMMON)
@as_json
@click.pass_context
def sessions(context: click.Context, /, chosen: Options) -> None:
    """List the recorded sessions, newest first.

    \b
    toolsight sessions show                  the newest one, call by call
    toolsight sessions import --agent codex  what Codex did on this machine
    """
    if context.invoked_subcommand is None:
        require_nobody(chosen)
        for note in TapNotes(tap_notes_path()).all():
            say(f"{note.text}. `toolsight doctor` lists the checks.", err=True)
        stored = open_store(chosen).sessions()
        empty = "No sessions recorded yet. Record one with `toolsight demo --headless`."
        show(list(map(to_builtins, stored)), [Table.of(_SESSIONS, stored) if stored else empty])


def _say_spans(records: Iterable[Record], *, content: bool) -> None:
    """Print the records as spans, an export a line."""
    from inspector.features.trace.metrics.spans import export_lines, spans

    # What is recorded is redacted by the rules of its day; what leaves is by those of today, too.
    redacted = (Record(one.session, one.seq, one.at, clean(one.event)) for one in records)
    for line in export_lines(spans(redacted, content=content)):
        say_raw(f"{line}\n")


# A recorded session's timeline as text: what each model call did, and which tools were bound when, and why.


def _timeline_json(session: str, shown: "Timeline") -> dict[str, Any]:
    moves = [move for column in range(1, shown.now + 1) for move in shown.moves_at(column)]
    return {
        "session": session,
        "calls": list(map(to_builtins, shown.calls)),
        "lanes": [
            {"tool": lane.tool, "during": [state for state, _ in lane.states(1, shown.now)]}
            for lane in shown.lanes
        ],
        "moves": list(map(to_builtins, moves)),
        "rest": shown.rest(shown.now),
        "tally": to_builtins(shown.tally(shown.now)),
    }


# A turn and what is in it know one another: how many objects are made between two looks for what is over.
# With the ten times as many of a start, 100,000 events take twice the memory.
_NEW_OBJECTS = 20_000
TIMELINE, EVENTS, SPANS = "timeline", "events", "spans"
_EVENTS = (
    Column("#", "seq", NUMBER),
    Column("time (UTC)", lambda record: shown_moment(record.at, "%Y-%m-%d %H:%M:%S")),
    Column("kind"),
    Column("what", lambda record: record.event.summary()),
)


@session_command("show", takes=COMMON)
@click.argument("session", default="")
@click.option(
    "--as",
    "form",
    type=click.Choice([TIMELINE, EVENTS, SPANS]),
    help="timeline (default): the tools bound in each model call, and every change; events: all events; "
    "spans: OpenTelemetry.",
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(sorted(EVENT_TYPES)),
    help="Only events of this kind. May be repeated.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Only the newest N events.")
@click.option(
    "--content",
    is_flag=True,
    help="With --as spans: include messages, queries, arguments and results, redacted.",
)
@as_json
def show_session(
    session: str, form: str | None, kinds: tuple[str, ...], limit: int | None, content: bool, chosen: Options
) -> None:
    """Show a session as a timeline, events or spans.

    Without SESSION, shows the newest session; SESSION may be a file that ends in .toolsight.

    \b
    toolsight sessions show --kind search --kind evict
    toolsight sessions show --as spans > session.jsonl
    """
    form = _form(form, asks_events=bool(kinds or limit), asks_spans=content)
    require_nobody(chosen)
    with _opened(session, chosen) as (store, found):
        if form == SPANS:
            _say_spans(store.stream(found), content=content)
        elif form == TIMELINE:
            _show_timeline(store, found)
        else:
            records = store.read(found, kinds=kinds, limit=limit)
            show([record_json(record) for record in records], [Table.of(_EVENTS, records)])


def _show_timeline(store: EventStore, session: str) -> None:
    from inspector.features.agents.facts import tools_json, tools_shown
    from inspector.features.agents.finding import KINDS, by_tokens, findings
    from inspector.features.trace.facts import timeline_report
    from inspector.session.timeline import KINDS as TIMELINE_KINDS, Timeline

    shown, in_timeline = Timeline(), frozenset(TIMELINE_KINDS)
    gc.set_threshold(_NEW_OBJECTS)

    def read() -> Iterator[Record]:
        for record in store.stream(session, sorted(in_timeline.union(KINDS)), outline=True):
            if record.kind in in_timeline:
                shown.after(record)
                # What calls cost is not shown, and would take most of the memory.
                shown.costs.clear()
            yield record

    tools = by_tokens([findings(read(), lambda _model: None)])
    if is_json():
        say_json(_timeline_json(session, shown) | {"tools": tools_json(tools)})
    else:
        listed = (f"listed {one.event.summary()}" for one in store.read(session, kinds=("listed",), limit=1))
        say_report(chain(timeline_report(session, shown, drawn=is_gathered()), listed, tools_shown(tools)))


def _form(form: str | None, *, asks_events: bool, asks_spans: bool) -> str:
    """What is shown: as it was named, or as the other options imply. Raises UsageError if they differ."""
    if asks_events and (asks_spans or form not in (None, EVENTS)):
        raise click.UsageError("--kind and --limit go with --as events")
    if asks_spans and form not in (None, SPANS):
        raise click.UsageError("--content goes with --as spans")
    return form or (EVENTS if asks_events else SPANS if asks_spans else TIMELINE)


@contextmanager
def _opened(session: str, chosen: Options) -> Iterator[tuple[EventStore, str]]:
    """A store, and the session in it: of a file that was shared, of that name, or the newest one."""
    if is_shared(session):
        with opened_session(Path(session)) as (database, found), SqliteStore(database) as store:
            yield store, found
    else:
        with open_store(chosen) as store:
            yield store, _chosen(store, session)


def _chosen(store: EventStore, session: str) -> str:
    stored = require_sessions(store, [session] if session else [])
    if not stored:
        raise StoreError("no session has been recorded yet", hint="`toolsight sessions` lists them.")
    return session or stored[0].id


def _graphs(options: Options) -> dict[str, InertiaGraph]:
    """What each persona called after what in the recorded sessions. Raises ConfigError and StoreError."""
    from inspector.store.call_history import RecordedCalls

    graphs: dict[str, InertiaGraph] = {}
    for task in RecordedCalls(SqliteStore(database_path(options))).tasks():
        graphs.setdefault(task.persona, InertiaGraph()).add(task)
    return graphs


@session_command("next", takes=(DATABASE,))
@click.option("--persona", default="", help="Whose habits to show: an agent, a toolset or a name.")
@as_json
def next_tools(persona: str, chosen: Options) -> None:
    """Show which tools are called next, and how likely each is.

    What --json prints is a file for the setting inertia.seed.

    \b
    toolsight sessions next --persona claude-code
    """
    from inspector.loop.flow import PERSONAS, exported, flows, following

    found = flows(_graphs(chosen), Aging(SystemClock().now(), InertiaSettings().half_life_days))
    if found or is_json():
        meant = _of_persona(found, persona)
        show(list(map(exported, meant)), (Table.of(PERSONAS, found), following(meant[0])) if found else ())
    else:
        say("No calls recorded yet. Import real agents' calls with `toolsight sessions import --agent NAME`.")


def _of_persona(found: "Sequence[Flow]", persona: str) -> "Sequence[Flow]":
    """The flow of that persona; all of them without a name. Raises ConfigError, with the nearest names."""
    chosen = [one for one in found if persona in ("", one.persona)]
    if not chosen and persona:
        names = [one.persona for one in found]
        near = closest(persona, names) or tuple(names) or ("none",)
        raise ConfigError(f"there is no persona '{persona}'", hint=f"Recorded personas: {', '.join(near)}.")
    return chosen


# Statistics over sessions.

_OWN = "toolsight"
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def _read(store: EventStore, sessions: Sequence[str], kinds: Sequence[str]) -> Iterator[Record]:
    """The events of these kinds; none is kept in memory."""
    gc.set_threshold(_NEW_OBJECTS)
    with Progress() as progress:
        for number, session in enumerate(sessions, start=1):
            progress("reading sessions", number, len(sessions))
            yield from store.stream(session, kinds, outline=True)


def since(text: str, now: float) -> float:
    """The moment that a date (`2026-11-01`, UTC) or an age (`7d`, `12h`) names. Raises ConfigError."""
    if text[:-1].isdecimal() and text[-1:] in _UNITS:
        try:
            age = timedelta(**{_UNITS[text[-1]]: int(text[:-1])})
            return now - age.total_seconds()
        except OverflowError:
            return 0.0
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(
            f"--since {text} is not a date or an age",
            hint="Use a date such as 2026-11-01 (UTC), or an age such as 7d or 12h.",
        ) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _meant(store: EventStore, named: Sequence[str], after: float, agent: str) -> list[str]:
    """The sessions that are meant, the oldest first. Raises StoreError."""
    stored = require_sessions(store, named)
    agents = {one.agent or _OWN for one in stored}
    if agent and stored and agent not in agents:
        near = closest(agent, sorted(agents), limit=3)
        raise StoreError(
            f"there are no sessions of '{agent}'", hint=f"Agents with sessions: {', '.join(near or agents)}."
        )

    def is_meant(one: SessionSummary) -> bool:
        return (
            (not named or one.id in named)
            and one.ended_at >= after
            and (not agent or (one.agent or _OWN) == agent)
        )

    return [one.id for one in reversed(stored) if is_meant(one)]


def _show_phrases(store: EventStore, meant: Sequence[str]) -> None:
    from inspector.features.trace.metrics.phrases import COLUMNS, KINDS as TOLD, candidates, phrases_json

    found = candidates(turns(_read(store, meant, TOLD)))
    nothing = "No search was in vain in a turn that called another tool later."
    show(phrases_json(found), [Table.of(COLUMNS, found) if found else nothing])


_NO_SESSIONS = (
    "No matching sessions. `toolsight sessions` lists them; `toolsight demo --headless` records one."
)


@session_command(takes=(DATABASE,))
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option(
    "--since",
    "after",
    default="",
    callback=lambda _context, _parameter, text: since(text, SystemClock().now()) if text else 0.0,
    metavar="TIME",
    help="Only sessions active since a date (2026-11-01, UTC) or within a period (7d, 12h).",
)
@click.option(
    "--agent",
    default="",
    metavar="NAME",
    help=f"Only this agent's sessions; {_OWN} means those recorded here.",
)
@click.option("--phrases", is_flag=True, help="Only list searches in vain with what was called instead.")
@as_json
def metrics(sessions: tuple[str, ...], after: float, agent: str, phrases: bool, chosen: Options) -> None:
    """Summarize sessions: searches, latency, failures, tokens.

    By default, covers all sessions, recorded here and imported. Shares have 95 % intervals. The backlog lists
    unmet requests: searches that found nothing, or that were followed by another search or by the end of the
    turn before any tool they found was called. Searches with words in common count as one. With
    --phrases, --json prints what a server's entry in a configuration may have as `phrases`, by server.

    \b
    toolsight sessions metrics --since 7d
    """
    from inspector.features.trace.metrics.facts import overview, sections, stats_json
    from inspector.features.trace.metrics.gathering import KINDS as COUNTED, Telemetry

    store = open_store(chosen)
    meant = _meant(store, sessions, after, agent)
    if phrases:
        _show_phrases(store, meant)
        return
    gathered = Telemetry()
    for turn in turns(_read(store, meant, COUNTED)):
        gathered.add(turn)
    gathered.end()
    if is_json():
        say_json(stats_json(gathered))
    elif not gathered.events:
        say(_NO_SESSIONS)
    else:
        say(overview(gathered))
        for section in sections(gathered):
            if section.tables:
                say_report([f"\n{section.title}", *section.tables])
