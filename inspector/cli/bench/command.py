"""Measures rankers on labelled requests, without the app."""

import json
import math
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from inspector.cli import composition
from inspector.cli.bench.dataset import Selection, read_datasets
from inspector.cli.bench.report import difference_report, standing_lines, text_report
from inspector.cli.client.option import as_clients, client_ranker, say_search_as
from inspector.cli.group import CommandGroup
from inspector.cli.options import Options, options, shared
from inspector.cli.outcome import Exit
from inspector.cli.progress import Progress, cancellation
from inspector.cli.table import say
from inspector.clients.client import Client
from inspector.config.file import read_bytes
from inspector.core.error import ConfigError
from inspector.core.ports import SystemClock
from inspector.core.redaction import write
from inspector.measure.ranker_bench import DataSet, Measured, RankerBench, Row, csv_text, json_text, markdown
from inspector.measure.standing import Mark, difference, drops, marks, standings, stored_marks
from inspector.search.rankers.ranker_list import RANKERS, require_ranker
from inspector.search.semantics import Semantics

# Queries are not patterns, so what `regex` scores for them says little.
DEFAULT_RANKERS = tuple(name for name in RANKERS if name != "regex")
_COMMANDS = {
    "calibrate": "bench.calibrate",
    "label": "bench.dataset",
    "runs": "bench.runs",
    "papers": "bench.papers",
}
_WITH_DETAILS = ("text", "markdown")
_NO_TERMINAL = (200, 24)
_Path = click.Path(path_type=Path)


def _a_number(_context: click.Context, _parameter: click.Parameter, value: float) -> float:
    """Reject NaN: no drop is larger than it, so every drop would pass."""
    if math.isnan(value):
        raise click.BadParameter("not a number")
    return value


@click.group(cls=CommandGroup, modules=_COMMANDS, invoke_without_command=True)
@click.option(
    "--data",
    multiple=True,
    type=_Path,
    help="A folder with tools.jsonl and queries.jsonl, or a file of requests for the connected tools. "
    "May be repeated. By default, the demo's requests.",
)
@click.option(
    "--ranker",
    "rankers",
    multiple=True,
    help=f"Measure only this ranker: {', '.join(RANKERS)}. May be repeated.",
)
@as_clients
@click.option("--distractors", type=_Path, help="Add this folder's tools.jsonl to every data set.")
@click.option(
    "--sample",
    "count",
    type=click.IntRange(min=1),
    help="Use only N requests per data set, the same ones each time.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json", "csv"]),
    default="text",
    show_default=True,
)
@click.option("--output", type=_Path, help="Write the report to this file.")
@click.option(
    "--baseline",
    type=_Path,
    help="Compare nDCG@10 with a file written by --format json; exit with 3 if it dropped.",
)
@click.option(
    "--max-drop",
    type=click.FloatRange(min=0),
    default=0.01,
    show_default=True,
    callback=_a_number,
    help="With --baseline: the drop to allow.",
)
@click.option(
    "--details",
    type=click.IntRange(min=0),
    default=0,
    help="Also show the N requests on which the first two rankers differ most.",
)
@click.option(
    "--embedding-model", default="packaged", show_default=True, help="packaged, none, or any fastembed model."
)
@shared
@click.pass_context
def bench(
    context: click.Context,
    /,
    data: tuple[Path, ...],
    rankers: tuple[str, ...],
    clients: tuple[Client, ...],
    distractors: Path | None,
    count: int | None,
    form: str,
    output: Path | None,
    baseline: Path | None,
    max_drop: float,
    details: int,
    embedding_model: str,
    **values: Any,
) -> None:
    """Measure how well and how fast rankers find the right tools.

    \b
    toolsight bench --data requests.jsonl --ranker hybrid --ranker bm25 server.py
    """
    if context.invoked_subcommand is not None:
        return
    wanted = (*map(require_ranker, rankers), *map(client_ranker, clients))
    names = tuple(dict.fromkeys(wanted or DEFAULT_RANKERS))
    if details and (form not in _WITH_DETAILS or len(names) < 2):
        raise click.UsageError("--details needs two rankers and --format text or markdown.")
    chosen = options(**values)
    stored = _stored(baseline) if baseline else None
    if output is not None and not output.parent.is_dir():
        hint = "Create the folder first."
        raise ConfigError(f"{output} cannot be written: its folder does not exist", hint=hint)
    datasets = read_datasets(Selection(data, distractors, count), chosen)
    measured, is_complete = _measured(datasets, names, embedding_model, chosen)
    rows = [one.row for one in measured]
    if rows:
        _publish(_report(rows, form) + _claims(measured, form) + _details(measured, names, details), output)
    for client in clients:
        say_search_as(client, err=form != "text" or output is not None)
    if not is_complete:
        say(f"cancelled: {'only part' if rows else 'nothing'} was measured", err=True)
        sys.exit(Exit.INTERRUPTED)
    if stored is not None:
        _compare(rows, stored, max_drop)


