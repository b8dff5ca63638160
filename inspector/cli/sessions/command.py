"""`toolsight sessions`: the recorded sessions; its commands show them, import others and sum them up."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from inspector.cli.composition import open_store
from inspector.cli.group import CommandGroup
from inspector.cli.options import Options, as_json, owner_options, shared
from inspector.cli.table import say, say_json, say_raw, say_table
from inspector.core.events import Record
from inspector.core.number import count, shown_moment
from inspector.core.redaction import clean

_COMMANDS = {
    "show": "sessions.show",
    "import": "sessions.importing:import_sessions",
    "forget": "sessions.importing",
    "requests": "sessions.importing",
    "agents": "sessions.agents",
    "unmet": "sessions.unmet",
    "metrics": "sessions.metrics",
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
