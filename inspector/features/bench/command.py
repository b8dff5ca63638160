"""`toolsight bench`: measures rankers on labelled requests, without the app."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain, groupby
from pathlib import Path

import click
from msgspec import to_builtins

from inspector.app.draw.columns import TableLayout
from inspector.cli import composition
from inspector.cli.launch import as_clients, client_ranker, say_search_as
from inspector.cli.options import COMMON, CommandGroup, Options, as_json
from inspector.cli.run import Exit
from inspector.cli.table import Progress, cancellation, is_json, say, show, side_by_side, terminal_width
from inspector.clients.client import Client
from inspector.config.setting import value_of
from inspector.core.error import ModelError
from inspector.core.number import bar, count, signed
from inspector.core.ports import SystemClock
from inspector.core.ranking import Answer
from inspector.core.report import NOTHING, NUMBER, ONE, Column, Table
from inspector.core.settings import DiscoverySettings, Settings
from inspector.features.bench.dataset import own_requests, read_datasets
from inspector.features.bench.miss import A_FEW, miss_lines, misses, told_of
from inspector.features.bench.ranker_bench import (
    DataSet,
    Difference,
    Measured,
    RankerBench,
    Row,
    Standing,
    difference,
    json_rows,
    standings,
)
from inspector.features.bench.run import KINDS, Kind, prepare
from inspector.features.bench.sweep import HYBRID, SETTINGS, Sweep, sweep, sweep_json, sweep_lines
from inspector.search.answer.metric import Estimate
from inspector.search.index.semantics import Semantics
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.ranker_list import ISO, RANKERS, require_ranker

BAR_CELLS = 10
_LEAST_P = 0.001
_QUERY_CHARACTERS = 70


def _share(kind: Kind, answer: Answer, row: Row) -> str:
    """The share of such requests that get this answer, in percent."""
    share = row.summary.share(kind, answer)
    return NOTHING if share is None else share.text


_RANKING = (
    Column("nDCG@10", lambda row: _graph(row.summary.ndcg_10), NUMBER),
    Column("hit@1", lambda row: _mean(row.summary.hit_1), NUMBER),
    Column("recall@5", lambda row: _mean(row.summary.recall_5), NUMBER),
    Column("MRR", lambda row: _mean(row.summary.mrr), NUMBER),
    Column("p50\nms", "summary.p50_ms", ONE),
    Column("p95\nms", "summary.p95_ms", ONE),
)
_ANSWERS = (
    Column("delivered@5", lambda row: _mean(row.summary.delivered_5), NUMBER),
    Column("delivered", lambda row: _mean(row.summary.delivered), NUMBER),
    Column("tools\nreturned", lambda row: _mean(row.summary.returned, 1), NUMBER),
    *(
        Column(f"{kind}\n{answer}", partial(_share, kind, answer), NUMBER)
        for kind in KINDS
        for answer in Answer
    ),
)


def text_report(rows: Sequence[Row], width: int) -> str:
    """One block per data set, with tables at most `width` columns wide if possible.

    One table is about the ranking, the next about what a search returns of it. Columns that do not fit side
    by side go in further tables below.
    """
    return "\n".join(_block(list(same), width) for _, same in groupby(rows, lambda row: row.dataset))


def difference_report(title: str, difference: Difference, most: int) -> str:
    """The mean difference, and the `most` requests that differ most: after - before, and both values."""
    mean = difference.mean
    interval = f"[{signed(mean.low, 3)}, {signed(mean.high, 3)}]"
    test = f"paired test p {p_text(difference.p_value)}"
    lines = [f"{title} = {signed(mean.mean, 3)} nDCG@10, 95 % interval {interval}, {test}"]
    for change in difference.changes[:most]:
        if change.value:
            values = f"{signed(change.value, 3)}  {change.before:.3f} -> {change.after:.3f}"
            lines.append(f"  {values}  {_shortened(change.id)}  {_shortened(change.query)}")
    return "".join(f"{line}\n" for line in lines)


def standing_lines(standings: Sequence[Standing]) -> Iterator[str]:
    """The best ranker of each data set, which others are worse by a paired test, and which are tied."""
    for one in standings:
        worse = [f"{other.ranker} (p {p_text(other.p_value)})" for other in one.others if other.is_worse]
        parts = [f"better than {', '.join(worse)}"] if worse else []
        parts += [f"no significant difference from {', '.join(one.tied)}"] if one.tied else []
        yield f"{one.dataset}: {one.best} has the highest nDCG@10; {'; '.join(parts)}"
    if standings:
        yield (
            "Intervals are 95 %, clustered by the tools that requests need; Wilson intervals for shares. "
            "Tests are paired randomization tests, Holm-corrected for the number of rankers."
        )


def p_text(value: float) -> str:
    """A p value for people."""
    return "< 0.001" if value < _LEAST_P else f"{value:.3f}"


def _block(rows: Sequence[Row], width: int) -> str:
    summary = rows[0].summary
    lines = [
        f"{rows[0].dataset}: {count(rows[0].tools, 'tool')}, {summary.possible} possible and "
        f"{summary.impossible} impossible requests"
    ]
    ranker = Column("ranker", partial(_ranker, summary.cases))
    for columns in (_RANKING, _ANSWERS):
        for table in side_by_side(Table.of((ranker, *columns), rows), width):
            lines += ["", *TableLayout(table).lines(width)]
    return "".join(f"{line}\n" for line in lines)


def _ranker(cases: int, row: Row) -> str:
    """The ranker's name and, if it was cancelled, how many requests were measured."""
    return row.ranker if row.summary.cases == cases else f"{row.ranker} (first {row.summary.cases})"


