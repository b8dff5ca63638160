"""Summarizes a run in a few numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from inspector.access.evaluation import EvalCase, EvalSet
from inspector.core.interval import wilson
from inspector.core.number import percent
from inspector.core.ranking import Answer
from inspector.measure.bootstrap import Estimate, effective_size, estimate, share_estimate
from inspector.measure.cluster import clusters
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
