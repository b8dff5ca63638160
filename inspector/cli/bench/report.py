"""A benchmark's results for people: one table per data set, with a bar for nDCG@10."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby

from inspector.core.number import bar, count, signed
from inspector.core.ranking import Answer
from inspector.measure.bootstrap import Estimate
from inspector.measure.ranker_bench import NOTHING, Row
from inspector.measure.run import KINDS, Kind
from inspector.measure.standing import Difference, Standing

BAR_CELLS = 10
_LEAST_P = 0.001
_GAP = "  "
_QUERY_CHARACTERS = 70


def _share(kind: Kind, answer: Answer, row: Row) -> str:
    """The share of such requests that get this answer, in percent."""
    share = row.summary.share(kind, answer)
    return NOTHING if share is None else share.text


# Two lines of heading, and the cell below them.
_Column = tuple[str, str, Callable[[Row], str]]
_RANKING: tuple[_Column, ...] = (
    ("", "nDCG@10", lambda row: _graph(row.summary.ndcg_10)),
    ("", "hit@1", lambda row: _mean(row.summary.hit_1)),
    ("", "recall@5", lambda row: _mean(row.summary.recall_5)),
    ("", "MRR", lambda row: _mean(row.summary.mrr)),
    ("p50", "ms", lambda row: _number(row.summary.p50_ms, 1)),
    ("p95", "ms", lambda row: _number(row.summary.p95_ms, 1)),
    ("index", "s", lambda row: _number(row.index_seconds, 2)),
    ("index", "MB", lambda row: _number(None if row.index_bytes is None else row.index_bytes / 1e6, 1)),
)
_ANSWERS: tuple[_Column, ...] = (
    ("", "delivered@5", lambda row: _mean(row.summary.delivered_5)),
    ("", "delivered", lambda row: _mean(row.summary.delivered)),
    ("tools", "returned", lambda row: _mean(row.summary.returned, 1)),
    *((kind, answer, partial(_share, kind, answer)) for kind in KINDS for answer in Answer),
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
    title = (
        f"{rows[0].dataset}: {count(rows[0].tools, 'tool')}, {summary.possible} possible and "
        f"{summary.impossible} impossible requests"
    )
    names = _drawn(("", "ranker", partial(_ranker, summary.cases)), rows, str.ljust)
    tables = [table for columns in (_RANKING, _ANSWERS) for table in _tables(names, columns, rows, width)]
    lines = [title, *(line.rstrip() for table in tables for line in ("", *table))]
    return "".join(f"{line}\n" for line in lines)


def _tables(names: list[str], columns: Sequence[_Column], rows: Sequence[Row], width: int) -> list[list[str]]:
    """The columns beside the rankers' `names`, in as many tables as it takes."""
    tables = [names]
    for column in columns:
        drawn = _drawn(column, rows, str.rjust)
        if len(tables[-1][0]) + len(_GAP) + len(drawn[0]) > width and tables[-1] is not names:
            tables.append(names)
        tables[-1] = [left + _GAP + right for left, right in zip(tables[-1], drawn, strict=True)]
    return tables


def _drawn(column: _Column, rows: Sequence[Row], justify: Callable[[str, int], str]) -> list[str]:
    """A column's lines, equally wide."""
    over, heading, cell = column
    cells = [over, heading, *(cell(row) for row in rows)]
    width = max(map(len, cells))
    return [justify(text, width) for text in cells]


def _ranker(cases: int, row: Row) -> str:
    """The ranker's name and, if it was cancelled, how many requests were measured."""
    return row.ranker if row.summary.cases == cases else f"{row.ranker} (first {row.summary.cases})"


def _graph(value: Estimate | None) -> str:
    if value is None:
        return NOTHING
    return f"{bar(value.mean, BAR_CELLS):<{BAR_CELLS}} {value.mean:.3f} [{value.low:.3f}, {value.high:.3f}]"


def _mean(value: Estimate | None, digits: int = 3) -> str:
    return NOTHING if value is None else f"{value.mean:.{digits}f} ±{value.half_width:.{digits}f}"


def _number(value: float | None, digits: int) -> str:
    return NOTHING if value is None else f"{value:.{digits}f}"


def _shortened(query: str) -> str:
    text = " ".join(query[: 4 * _QUERY_CHARACTERS].split())
    return text if len(text) <= _QUERY_CHARACTERS else f"{text[: _QUERY_CHARACTERS - 1]}…"
