"""`toolsight sessions show`: one recorded session as its timeline, its events, or spans."""

from typing import Any

import click

from inspector.cli.composition import open_store
from inspector.cli.options import as_json, owner_options, shared
from inspector.cli.record.otel import SpanOptions, export, span_options
from inspector.cli.record.timeline import say_timeline
from inspector.cli.render import say_json, say_table
from inspector.domain.error import StoreError
from inspector.domain.events import EVENT_TYPES
from inspector.domain.events.json import record_json
from inspector.domain.moment import shown_moment
from inspector.engine.store_ports import EventStore

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
