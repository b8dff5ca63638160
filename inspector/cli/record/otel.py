"""Exports a recorded session as OpenTelemetry spans: printed, to a file, or to a collector."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from inspector.cli.render import say, say_json, say_raw
from inspector.core.events import Record
from inspector.core.number import count
from inspector.core.sink import clean

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
        from inspector.measure.telemetry.otel_collector import send_spans

        number, where = send_spans(chosen.endpoint, made), chosen.endpoint
    elif chosen.file is not None:
        from inspector.measure.telemetry.otel_file import write_spans

        number, where = write_spans(chosen.file, made), str(chosen.file)
    else:
        from inspector.measure.telemetry.otel_file import export_lines

        for line, _ in export_lines(made):
            say_raw(f"{line}\n")
        return
    if as_json:
        say_json({"session": session, "spans": number, "to": where, "content": chosen.content})
        return
    held = "with their content" if chosen.content else "without content; add --content to include it"
    say(f"exported {count(number, 'span')} of session {session} to {where}, {held}")
