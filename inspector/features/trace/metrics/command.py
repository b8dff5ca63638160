"""`toolsight sessions metrics`: what was searched and called, how fast, and what failed."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import click

from inspector.cli.composition import open_store, require_sessions
from inspector.cli.options import DATABASE, Options, as_json, session_command
from inspector.cli.table import Progress, is_json, show
from inspector.core.error import ConfigError, StoreError
from inspector.core.events import Record
from inspector.core.ports import EventStore, SessionSummary, SystemClock
from inspector.core.report import Table
from inspector.core.text import closest
from inspector.core.turns import turns
from inspector.features.trace.metrics.discovery import OWN
from inspector.features.trace.metrics.facts import overview, sections, stats_json
from inspector.features.trace.metrics.gathering import KINDS, Telemetry

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def _records(store: EventStore, sessions: Sequence[str]) -> Iterator[Record]:
    """What statistics are made of; one session is in memory at a time."""
    with Progress() as progress:
        for number, session in enumerate(sessions, start=1):
            progress("reading sessions", number, len(sessions))
            yield from store.read(session, kinds=KINDS)


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


def _chosen(store: EventStore, named: Sequence[str], after: float, agent: str) -> list[str]:
    """The sessions that are meant, the oldest first. Raises StoreError."""
    stored = require_sessions(store, named)
    agents = {one.agent or OWN for one in stored}
    if agent and stored and agent not in agents:
        near = closest(agent, sorted(agents), limit=3)
        raise StoreError(
            f"there are no sessions of '{agent}'", hint=f"Agents with sessions: {', '.join(near or agents)}."
        )

    def is_meant(one: SessionSummary) -> bool:
        return (
            (not named or one.id in named)
            and one.ended_at >= after
            and (not agent or (one.agent or OWN) == agent)
        )

    return [one.id for one in reversed(stored) if is_meant(one)]


_NOTHING = "No matching sessions. `toolsight sessions` lists them; `toolsight demo --headless` records one."


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
    help=f"Only this agent's sessions; {OWN} means those recorded here.",
)
@as_json
def metrics(sessions: tuple[str, ...], after: float, agent: str, chosen: Options) -> None:
    """Summarize sessions: searches, latency, failures, tokens.

    By default, covers all sessions, recorded here and imported. Shares have 95 % intervals. The backlog lists
    unmet requests: searches that found nothing, or that were followed by another search or by the end of the
    turn before any tool they found was called. Searches with words in common count as one.

    \b
    toolsight sessions metrics --since 7d
    """
    store = open_store(chosen)
    meant = _chosen(store, sessions, after, agent)
    gathered = Telemetry()
    for turn in turns(_records(store, meant)):
        gathered.add(turn)
    gathered.end()
    show(stats_json(gathered) if is_json() else None, _metrics(gathered))


def _metrics(gathered: Telemetry) -> Iterator[str | Table]:
    if not gathered.events:
        yield _NOTHING
        return
    yield overview(gathered)
    for section in sections(gathered):
        if section.tables:
            yield f"\n{section.title}"
            yield from section.tables
