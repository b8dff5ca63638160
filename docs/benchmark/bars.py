"""The bars that the default ranker has to reach, and whether it does."""

from collections.abc import Collection, Sequence
from statistics import fmean

from msgspec import Struct

from docs.benchmark.abstention import share_of
from docs.benchmark.data import PUBLISHED
from docs.benchmark.everyday import Got
from docs.benchmark.speed import STEPS, Speed
from inspector.core.number import percent
from inspector.core.ranking import Answer
from inspector.features.bench.command import p_text
from inspector.features.bench.ranker_bench import Measured, difference

TIE = 0.01
MEAN = 0.84
# nDCG@10 of the default ranker before it read literals and steps, and how much less is no loss.
FORMER = {"azure_mcp": 0.9317, "bfcl": 0.7386, "metatool": 0.7307, "toolalpaca": 0.8859}
LOSS = 0.005
FAR, NEAR_MISS, POSSIBLE = 0.05, 0.45, 0.93
PLAIN, OBLIQUE, REFUSED, MISFOUND, UNSURE = 0.86, 0.72, 0.04, 0.08, 0.40
SPEED_PREFIXES = ("| up to 1,000 tools", "| 10,000 tools", "| 100,000 tools")
HYBRID = "hybrid"
# All that mix several rankers.
MIXED = {HYBRID, "rrf", "z-fusion"}


class Bar(Struct, frozen=True):
    """One promise and whether it holds."""

    what: str
    measured: str
    holds: bool

    @property
    def row(self) -> str:
        return f"| {self.what} | {self.measured} | {'yes' if self.holds else '**no**'} |"


def ndcg(measured: Sequence[Measured]) -> dict[tuple[str, str], float]:
    """nDCG@10 by data set and ranker."""
    return {
        (one.row.dataset, one.row.ranker): one.row.summary.ndcg_10.mean
        for one in measured
        if one.row.summary.ndcg_10 is not None
    }


def quality_bars(measured: Sequence[Measured]) -> list[Bar]:
    """Beside what it was, and beside the best other ranker on each published set."""
    values = ndcg(measured)
    mean = sum(values[name, HYBRID] for name in PUBLISHED) / len(PUBLISHED)
    return [
        Bar(f"mean nDCG@10 of the four at least {MEAN}", f"{mean:.4f}", mean >= MEAN),
        *(_former_bar(name, values[name, HYBRID]) for name in PUBLISHED),
        *(_rival_bar(measured, name, "all others", {HYBRID}) for name in PUBLISHED),
        *(_rival_bar(measured, f"{name} + pool", "every single ranker", MIXED) for name in PUBLISHED),
    ]


def _former_bar(dataset: str, value: float) -> Bar:
    former = FORMER[dataset]
    return Bar(
        f"{dataset}: at most {LOSS} below the former default",
        f"{value:.4f}, was {former:.4f}",
        value >= former - LOSS,
    )


def _rival_bar(measured: Sequence[Measured], dataset: str, rivals: str, without: Collection[str]) -> Bar:
    here = {one.row.ranker: one for one in measured if one.row.dataset == dataset}
    values = {ranker: value for (name, ranker), value in ndcg(measured).items() if name == dataset}
    best = max(values.keys() - without, key=lambda ranker: (values[ranker], ranker))
    found = difference(here[best].run, here[HYBRID].run, here[HYBRID].evalset)
    p = found.p_value if found is not None else 1.0
    return Bar(
        f"{dataset}: hybrid at or above {rivals}, ties {TIE}",
        f"{values[HYBRID]:.4f} against {best} {values[best]:.4f}, paired test p {p_text(p)}",
        values[HYBRID] >= values[best] - TIE,
    )


def answer_bars() -> list[Bar]:
    """Over all wordings of the project's requests."""
    possible = share_of("possible", Answer.FOUND, Answer.CLOSEST)
    far, near = share_of("far", Answer.FOUND), share_of("near-miss", Answer.FOUND)
    talk = share_of("small-talk", Answer.FOUND)
    return [
        Bar(
            f"possible requests answered, all wordings: at least {percent(POSSIBLE)}",
            percent(possible, 1),
            possible >= POSSIBLE,
        ),
        Bar(f"far requests `found`: at most {percent(FAR)}", percent(far, 1), far <= FAR),
        Bar(f"near misses `found`: at most {percent(NEAR_MISS)}", percent(near, 1), near <= NEAR_MISS),
        Bar("small talk `found`: none", percent(talk, 1), talk == 0),
    ]


def everyday_bars(ones: Sequence[Got]) -> list[Bar]:
    """What people get on servers that nothing was fitted on."""
    possible = [one for one in ones if one.case.is_possible]
    impossible = [one for one in ones if not one.case.is_possible]
    plain = fmean(one.delivered for one in possible if one.case.kind == "plain")
    oblique = fmean(one.delivered for one in possible if one.case.kind != "plain")
    nothing = fmean(one.answer is Answer.NOTHING for one in possible)
    found = fmean(one.answer is Answer.FOUND for one in impossible)
    closest = fmean(one.answer is Answer.CLOSEST for one in impossible)
    return [
        Bar(f"everyday one-liners delivered: at least {PLAIN}", f"{plain:.2f}", plain >= PLAIN),
        Bar(f"oblique requests delivered: at least {OBLIQUE}", f"{oblique:.2f}", oblique >= OBLIQUE),
        Bar(f"everyday requests that get `nothing`: at most {REFUSED}", f"{nothing:.2f}", nothing <= REFUSED),
        Bar(f"impossible ones `found`: at most {MISFOUND}", f"{found:.2f}", found <= MISFOUND),
        Bar(f"impossible ones `closest`: at most {UNSURE}", f"{closest:.2f}", closest <= UNSURE),
    ]


def speed_bars(found: Sequence[Speed]) -> list[Bar]:
    by_size = {speed.tools: speed for speed in found}
    at, largest = by_size[10_000], by_size[100_000]
    fixed = max(speed.hybrid_ms for speed in found if speed.tools <= 1_000)
    return [
        Bar("up to 1,000 tools: a search below 2 ms", f"{fixed:.1f} ms", fixed < 2),
        Bar(
            "10,000 tools: hybrid search at most 0.75 of rank_bm25.get_scores alone",
            f"{at.hybrid_ms:.1f} ms against {at.get_scores_ms:.1f} ms, ratio {at.ratio:.2f}",
            at.ratio <= 0.75,
        ),
        Bar("10,000 tools: end to end p50 below 40 ms", f"{at.end_to_end_ms:.1f} ms", at.end_to_end_ms < 40),
        Bar(
            f"10,000 tools: {STEPS} steps end to end p50 below 40 ms",
            f"{at.steps_ms:.1f} ms",
            at.steps_ms < 40,
        ),
        Bar("10,000 tools: a change is found within 100 ms", f"{at.change_ms:.0f} ms", at.change_ms <= 100),
        Bar("10,000 tools: index memory below 150 MB", f"{at.live_mb:.0f} MB", at.live_mb < 150),
        Bar("100,000 tools: a search below 150 ms", f"{largest.hybrid_ms:.0f} ms", largest.hybrid_ms < 150),
        Bar(
            "100,000 tools: index memory at most 1.2 GB",
            f"{largest.live_mb / 1000:.2f} GB",
            largest.live_mb <= 1_200,
        ),
    ]
