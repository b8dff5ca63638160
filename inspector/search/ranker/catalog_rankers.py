"""All rankers by name, built over one index on demand."""

from collections.abc import Callable, Mapping
from functools import cached_property

from inspector.core.ranking import Signal
from inspector.core.settings import DiscoverySettings
from inspector.search.index.past_use import NOTHING_USED, PastUse
from inspector.search.index.tool_index import NameIndex, ToolIndex
from inspector.search.ranker.bm25 import AS_WRITTEN, Bm25Ranker, Bm25Settings, PrdBm25Ranker
from inspector.search.ranker.client_ranker import ClaudeCodeRanker, CodexRanker, FuzzyRanker
from inspector.search.ranker.dense import (
    DenseRanker,
    RrfRanker,
    Stages,
    TwoStageProductRanker,
    TwoStageRanker,
)
from inspector.search.ranker.fusion import FusionRanker, FusionWeights
from inspector.search.ranker.history import Affinity, AffinityRanker
from inspector.search.ranker.hybrid import HybridRanker
from inspector.search.ranker.keyword import KeywordExpertRanker, KeywordSystemRanker, ThreeTierRanker, Tiers
from inspector.search.ranker.pattern import PatternRanker
from inspector.search.ranker.query_fusion import QueryFusion, ServerPrior
from inspector.search.ranker.ranker import Ranker
from inspector.search.ranker.ranker_list import require_ranker

# The reference against which the fusion is measured: one field, two signals.
_Z_FUSION_FIELDS = {Signal.NAME: 2.0, Signal.DESCRIPTION: 1.0, Signal.PARAMETERS: 1.0, Signal.SERVER: 1.0}
_Z_FUSION_WEIGHTS = FusionWeights(lexical=0.3, written=0.0, static=0.0, summary=1.0, best_passage=0.0)
# VS Code takes every positive similarity.
_ABOVE_ZERO = 1e-9
# One text of all that the Anthropic API says it searches; the constants are assumed.
_ANTHROPIC = Bm25Settings(
    {Signal.NAME: 1.0, Signal.DESCRIPTION: 1.0, Signal.PARAMETERS: 1.0, Signal.SERVER: 0.0},
    k1=1.2,
    per_field=False,
)


class CatalogRankers:
    """The rankers of one index; rankers with a common part share one instance of it."""

    def __init__(
        self,
        index: ToolIndex,
        settings: DiscoverySettings,
        used: PastUse = NOTHING_USED,
    ) -> None:
        """What was `used` counts in the configured ranker alone, with the weight that the settings say."""
        self.index = index
        self.settings = settings
        self.used = used
        self._built: dict[str, Ranker] = {}

    def get(self, name: str) -> Ranker:
        """The ranker of that name as searches use it. Raises ToolsightError."""
        ranker = self.plain(name)
        if name != self.settings.ranker or not self.settings.affinity:
            return ranker
        return AffinityRanker(ranker, self._affinity)

    def plain(self, name: str) -> Ranker:
        """The ranker of that name without what was used before. Raises ToolsightError."""
        if name not in self._built:
            self._built[name] = _BUILDERS[require_ranker(name)](self)
        return self._built[name]

    @cached_property
    def _affinity(self) -> Affinity:
        return Affinity(self.index, self.used, self.settings.affinity)

    @cached_property
    def names(self) -> NameIndex:
        return NameIndex(self.index.tools)

    @cached_property
    def lexical(self) -> Bm25Ranker:
        return Bm25Ranker(self.index)

    @cached_property
    def hybrid(self) -> HybridRanker:
        return HybridRanker(
            self.index,
            lexical=self.lexical,
            whole=QueryFusion(self.index, self.fusion, self.server_prior),
            names=self.names,
            tiers=self.tiers,
        )

    @cached_property
    def fusion(self) -> FusionRanker:
        written = Bm25Ranker(self.index, AS_WRITTEN, name="words as written")
        return FusionRanker(self.index, self.lexical, written=written)

    @cached_property
    def stages(self) -> Stages:
        return Stages(self.index, self.lexical, self.server_prior)

    @cached_property
    def server_prior(self) -> ServerPrior:
        return ServerPrior(self.index)

    @property
    def tiers(self) -> Tiers:
        return Tiers(self.settings.expert_tools, self.settings.system_servers)

    @cached_property
    def dense(self) -> DenseRanker:
        return DenseRanker(self.index, threshold=self.settings.iso_threshold)

    def z_fusion(self) -> FusionRanker:
        lexical = Bm25Ranker(self.index, Bm25Settings(_Z_FUSION_FIELDS, per_field=False))
        return FusionRanker(self.index, lexical, _Z_FUSION_WEIGHTS, name="z-fusion")


_BUILDERS: Mapping[str, Callable[["CatalogRankers"], Ranker]] = {
    "hybrid": lambda r: r.hybrid,
    "bm25": lambda r: r.lexical,
    "dense": lambda r: r.dense,
    "iso": lambda r: DenseRanker(r.index, threshold=r.settings.iso_threshold, lines=True),
    "rrf": lambda r: RrfRanker(r.index, r.lexical),
    "z-fusion": lambda r: r.z_fusion(),
    "two-stage": lambda r: TwoStageRanker(r.stages),
    "two-stage-product": lambda r: TwoStageProductRanker(r.stages),
    "three-tier": lambda r: ThreeTierRanker(r.index, r.lexical, r.dense, r.tiers),
    "keyword-expert": lambda r: KeywordExpertRanker(r.index.tools),
    "keyword-system": lambda r: KeywordSystemRanker(r.index.tools),
    "fuzzy": lambda r: FuzzyRanker(r.index.tools),
    "claude-code": lambda r: ClaudeCodeRanker(r.index.tools),
    "codex": lambda r: CodexRanker(r.index.tools, r.index.instructions),
    "vscode": lambda r: DenseRanker(r.index, threshold=_ABOVE_ZERO, name="vscode"),
    "anthropic-bm25": lambda r: Bm25Ranker(r.index, _ANTHROPIC, name="anthropic-bm25"),
    "prd-bm25": lambda r: PrdBm25Ranker(r.index.tools),
    "regex": lambda r: PatternRanker(r.index.tools),
}
