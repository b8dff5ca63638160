"""Which recorded sessions are meant: by id, age, agent and profile; and reading them one after another."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from inspector.cli.composition import open_store
from inspector.cli.options import Options, database
from inspector.cli.progress import Progress
from inspector.config.setting import find_profile
from inspector.core.closest import closest
from inspector.core.error import ConfigError, StoreError
from inspector.core.events import Record, SessionStarted, SettingsChanged
from inspector.core.ports import SystemClock
from inspector.core.store_ports import EventStore, SessionSummary
from inspector.measure.telemetry.discovery import OWN

F = TypeVar("F", bound=Callable[..., Any])
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True, slots=True)
class Chosen:
    """The sessions that are meant, the oldest first, and where they are."""

    store: EventStore
    sessions: tuple[str, ...]

    def records(self, kinds: Sequence[str]) -> Iterator[Record]:
        """Their records of these kinds; one session is in memory at a time."""
        progress = Progress(SystemClock())
        for number, session in enumerate(self.sessions, start=1):
            progress("reading sessions", number, len(self.sessions))
            yield from self.store.read(session, kinds=kinds)
        progress.clear()


def _since(_context: click.Context, _parameter: click.Parameter, text: str) -> float:
    return since(text, SystemClock().now()) if text else 0.0


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


def _profile(_context: click.Context, _parameter: click.Parameter, name: str) -> str:
    return find_profile(name).name if name else ""


_OPTIONS = (
    click.argument("sessions", nargs=-1, metavar="[SESSION]..."),
    click.option(
        "--since",
        "after",
        default="",
        callback=_since,
        metavar="TIME",
        help="Only sessions active since a date (2026-11-01, UTC) or within a period (7d, 12h).",
    ),
    click.option(
        "--agent",
        default="",
        metavar="NAME",
        help=f"Only this agent's sessions; {OWN} means those recorded here.",
    ),
    click.option(
        "--profile",
        default="",
        callback=_profile,
        metavar="NAME",
        help="Only sessions that began under this profile.",
    ),
    database,
)


def choosing(function: F) -> F:
    """Add the options that choose sessions; the command receives them as `chosen`."""

    @wraps(function)
    def command(
        sessions: tuple[str, ...],
        after: float,
        agent: str,
        profile: str,
        database: Path | None,
        **rest: Any,
    ) -> Any:
        store = open_store(Options(database=database))
        return function(chosen=_chosen(store, sessions, after, agent, profile), **rest)

    decorated: Any = command
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def _chosen(store: EventStore, named: Sequence[str], after: float, agent: str, profile: str) -> Chosen:
    stored = store.sessions()
    known = {one.id for one in stored}
    for session in named:
        if session not in known:
            raise StoreError(f"there is no session '{session}'", hint="`toolsight sessions` lists them.")
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
            and (not profile or _began_under(store, one.id) == profile)
        )

    return Chosen(store, tuple(one.id for one in reversed(stored) if is_meant(one)))


def _began_under(store: EventStore, session: str) -> str:
    """The profile of a session at its start, "" if it has none: an imported one does not."""
    for record in store.read(session, kinds=(SessionStarted.kind, SettingsChanged.kind)):
        if isinstance(record.event, SessionStarted):
            return record.event.profile
    return ""
