"""The default ranker with other weights."""

from dataclasses import dataclass

from inspector.access.reach import EvalSet
from inspector.core.ports import SystemClock
from inspector.measure.bootstrap import Estimate
from inspector.measure.run import Run, run_bench
from inspector.search.rankers.bm25 import AS_WRITTEN, Bm25Ranker
from inspector.search.rankers.catalog_rankers import CatalogRankers
from inspector.search.rankers.fusion import FusionRanker, FusionWeights
from inspector.search.rankers.hybrid import HybridRanker
from inspector.search.rankers.query_fusion import QueryFusion, QueryWeights
from inspector.search.rules import SearchRules


@dataclass(frozen=True, slots=True)
class Variant:
    """The weights of a hybrid ranker."""

    fusion: FusionWeights = FusionWeights()
    query: QueryWeights = QueryWeights()

    def over(self, rankers: CatalogRankers) -> HybridRanker:
        """Such a ranker over the index of `rankers`, which it shares all else with."""
        index = rankers.index
        written = Bm25Ranker(index, AS_WRITTEN, name="words as written")
        fusion = FusionRanker(index, rankers.lexical, self.fusion, written=written)
        return HybridRanker(
            index,
            lexical=rankers.lexical,
            whole=QueryFusion(index, fusion, rankers.server_prior, self.query),
            names=rankers.names,
            tiers=rankers.tiers,
        )


NO_STEPS = Variant(query=QueryWeights(step=0.0))


def run(variant: Variant, rankers: CatalogRankers, evalset: EvalSet) -> Run:
    """A variant on every request."""
    return run_bench(
        variant.over(rankers),
        evalset,
        rankers.index,
        rules=SearchRules(),
        clock=SystemClock(),
        progress=lambda _done, _total: None,
        cancelled=lambda: False,
    )


def added_text(estimate: Estimate) -> str:
    """A difference with its interval, bold if that is without 0."""
    text = f"{estimate.mean:+.4f}"
    is_clear = estimate.low > 0 or estimate.high < 0
    interval = f"[{estimate.low:+.3f}, {estimate.high:+.3f}]"
    return f"{f'**{text}**' if is_clear else text} {interval}".replace("-", "−")
