"""Everything that finds tools: the index of the deferred tools, the rankers over it, the searches."""

from collections.abc import Callable, Collection, Mapping, Sequence

from inspector.domain.evaluation import EvalCase, EvalSet
from inspector.domain.index_state import IndexState
from inspector.domain.ranking import SearchRequest
from inspector.domain.settings import DiscoverySettings
from inspector.domain.tool import Tool
from inspector.engine.bench.generate import generate
from inspector.engine.ports import Clock, Embedder, VectorStore
from inspector.engine.retrieval.catalog_rankers import CatalogRankers, require_ranker
from inspector.engine.retrieval.embedding import Embedding
from inspector.engine.retrieval.index import ToolIndex
from inspector.engine.retrieval.ranker import Ranker
from inspector.engine.retrieval.search import MISSES_KEPT, SearchAnswer, SearchRules, ToolSearch
from inspector.engine.retrieval.semantics import Semantics


class Retrieval:
    """One session's search. It can be asked at any time; the index is completed in the background."""

    def __init__(
        self,
        settings: DiscoverySettings,
        clock: Clock,
        *,
        embedder: Embedder | None,
        vectors: VectorStore,
        tags: Mapping[str, tuple[str, ...]],
        report: Callable[[IndexState], None],
        cases: Sequence[EvalCase] = (),
    ) -> None:
        """Without an `embedder` searches go by words. `cases` are labelled requests over these tools.

        Raises ToolsightError for an unknown ranker.
        """
        self.settings = settings
        self.ranker_name = require_ranker(settings.ranker)
        self.threshold = settings.min_probability
        self._clock = clock
        self._cases = tuple(cases)
        self._tags = tags
        self._semantics = Semantics(embedder, vectors) if embedder is not None else None
        self.index = ToolIndex(semantics=self._semantics)
        self.rankers = CatalogRankers(self.index, settings)
        self._embedding = (
            Embedding(self._semantics, self._refresh, report) if self._semantics is not None else None
        )

    def update(self, tools: Sequence[Tool], summaries: Mapping[str, str]) -> None:
        """Search these tools from now on. Only what changed is read again."""
        self._use(self.index.updated(tools, summaries))
        if self._embedding is not None:
            self._embedding.follow(self.index)

    def use_ranker(self, name: str) -> None:
        """Rank with another ranker from now on. Raises ToolsightError."""
        self.ranker_name = require_ranker(name)

    @property
    def ranker(self) -> Ranker:
        return self.rankers.get(self.ranker_name)

    def search(
        self,
        request: SearchRequest,
        *,
        bound: Collection[str],
        load: bool = True,
        misses: int = MISSES_KEPT,
    ) -> SearchAnswer:
        """Answer a request over the tools as they are now, see ToolSearch."""
        rules = SearchRules(self.settings.max_search_results, self.threshold, self._tags)
        search = ToolSearch(self.index, self.rankers.names, self.ranker, rules, self._clock)
        return search.run(request, bound=bound, load=load, misses=misses)

    def evalset(self) -> EvalSet:
        """Labelled requests over the tools as they are: those given that still apply, or generated ones."""
        known = self.index.position.keys()
        given = [case for case in self._cases if all(group & known for group in case.relevant)]
        if any(case.is_possible for case in given):
            return EvalSet("given", self.index.tools, tuple(given))
        return EvalSet("generated", self.index.tools, generate(self.index.tools))

    async def settled(self) -> None:
        """Return when the index is as complete as it can get."""
        if self._embedding is not None:
            await self._embedding.settled()

    def cancel_embedding(self) -> None:
        """Go on with what is embedded by now."""
        if self._embedding is not None:
            self._embedding.cancel()

    def _refresh(self) -> None:
        self._use(self.index.with_new_vectors())
        if self._semantics is not None:
            self._semantics.settle(self.index.vectors)

    def _use(self, index: ToolIndex) -> None:
        self.index = index
        self.rankers = CatalogRankers(index, self.settings)
