"""Exports a recorded session as OpenTelemetry spans, to a file or to a collector."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from inspector.cli.render import say, say_json
from inspector.domain.events import Record
from inspector.domain.number import count
from inspector.engine.sink import clean

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class OtelOptions:
    """Where the spans go, one of the two, and whether they hold what was said."""

    file: Path | None = None
    endpoint: str = ""
    content: bool = False

    @property
    def is_asked(self) -> bool:
        """Whether there is anything to export."""
        return self.file is not None or bool(self.endpoint)


_OPTIONS = (
    click.option(
        "--otel",
        "otel_file",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Instead of printing, write the session as OpenTelemetry spans to this file (OTLP, JSON lines).",
    ),
    click.option(
        "--otel-endpoint",
        default="",
        metavar="URL",
        help="Instead of printing, send the spans to a collector (OTLP over HTTP). Needs the extra `otel`.",
    ),
    click.option(
        "--otel-content",
        is_flag=True,
        help="With what was said, searched for, given and returned, redacted as the record is.",
    ),
)


def otel_options(function: F) -> F:
    """Add the options; the command receives them as `otel`."""

    @wraps(function)
    def command(otel_file: Path | None, otel_endpoint: str, otel_content: bool, **rest: Any) -> Any:
        if otel_file is not None and otel_endpoint:
            raise click.UsageError("give --otel or --otel-endpoint: only one of them")
        if otel_content and otel_file is None and not otel_endpoint:
            raise click.UsageError("--otel-content goes with --otel or --otel-endpoint")
        return function(otel=OtelOptions(otel_file, otel_endpoint, otel_content), **rest)

    decorated: Any = command
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def export(chosen: OtelOptions, session: str, records: Sequence[Record], *, as_json: bool) -> None:
    """Export the records, and say how many spans they made. Raises ToolsightError."""
    from inspector.engine.telemetry.trace import spans

    # What is recorded is redacted by the rules of its day; what leaves is by those of today, too.
    redacted = (Record(one.session, one.seq, one.at, clean(one.event)) for one in records)
    made = spans(redacted, content=chosen.content)
    if chosen.file is not None:
        from inspector.adapters.otel.file import write_spans

        number, where = write_spans(chosen.file, made), str(chosen.file)
    else:
        from inspector.adapters.otel.collector import send_spans

        number, where = send_spans(chosen.endpoint, made), chosen.endpoint
    if as_json:
        say_json({"session": session, "spans": number, "to": where, "content": chosen.content})
        return
    held = "with their content" if chosen.content else "without content; --otel-content adds it"
    say(f"{count(number, 'span')} of session {session} to {where}, {held}")