def _graph(value: Estimate | None) -> str:
    if value is None:
        return NOTHING
    return f"{bar(value.mean, BAR_CELLS):<{BAR_CELLS}} {value.mean:.3f} [{value.low:.3f}, {value.high:.3f}]"


def _mean(value: Estimate | None, digits: int = 3) -> str:
    return NOTHING if value is None else f"{value.mean:.{digits}f} ±{value.half_width:.{digits}f}"


def _shortened(query: str) -> str:
    text = " ".join(query[: 4 * _QUERY_CHARACTERS].split())
    return text if len(text) <= _QUERY_CHARACTERS else f"{text[: _QUERY_CHARACTERS - 1]}…"


# Queries are not patterns, so what `regex` scores for them says little.
DEFAULT_RANKERS = tuple(name for name in RANKERS if name != "regex")
_Path = click.Path(path_type=Path)


@click.group(cls=CommandGroup, invoke_without_command=True, takes=COMMON)
@click.option(
    "--data",
    multiple=True,
    type=_Path,
    help="A folder with tools.jsonl and queries.jsonl, or a file of requests for the connected tools: JSON "
    "Lines, or lines REQUEST -> TOOL. May be repeated. By default toolsight.requests beside the server, or "
    "the demo's requests.",
)
@click.option(
    "--ranker",
    "rankers",
    multiple=True,
    help=f"Measure only this ranker: {', '.join(RANKERS)}. May be repeated.",
)
@as_clients
@as_json
@click.option(
    "--details",
    type=click.IntRange(min=0),
    default=0,
    help="Also show the N requests on which the first two rankers differ most.",
)
@click.option(
    "--misses",
    "misses_alone",
    is_flag=True,
    help="Print all that hybrid, or the first --ranker, misses, and no more.",
)
@click.option(
    "--sweep",
    "swept",
    type=click.Choice(list(SETTINGS)),
    help="Instead find the threshold that suits the tools: of hybrid's answers, dense or the gate's iso.",
)
@click.pass_context
def bench(
    context: click.Context,
    /,
    data: tuple[Path, ...],
    rankers: tuple[str, ...],
    clients: tuple[Client, ...],
    details: int,
    misses_alone: bool,
    swept: str | None,
    chosen: Options,
) -> None:
    """Measure how well and how fast rankers find the right tools.

    With --sweep, a request counts for hybrid if a right tool is in the top five: above one confidence the
    answer is “found”, above a lower one “closest”, and below both “nothing”. For dense and iso, thresholds
    are cosines, and every tool in the top ten counts.

    \b
    toolsight bench --data requests.jsonl --ranker hybrid --ranker bm25 server.py
    """
    if context.invoked_subcommand is not None:
        return
    if swept is not None:
        if len(data) > 1 or rankers or clients or details or misses_alone:
            raise click.UsageError("--sweep takes one --data, and no ranker, client, --details or --misses.")
        _sweep(swept, data, chosen)
        return
    wanted = (*map(require_ranker, rankers), *map(client_ranker, clients))
    names = tuple(dict.fromkeys(wanted or ((HYBRID,) if misses_alone else DEFAULT_RANKERS)))
    if details and (is_json() or len(names) < 2):
        raise click.UsageError("--details needs two rankers, and goes without --json.")
    datasets = read_datasets(data, chosen)
    measured, is_complete = _measured(datasets, names, chosen)
    rows, told = [one.row for one in measured], list(told_of(measured))
    if misses_alone:
        found = [to_builtins(one) | {"dataset": of.row.dataset} for of in told for one in misses(of)]
        show(found, chain.from_iterable(map(miss_lines, told)))
    elif rows:
        claims = "".join(f"\n{line}\n" for line in standing_lines(standings(measured)))
        text = text_report(rows, terminal_width()) + claims + _details(measured, names, details)
        missed = {
            (of.row.dataset, of.run.ranker): list(map(to_builtins, misses(of))) for of in told if is_json()
        }
        with_misses = [
            row | {"misses": missed.get((row["dataset"], row["ranker"]))} for row in json_rows(rows)
        ]
        show(with_misses, chain(text.splitlines(), *(["", *miss_lines(of, A_FEW)] for of in told)))
    for note in dict.fromkeys(row.note for row in rows if row.note):
        say(note, err=is_json())
    for client in clients:
        say_search_as(client, err=is_json())
    if not is_complete:
        say(f"cancelled: {'only part' if rows else 'nothing'} was measured", err=True)
        sys.exit(Exit.INTERRUPTED)


