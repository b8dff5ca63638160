"""Results summed up with intervals, as a Markdown table, JSON or CSV."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from inspector.access.reach import EvalCase, EvalSet
from inspector.core.number import percent, wilson
from inspector.core.ranking import Answer
from inspector.measure.bootstrap import Estimate, clusters, effective_size, estimate, share_estimate
from inspector.measure.run import CaseRun, Run
from inspector.search.metric import hit_at, ndcg_at, percentile, recall_at, reciprocal_rank

CUT = 10
# How many of the returned tools a model sees first.
FIRST = 5

Pairs = Sequence[tuple[EvalCase, CaseRun]]
Measure = Callable[[Sequence[str], tuple[frozenset[str], ...]], float]
# Whether some tool fits a request.
Kind = Literal["possible", "impossible"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Share:
    """`count` of `total` cases; `total` is above 0. `low` and `high` are its 95 % Wilson interval.

    `size` is the effective sample size if the cases are not independent; None if they are.
    """

    count: int
    total: int
    size: float | None = field(default=None, compare=False)

    @property
    def value(self) -> float:
        return self.count / self.total

    @property
    def text(self) -> str:
        """For people, in percent: “71 % [60, 80]”."""
        return f"{percent(self.value)} [{self.low * 100:.0f}, {self.high * 100:.0f}]"

    @property
    def low(self) -> float:
        return wilson(self.value, self.size or self.total)[0]

    @property
    def high(self) -> float:
        return wilson(self.value, self.size or self.total)[1]


@dataclass(frozen=True, slots=True)
class Summary:
    """Means over the requests that some tool fits, the answers that requests get, and latencies.

    Requests that need the same tool are one cluster of the intervals.

    Hit, recall, nDCG and MRR are of the ranking, whatever the answer. `delivered` is the share of what a
    request needs among all that the search returns, `delivered_5` among the first five, and `returned` is how
    many tools that are. The means are None if every request is impossible, the latencies (milliseconds) if
    nothing ran, and `answers` has no kind of which there is no request. MRR looks no deeper than the run.
    """

    possible: int
    impossible: int
    hit_1: Estimate | None
    recall_1: Estimate | None
    recall_5: Estimate | None
    recall_10: Estimate | None
    ndcg_10: Estimate | None
    mrr: Estimate | None
    delivered_5: Estimate | None
    delivered: Estimate | None
    returned: Estimate | None
    answers: Mapping[Kind, Mapping[Answer, Share]]
    p50_ms: float | None
    p95_ms: float | None

    @property
    def cases(self) -> int:
        return self.possible + self.impossible

    def share(self, kind: Kind, answer: Answer) -> Share | None:
        """The share of such requests that get this answer; None without such requests."""
        return self.answers[kind][answer] if kind in self.answers else None


def summarise(run: Run, evalset: EvalSet) -> Summary:
    """Summarize a run over `evalset`, for as many cases as it finished.

    Raises ValueError if the run covers other cases, or keeps fewer than the ten tools these means need.
    """
    pairs = paired(run, evalset)
    possible = [(case, done) for case, done in pairs if case.is_possible]
    impossible = [(case, done) for case, done in pairs if not case.is_possible]
    milliseconds = [done.seconds * 1000 for done in run.cases]
    return Summary(
        possible=len(possible),
        impossible=len(impossible),
        hit_1=_first(possible),
        recall_1=_mean(possible, lambda ranked, relevant: recall_at(1, ranked, relevant)),
        recall_5=_mean(possible, lambda ranked, relevant: recall_at(5, ranked, relevant)),
        recall_10=_mean(possible, lambda ranked, relevant: recall_at(10, ranked, relevant)),
        ndcg_10=_mean(possible, lambda ranked, relevant: ndcg_at(CUT, ranked, relevant)),
        mrr=_mean(possible, reciprocal_rank),
        delivered_5=_delivered(possible, FIRST),
        delivered=_delivered(possible, None),
        returned=_estimate(possible, [float(len(done.returned)) for _, done in possible]),
        answers={kind: _answers(of) for kind, of in zip(KINDS, (possible, impossible), strict=True) if of},
        p50_ms=percentile(milliseconds, 0.5) if milliseconds else None,
        p95_ms=percentile(milliseconds, 0.95) if milliseconds else None,
    )


def paired(run: Run, evalset: EvalSet) -> Pairs:
    """Each case that ran, with its outcome; ValueError if the run covers other cases or is too shallow."""
    if run.depth < CUT:
        raise ValueError(f"the run keeps {run.depth} tools per request, but {CUT} are needed")
    if len(run.cases) > len(evalset.cases):
        raise ValueError(f"the run has {len(run.cases)} cases, but the data set has {len(evalset.cases)}")
    pairs = list(zip(evalset.cases, run.cases, strict=False))
    for case, done in pairs:
        if case.id != done.id:
            raise ValueError(f"the run covers other cases: {done.id!r} instead of {case.id!r}")
    return pairs


def _mean(pairs: Pairs, measure: Measure) -> Estimate | None:
    return _estimate(pairs, [measure(done.ranked, case.relevant) for case, done in pairs])


def _delivered(pairs: Pairs, most: int | None) -> Estimate | None:
    """The share of what each request needs among the first `most` tools that its search returns."""
    returned = [(case, done.returned[:most]) for case, done in pairs]
    return _estimate(pairs, [recall_at(len(tools), tools, case.relevant) for case, tools in returned])


def _estimate(pairs: Pairs, values: Sequence[float]) -> Estimate | None:
    return estimate(values, clusters([case for case, _ in pairs])) if pairs else None


def _first(pairs: Pairs) -> Estimate | None:
    flags = [hit_at(1, done.ranked, case.relevant) > 0 for case, done in pairs]
    return share_estimate(flags, clusters([case for case, _ in pairs])) if pairs else None


def _answers(pairs: Pairs) -> dict[Answer, Share]:
    """How many requests get each answer; an impossible request is a cluster of its own."""
    groups = clusters([case for case, _ in pairs])
    return {answer: _share([done.answer is answer for _, done in pairs], groups) for answer in Answer}


def _share(flags: Sequence[bool], groups: Sequence[str]) -> Share:
    return Share(sum(flags), len(flags), effective_size(flags, groups))


ESTIMATES = (
    "hit_1",
    "recall_1",
    "recall_5",
    "recall_10",
    "ndcg_10",
    "mrr",
    "delivered_5",
    "delivered",
    "returned",
)
LATENCIES = ("p50_ms", "p95_ms")
NOTHING = "–"

_HEADERS = (
    "data set",
    "ranker",
    "tools",
    "cases",
    "hit@1",
    "R@1",
    "R@5",
    "R@10",
    "nDCG@10",
    "MRR",
    "delivered@5",
    "delivered",
    "tools returned",
    *(f"{kind}: {answer}" for kind in KINDS for answer in Answer),
    "p50 ms",
    "p95 ms",
    "index s",
    "index MB",
)
_TEXT_COLUMNS = 2


@dataclass(frozen=True, slots=True)
class Row:
    """One ranker on one data set, and the time and size of its index of `tools` tools, None if unknown."""

    dataset: str
    ranker: str
    summary: Summary
    tools: int
    index_seconds: float | None = None
    index_bytes: int | None = None


def markdown(rows: Sequence[Row]) -> str:
    """A table with one line per row; means are followed by [low, high], latencies are in milliseconds."""
    alignment = ["---" if column < _TEXT_COLUMNS else "---:" for column in range(len(_HEADERS))]
    lines = [_HEADERS, alignment, *(_cells(row) for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def json_rows(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Plain dicts, ready for json.dumps; undefined values are None.

    `answers` counts the requests that get each answer, and `answer_shares` has its share with its interval.
    """
    return [
        {
            "dataset": row.dataset,
            "ranker": row.ranker,
            "tools": row.tools,
            "cases": row.summary.cases,
            "possible": row.summary.possible,
            "impossible": row.summary.impossible,
            **{name: value and asdict(value) for name, value in _estimates(row.summary)},
            "answers": {kind: _counts(row.summary, kind) for kind in KINDS},
            "answer_shares": {kind: _shares(row.summary, kind) for kind in KINDS},
            "p50_ms": row.summary.p50_ms,
            "p95_ms": row.summary.p95_ms,
            "index_seconds": row.index_seconds,
            "index_bytes": row.index_bytes,
        }
        for row in rows
    ]


