"""`toolsight sessions metrics`: what was searched, called, how fast and what failed, over any sessions."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import IO

import click

from inspector.cli.options import as_json as json_option
from inspector.cli.sessions.choice import Chosen, choosing
from inspector.cli.sessions.metrics_json import NOTHING, say_report_table, stats_json
from inspector.cli.table import say, say_json
from inspector.core.error import ConfigError
from inspector.core.events import Record
from inspector.core.redaction import clean, open_private
from inspector.core.report import Section
from inspector.measure.telemetry.discovery import RoutingDecision, RoutingLog
from inspector.measure.telemetry.gathering import KINDS, telemetry
from inspector.measure.telemetry.section import MOST, overview, sections


@click.command()
@choosing
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=MOST,
    show_default=True,
    help="Maximum number of rows in each table of tools.",
)
@click.option(
    "--decisions",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write every routing decision to this file (JSON lines; Tool Attention, section 5.7).",
)
@json_option
def metrics(chosen: Chosen, most: int, decisions: Path | None, as_json: bool) -> None:
    """Summarize sessions: searches, latency, failures, tokens.

    By default, covers all sessions, recorded here and imported. Shares have 95 % intervals.

    \b
    toolsight sessions metrics --since 7d
    """
    with ExitStack() as stack:
        records = chosen.records(KINDS)
        if decisions is not None:
            records = _written(records, stack.enter_context(_opened(decisions)))
        gathered = telemetry(records)
    if as_json:
        say_json(stats_json(gathered))
    elif not gathered.records:
        say(NOTHING)
    else:
        say(overview(gathered))
        for section in sections(gathered, most):
            _say(section)


def _say(section: Section) -> None:
    if not section.tables:
        return
    say(f"\n{section.title}")
    for table in section.tables:
        say_report_table(table)


def _opened(path: Path) -> IO[str]:
    try:
        return open_private(path, "x", encoding="ascii")
    except FileExistsError:
        raise ConfigError(f"{path} already exists", hint="Choose another file.") from None
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {error.strerror}", hint="Choose another file."
        ) from error


def _written(records: Iterator[Record], file: IO[str]) -> Iterator[Record]:
    """The same records, while the decisions among them are written."""
    log = RoutingLog()

    def write(found: Iterator[RoutingDecision]) -> None:
        file.writelines(json.dumps(clean(asdict(one))) + "\n" for one in found)

    for record in records:
        write(log.after(record))
        yield record
    write(log.end())
