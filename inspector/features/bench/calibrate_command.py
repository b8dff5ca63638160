"""Finds the threshold that suits a catalog, without the app."""

import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from inspector.cli import composition
from inspector.cli.options import COMMON, Options, as_json, session_command
from inspector.cli.run import Exit
from inspector.cli.table import Progress, cancellation, say, show
from inspector.core.number import Share, bar, percent
from inspector.core.ports import SystemClock
from inspector.core.report import NOTHING, selected
from inspector.core.settings import Settings
from inspector.features.bench.calibrate import (
    HYBRID,
    SETTINGS,
    Calibration,
    Point,
    calibrate as calibrated,
    threshold_of,
)
from inspector.features.bench.command import BAR_CELLS
from inspector.features.bench.dataset import generated, read_datasets
from inspector.features.bench.ranker_bench import DataSet
from inspector.features.bench.run import prepare
from inspector.search.index.semantics import Semantics
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.ranker_list import ISO

_NAME = 20
_RATE = "{count total size}"
_POINT = f"{{threshold precision recall answered_impossible{_RATE} refused_possible{_RATE} f1}}"
_ROW = "{:>9}  {:<16}  {:>9}  {:>6}  {:>10}  {:>8}  {}"


@session_command("calibrate", takes=COMMON)
@click.option("--ranker", type=click.Choice(list(SETTINGS)), default="hybrid", show_default=True)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="A folder with tools.jsonl and queries.jsonl, or a file of requests for the connected tools. "
    "By default, requests are generated from the tools.",
)
@as_json
def calibrate(ranker: str, data: Path | None, chosen: Options) -> None:
    """Find the confidence threshold for search answers.

    For hybrid, thresholds are confidences, and a request counts if a right tool is in the top five. Above
    one threshold the answer is “found”, above a lower one “closest”, and below both “nothing”. For dense and
    iso, thresholds are cosines, and every tool in the top ten counts. The per-turn gate uses the threshold
    for iso; the ranker three-tier uses the one for dense.

    \b
    toolsight bench calibrate --data requests.jsonl --config .mcp.json
    """
    dataset = generated(chosen) if data is None else read_datasets((data,), chosen)[0]
    found = _calibrated(dataset, ranker, chosen)
    if found is None:
        say("cancelled: nothing was measured", err=True)
        sys.exit(Exit.INTERRUPTED)
    now = threshold_of(Settings(discovery=dataset.settings, gate=dataset.gate), ranker) or 0.0
    show(json_calibration(found, now), text_calibration(found, now))


def _calibrated(dataset: DataSet, ranker: str, chosen: Options) -> Calibration | None:
    """The calibration, or None if it was cancelled. Raises ToolsightError."""
    embedder = composition.make_embedder(dataset.settings.embedding_model)
    name, static = dataset.evalset.name, composition.make_static_embedder()
    with (
        closing(composition.open_vectors(chosen)) as store,
        Progress() as progress,
        cancellation() as cancelled,
    ):
        prepared = prepare(
            dataset.evalset,
            None if embedder is None else Semantics(embedder, store, static),
            clock=SystemClock(),
            progress=lambda done, total: progress(f"{name}: index", done, total),
            cancelled=cancelled,
            lined=ranker == ISO,
        )
        if not prepared.is_complete:
            return None
        return calibrated(
            CatalogRankers(prepared.index, dataset.settings),
            dataset.evalset,
            ranker_name=ranker,
            progress=lambda done, total: progress(f"{name}: {ranker}", done, total),
            cancelled=cancelled,
        )


def text_calibration(calibration: Calibration, now: float) -> list[str]:
    """The curve as a table with a bar for F1, its best points, and the setting to write."""
    is_hybrid = calibration.ranker == HYBRID
    kind = "confidence" if is_hybrid else "cosine"
    best, cautious = ("found: best F1", "closest") if is_hybrid else ("best F1", "cautious")
    lines = [
        f"{calibration.ranker} on {calibration.dataset}: {calibration.possible} possible and "
        f"{calibration.impossible} impossible requests",
        "",
        _ROW.format("", "", "", "", "answered", "refused", "").rstrip(),
        _ROW.format(kind, "F1", "precision", "recall", "impossible", "possible", "").rstrip(),
        *(_row(point, calibration) for point in calibration.points),
        "",
        _summary(best, calibration.best),
    ]
    if calibration.held_out is not None:
        lines.append(_summary("held out", calibration.held_out))
        lines.append(
            f"{'':<{_NAME}}  each fifth of the requests at the best threshold of the others (mean above)"
        )
    most = f"refuses at most {percent(calibration.max_refused)} of the possible requests"
    if calibration.cautious is None:
        lines.append(f"{cautious:<{_NAME}}  no threshold {most}")
    else:
        lines += [_summary(cautious, calibration.cautious), f"{'':<{_NAME}}  the highest that {most}"]
    if calibration.is_at_edge:
        lines.append("The best threshold is at the edge of the sweep, so these requests cannot pin it down.")
    advice = calibration.line(calibration.best.threshold)
    if calibration.is_generated:
        advice = (
            "No setting to copy: people ask in other words than these. Measure your own requests with --data."
        )
    return [*lines, f"{'now':<{_NAME}}  {now:.2f}", "", advice]


def json_calibration(calibration: Calibration, now: float) -> dict[str, Any]:
    """The calibration for programs."""
    return {
        **selected(calibration, "ranker dataset possible impossible"),
        "setting": calibration.setting,
        "values": calibration.values(calibration.best.threshold),
        "now": now,
        **selected(calibration, f"best{_POINT} held_out{_POINT} cautious{_POINT} points{_POINT}"),
    }


def _row(point: Point, calibration: Calibration) -> str:
    precision = NOTHING if point.precision is None else f"{point.precision:.3f}"
    graph = f"{bar(point.f1, BAR_CELLS):<{BAR_CELLS}} {point.f1:.3f}"
    shares = (_share(point.answered_impossible), _share(point.refused_possible))
    names = ("found", "closest") if calibration.ranker == HYBRID else ("best", "cautious")
    here = (point is calibration.best, point is calibration.cautious)
    marks = ", ".join(name for name, is_here in zip(names, here, strict=True) if is_here)
    return _ROW.format(
        f"{point.threshold:.2f}", graph, precision, f"{point.recall:.3f}", *shares, marks
    ).rstrip()


def _share(value: Share | None) -> str:
    return NOTHING if value is None else percent(value.value)


def _summary(what: str, point: Point) -> str:
    answered = point.answered_impossible
    impossible = f"answers {_share(answered)} of the impossible requests, " if answered else ""
    refused = f"refuses {_share(point.refused_possible)} of the possible ones"
    return f"{what:<{_NAME}}  {point.threshold:.2f}  F1 {point.f1:.3f}, {impossible}{refused}"