def _estimates(summary: Summary) -> Iterator[tuple[str, Estimate | None]]:
    return ((name, getattr(summary, name)) for name in ESTIMATES)


def _each_share(summary: Summary) -> Iterator[Share | None]:
    return (summary.share(kind, answer) for kind in KINDS for answer in Answer)


def _counts(summary: Summary, kind: Kind) -> dict[str, int] | None:
    answers = summary.answers.get(kind)
    return None if answers is None else {answer.value: share.count for answer, share in answers.items()}


def _shares(summary: Summary, kind: Kind) -> dict[str, dict[str, float]] | None:
    answers = summary.answers.get(kind)
    return None if answers is None else {answer.value: _interval(share) for answer, share in answers.items()}


def _interval(share: Share) -> dict[str, float]:
    return {"mean": share.value, "low": share.low, "high": share.high}


def json_text(rows: Sequence[Row]) -> str:
    """The rows as a JSON document that `toolsight bench --baseline` reads."""
    return f"{json.dumps(json_rows(rows), indent=2)}\n"


def csv_text(rows: Sequence[Row]) -> str:
    """A header and one line per row (RFC 4180, CRLF), in full precision; undefined values are empty.

    An estimate takes three columns (`mrr`, `mrr_low`, `mrr_high`), a share four (`possible_found`: its count,
    `…_of`, and the ends of its interval).
    """
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(_csv_header())
    writer.writerows(_csv_cells(row) for row in rows)
    return file.getvalue()