def _measured(
    datasets: Sequence[DataSet], rankers: Sequence[str], model: str, chosen: Options
) -> tuple[list[Measured], bool]:
    """The measurements, and whether they are complete."""
    clock, embedder = SystemClock(), composition.make_embedder(model)
    progress = Progress(clock)
    store = composition.open_vectors(chosen)
    try:
        with cancellation() as cancelled:
            bench = RankerBench(
                rankers,
                lambda: (
                    None
                    if embedder is None
                    else Semantics(embedder, store, composition.make_static_embedder())
                ),
                clock,
                progress,
                cancelled,
            )
            measured = bench.measure(datasets)
    finally:
        progress.clear()
        store.close()
    # If it was cancelled during the last request, everything has been measured.
    is_complete = len(measured) == len(datasets) * len(rankers) and all(m.run.is_complete for m in measured)
    return measured, is_complete


def _report(rows: Sequence[Row], form: str) -> str:
    match form:
        case "json":
            return json_text(rows)
        case "csv":
            return csv_text(rows)
        case "markdown":
            return markdown(rows)
    return text_report(rows, shutil.get_terminal_size(_NO_TERMINAL).columns)


def _claims(measured: Sequence[Measured], form: str) -> str:
    """What the table says about which ranker is better, for people."""
    lines = standing_lines(standings(measured)) if form in _WITH_DETAILS else ()
    return "".join(f"\n{line}\n" for line in lines)


def _details(measured: Sequence[Measured], rankers: Sequence[str], count: int) -> str:
    """The requests on which the first two rankers differ most, one block per data set."""
    if not count:
        return ""
    runs = {(one.row.dataset, one.run.ranker): one for one in measured}
    blocks = []
    for dataset in dict.fromkeys(one.row.dataset for one in measured):
        before, after = (runs.get((dataset, ranker)) for ranker in rankers[:2])
        if before and after and len(before.run.cases) == len(after.run.cases):
            differing = difference(before.run, after.run, before.evalset)
            title = f"{dataset}: {after.run.ranker} - {before.run.ranker}"
            blocks.append(f"\n{difference_report(title, differing, count)}" if differing else "")
    return "".join(blocks)


def _publish(report: str, output: Path | None) -> None:
    if output is None:
        for line in report.splitlines():
            say(line)
        return
    try:
        write(output, report, errors="backslashreplace")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"{output} cannot be written: {reason}", hint="Check that its folder exists."
        ) from error


def _stored(path: Path) -> list[Mark]:
    """Read the marks of a baseline, before hours are spent on measuring. Raises ConfigError."""
    hint = "Create it with `toolsight bench --format json --output FILE`."
    try:
        stored = stored_marks(json.loads(read_bytes(path, "baseline", missing=hint)))
        drops((), stored, 0.0)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"the baseline {path} is not valid: {error}", hint=hint) from error
    return stored


def _compare(rows: Sequence[Row], stored: Sequence[Mark], max_drop: float) -> None:
    """Exit with 3 if a mark dropped too far, naming each one that did."""
    dropped = drops(marks(rows), stored, max_drop)
    for drop in dropped:
        say(f"baseline: {drop.ranker} on {drop.dataset}: {drop.reason}", err=True)
    if dropped:
        sys.exit(Exit.GATE)
