"""`toolsight sessions`: the recorded sessions, and one of them as its timeline, its events or spans."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from inspector.cli.composition import open_store
from inspector.cli.options import CommandGroup, Options, as_json, owner_options, shared
from inspector.cli.table import say, say_json, say_raw, say_table
from inspector.core.error import StoreError
from inspector.core.events import EVENT_TYPES, Record
from inspector.core.events.base import record_json
from inspector.core.number import count, percent, plural, shown_moment
from inspector.core.ports import EventStore
from inspector.core.redaction import clean
from inspector.core.session import Binding
from inspector.session.timeline import Lane, ModelCall, Move, Tally, Timeline

_COMMANDS = {
    "show": "sessions",
    "import": "importing:import_sessions",
    "forget": "importing",
    "requests": "importing",
    "agents": "agents",
    "unmet": "metrics",
    "metrics": "metrics",
    "next": "inertia:next_tools",
}


@click.group(cls=CommandGroup, modules=_COMMANDS, invoke_without_command=True)
@shared
@as_json
@click.pass_context
def sessions(context: click.Context, /, as_json: bool, **values: Any) -> None:
    """List the recorded sessions, newest first.

    \b
    toolsight sessions show                  the newest one, call by call
    toolsight sessions import --agent codex  what Codex did on this machine
    """
    if context.invoked_subcommand is None:
        _list(owner_options(**values), as_json=as_json)


def _list(chosen: Options, *, as_json: bool) -> None:
    stored = open_store(chosen).sessions()
    if as_json:
        say_json([asdict(session) for session in stored])
        return
    if not stored:
        say("No sessions recorded yet. Record one with `toolsight demo --headless`.")
        return
    rows = [
        (
            s.id,
            shown_moment(s.started_at, "%Y-%m-%d %H:%M"),
            str(s.searches),
            str(s.calls),
            s.agent or "toolsight",
            Path(s.config).name,
            s.question,
        )
        for s in stored
    ]
    headers = ("session", "started (UTC)", "searches", "calls", "agent", "servers", "first question")
    say_table(headers, rows, right=frozenset({2, 3}), whole=frozenset({0, 1}))


F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class SpanOptions:
    """Where the spans go, by default to standard output, and whether they hold what was said."""

    file: Path | None = None
    endpoint: str = ""
    content: bool = False


_OPTIONS = (
    click.option(
        "--output",
        "span_file",
        type=click.Path(path_type=Path, dir_okay=False),
        help="With --as spans: write them to this file (OTLP, JSON lines).",
    ),
    click.option(
        "--endpoint",
        "span_endpoint",
        default="",
        metavar="URL",
        help="With --as spans: send them to a collector (OTLP over HTTP). Needs the `otel` extra.",
    ),
    click.option(
        "--content",
        "span_content",
        is_flag=True,
        help="With --as spans: include messages, queries, arguments and results, redacted.",
    ),
)


def span_options(function: F) -> F:
    """Add the options; the command receives them as `spans`."""

    @wraps(function)
    def command(span_file: Path | None, span_endpoint: str, span_content: bool, **rest: Any) -> Any:
        if span_file is not None and span_endpoint:
            raise click.UsageError("use either --output or --endpoint, not both")
        return function(spans=SpanOptions(span_file, span_endpoint, span_content), **rest)

    decorated: Any = command
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def export(chosen: SpanOptions, session: str, records: Sequence[Record], *, as_json: bool) -> None:
    """Export the records, and say how many spans they made. Raises ToolsightError."""
    from inspector.measure.telemetry.trace import spans

    # What is recorded is redacted by the rules of its day; what leaves is by those of today, too.
    redacted = (Record(one.session, one.seq, one.at, clean(one.event)) for one in records)
    made = spans(redacted, content=chosen.content)
    if chosen.endpoint:
        from inspector.measure.telemetry.otel import send_spans

        number, where = send_spans(chosen.endpoint, made), chosen.endpoint
    elif chosen.file is not None:
        from inspector.measure.telemetry.otel import write_spans

        number, where = write_spans(chosen.file, made), str(chosen.file)
    else:
        from inspector.measure.telemetry.otel import export_lines

        for line, _ in export_lines(made):
            say_raw(f"{line}\n")
        return
    if as_json:
        say_json({"session": session, "spans": number, "to": where, "content": chosen.content})
        return
    held = "with their content" if chosen.content else "without content; add --content to include it"
    say(f"exported {count(number, 'span')} of session {session} to {where}, {held}")


# A recorded session's timeline as text: which tools were bound in which model calls, and why.

_SIGNS = {
    Binding.PINNED: "⌂",
    Binding.LOADED: "●",
    Binding.DEFERRED: "○",
    Binding.EVICTED: "✕",
    Binding.HELD: "‖",
    None: " ",
}
_COLUMNS = 60


def say_timeline(session: str, records: Iterable[Record], *, as_json: bool) -> None:
    """Print which tools were bound in each model call of a session, and every change."""
    shown = Timeline.of(records)
    if as_json:
        say_json(_json(session, shown))
        return
    say(f"session {session}   {count(len(shown.calls), 'model call')}")
    if shown.calls:
        _say_calls(shown)
    _say_lanes(shown)
    _say_moves(shown)


def _say_calls(shown: Timeline) -> None:
    rows = [_call_row(call) for call in shown.calls]
    headers = ("call", "message", "tool tokens", "same", "resent", "accuracy", "what it did")
    say()
    say_table(headers, rows, right=frozenset({0, 1, 2, 3, 4, 5}))


def _call_row(call: ModelCall) -> tuple[str, ...]:
    did = "\n".join(f"{action.kind}  {action.text}" for action in call.actions)
    return (
        str(call.number),
        str(call.message),
        str(call.tool_tokens),
        str(call.same),
        str(call.resent),
        _accuracy(call.tally),
        did or ("thought" if call.think else ""),
    )


def _accuracy(tally: Tally) -> str:
    return "-" if tally.accuracy is None else percent(tally.accuracy)


def _say_lanes(shown: Timeline) -> None:
    """Print the newest columns, so that each lane fits on a line; the last column is after the last call."""
    first = max(shown.now - _COLUMNS + 1, 1)
    rest = {binding: count for binding, count in shown.rest(shown.now).items() if count}
    say()
    if shown.lanes:
        rows = [(lane.tool, _lane(lane, first, shown.now)) for lane in shown.lanes]
        say_table(("tool", f"calls {first} to {len(shown.calls)}, and after"), rows)
        say("⌂ pinned  ● loaded  ○ deferred  ✕ evicted  ‖ held while its server is offline")
    for binding, tools in rest.items():
        were = plural(tools, "tool was", "tools were")
        say(f"{tools:,} more {were} {binding} throughout")


def _lane(lane: Lane, first: int, now: int) -> str:
    return "".join(_SIGNS[binding] for binding, _ in lane.states(first, now - first + 1))


def _say_moves(shown: Timeline) -> None:
    rows = [_move_row(move) for column in range(1, shown.now + 1) for move in shown.moves_at(column)]
    if not rows:
        say("No tool was bound or unbound.")
        return
    say()
    say_table(("before call", "#", "tool", "from", "to", "why"), rows, right=frozenset({0, 1}))
    tally = shown.tally(shown.now)
    say(
        f"searches {tally.searches}, loads {tally.loads}, evictions {tally.evictions}, "
        f"rejections {tally.rejections}, recoveries {tally.recoveries}, asked the user {tally.asked}, "
        f"accuracy {_accuracy(tally)}"
    )


def _move_row(move: Move) -> tuple[str, ...]:
    before, after = move.binding_from or "-", move.binding_to or "gone"
    return (str(move.call), str(move.seq), move.tool, before, after, move.reason or move.cause)


def _json(session: str, shown: Timeline) -> dict[str, Any]:
    columns = range(1, shown.now + 1)
    return {
        "session": session,
        "calls": [asdict(call) for call in shown.calls],
        "lanes": [
            {"tool": lane.tool, "during": [state for state, _ in lane.states(1, shown.now)]}
            for lane in shown.lanes
        ],
        "moves": [asdict(move) for column in columns for move in shown.moves_at(column)],
        "rest": shown.rest(shown.now),
        "tally": asdict(shown.tally(shown.now)),
    }


TIMELINE, EVENTS, SPANS = "timeline", "events", "spans"


@click.command()
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
@span_options
@shared
@as_json
def show(
    session: str,
    form: str | None,
    kinds: tuple[str, ...],
    limit: int | None,
    spans: SpanOptions,
    as_json: bool,
    **values: Any,
) -> None:
    """Show a session as a timeline, events or spans.

    Without SESSION, shows the newest session.

    \b
    toolsight sessions show --kind search --kind evict
    toolsight sessions show --as spans --output session.jsonl
    """
    form = _form(form, asks_events=bool(kinds or limit), asks_spans=spans != SpanOptions())
    store = open_store(owner_options(**values))
    chosen = _chosen(store, session)
    if form == SPANS:
        export(spans, chosen, store.read(chosen), as_json=as_json)
    elif form == TIMELINE:
        say_timeline(chosen, store.stream(chosen), as_json=as_json)
    else:
        _say_events(store, chosen, kinds, limit, as_json=as_json)


def _form(form: str | None, *, asks_events: bool, asks_spans: bool) -> str:
    """What is shown: as it was named, or as the other options imply. Raises UsageError if they differ."""
    if asks_events and (asks_spans or form not in (None, EVENTS)):
        raise click.UsageError("--kind and --limit go with --as events")
    if asks_spans and form not in (None, SPANS):
        raise click.UsageError("--output, --endpoint and --content go with --as spans")
    return form or (EVENTS if asks_events else SPANS if asks_spans else TIMELINE)


def _chosen(store: EventStore, session: str) -> str:
    stored = [known.id for known in store.sessions()]
    chosen = session or (stored[0] if stored else "")
    if chosen not in stored:
        wanted = f"there is no session '{session}'" if session else "no session has been recorded yet"
        raise StoreError(wanted, hint="`toolsight sessions` lists them.")
    return chosen


def _say_events(
    store: EventStore, session: str, kinds: tuple[str, ...], limit: int | None, *, as_json: bool
) -> None:
    records = store.read(session, kinds=kinds, limit=limit)
    if as_json:
        say_json([record_json(record) for record in records])
        return
    rows = [(str(r.seq), shown_moment(r.at, "%Y-%m-%d %H:%M:%S"), r.kind, r.event.summary()) for r in records]
    say_table(("#", "time (UTC)", "kind", "what"), rows, right=frozenset({0}))