def _sweep(ranker: str, data: tuple[Path, ...], chosen: Options) -> None:
    """Print the curve of a ranker's threshold."""
    dataset = read_datasets(data, chosen)[0] if data else own_requests(chosen)
    name = dataset.evalset.name
    embedder = composition.make_embedder(_model(chosen) or dataset.settings.embedding_model)
    found: Sweep | None = None
    with (
        closing(composition.open_vectors(chosen)) as store,
        Progress() as progress,
        cancellation() as cancelled,
    ):
        prepared = prepare(
            dataset.evalset,
            None if embedder is None else Semantics(embedder, store, composition.make_static_embedder()),
            progress=lambda done, total: progress(f"{name}: index", done, total),
            cancelled=cancelled,
            lined=ranker == ISO,
        )
        if prepared.is_complete:
            found = sweep(
                CatalogRankers(prepared.index, dataset.settings),
                dataset.evalset,
                ranker,
                progress=lambda done, total: progress(f"{name}: {ranker}", done, total),
                cancelled=cancelled,
            )
    if found is None:
        say("cancelled: nothing was measured", err=True)
        sys.exit(Exit.INTERRUPTED)
    now = value_of(Settings(discovery=dataset.settings, gate=dataset.gate), SETTINGS[ranker])
    show(sweep_json(found, now), sweep_lines(found, now))


def _model(chosen: Options) -> str:
    """The embedding model that was typed; "" if none was."""
    return str(chosen.settings.get("discovery.embedding_model", ""))


def _measured(
    datasets: Sequence[DataSet], rankers: Sequence[str], chosen: Options
) -> tuple[list[Measured], bool]:
    """The measurements, and whether they are complete."""
    packaged = DiscoverySettings().embedding_model
    model = _model(chosen) or packaged
    embedder, static = composition.make_embedder(model), composition.make_static_embedder()
    with (
        closing(composition.open_vectors(chosen)) as store,
        Progress() as progress,
        cancellation() as cancelled,
    ):
        semantics = None if embedder is None else Semantics(embedder, store, static)
        if semantics is not None and model == packaged:
            # Searches go on without it, and so do measurements; a model that was named has to be there.
            try:
                semantics.prepare(lambda _done, _total: None, cancelled)
            except ModelError as error:
                semantics.failed(error)
        bench = RankerBench(rankers, lambda: semantics, SystemClock(), progress, cancelled, static)
        measured = bench.measure(datasets)
    # If it was cancelled during the last request, everything has been measured.
    is_complete = len(measured) == len(datasets) * len(rankers) and all(m.run.is_complete for m in measured)
    return measured, is_complete


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