def _cells(row: Row) -> list[str]:
    summary = row.summary
    return [
        _plain(row.dataset),
        _plain(row.ranker),
        str(row.tools),
        str(summary.cases),
        *(_estimate_cell(value) for _, value in _estimates(summary)),
        *(_share_cell(share) for share in _each_share(summary)),
        *(_number(getattr(summary, name), 1) for name in LATENCIES),
        _number(row.index_seconds, 2),
        _number(None if row.index_bytes is None else row.index_bytes / 1e6, 1),
    ]


def _estimate_cell(value: Estimate | None) -> str:
    return NOTHING if value is None else f"{value.mean:.3f} [{value.low:.3f}, {value.high:.3f}]"


def _share_cell(value: Share | None) -> str:
    if value is None:
        return NOTHING
    interval = f"[{percent(value.low, 1)}, {percent(value.high, 1)}]"
    return f"{percent(value.value, 1)} ({value.count}/{value.total}) {interval}"


def _number(value: float | None, digits: int) -> str:
    return NOTHING if value is None else f"{value:.{digits}f}"


def _plain(text: str) -> str:
    """A name on one line, with `|` and backslashes escaped."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")


def _csv_header() -> list[str]:
    estimates = [column for name in ESTIMATES for column in (name, f"{name}_low", f"{name}_high")]
    names = [f"{kind}_{answer}" for kind in KINDS for answer in Answer]
    shares = [f"{name}{end}" for name in names for end in ("", "_of", "_low", "_high")]
    first = ["dataset", "ranker", "tools", "possible", "impossible"]
    return [*first, *estimates, *shares, *LATENCIES, "index_seconds", "index_bytes"]


def _csv_cells(row: Row) -> list[object]:
    """The csv module writes None as an empty cell."""
    cells: list[object] = [row.dataset, row.ranker, row.tools, row.summary.possible, row.summary.impossible]
    for _, value in _estimates(row.summary):
        cells += [value.mean, value.low, value.high] if value else [None] * 3
    for share in _each_share(row.summary):
        cells += [share.count, share.total, share.low, share.high] if share else [None] * 4
    return [*cells, *(getattr(row.summary, name) for name in LATENCIES), row.index_seconds, row.index_bytes]
