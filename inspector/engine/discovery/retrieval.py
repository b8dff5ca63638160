"""A session's retrieval: the index of searchable tools, the rankers over it, and searches."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from inspector.domain.evaluation import EvalCase, EvalSet
from inspector.domain.index_state import IndexState
from inspector.domain.ranking import SearchRequest
from inspector.domain.settings import DiscoverySettings
from inspector.domain.tool import Tool
from inspector.engine.discovery.embedding import Embedding
from inspector.engine.discovery.index import ToolIndex
from inspector.engine.discovery.rankers.catalog_rankers import CatalogRankers, require_ranker
from inspector.engine.discovery.rankers.ranker import Ranker
from inspector.engine.discovery.rules import SearchRules
from inspector.engine.discovery.search import MISSES_KEPT, SearchAnswer, ToolSearch
from inspector.engine.discovery.semantics import Semantics
from inspector.engine.measure.generate import generate
from inspector.engine.ports import Clock, Embedder, VectorStore

# A person looks further down the list than a record needs to.
MISSES_SHOWN = 200
_NOTHING: Mapping[str, Sequence[str]] = {}


class Retrieval:
    """One session's search. It works at any time; the index is completed in the background."""

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
        """Without an `embedder` searches use words alone. `cases` are labelled requests for these tools.

        Raises ToolsightError for an unknown ranker.
        """
        require_ranker(settings.ranker)
        self.settings = settings
        self.clock = clock
        self._cases = tuple(cases)
        self.tags = tags
        self._semantics = Semantics(embedder, vectors) if embedder is not None else None
        self.index = ToolIndex(semantics=self._semantics)
        self.rankers = CatalogRankers(self.index, settings)
        self._embedding = (
            Embedding(self._semantics, self._refresh, report) if self._semantics is not None else None
        )

    def update(self, tools: Sequence[Tool], summaries: Mapping[str, str]) -> None:
        """Search these tools from now on; only changed tools are indexed again."""
        self.use_index(self.index.updated(tools, summaries))
        if self._embedding is not None:
            self._embedding.follow(self.index)

    def use_settings(self, settings: DiscoverySettings) -> None:
        """Use other settings from now on; the embedding model stays. Raises ToolsightError."""
        require_ranker(settings.ranker)
        self.settings = settings
        self.rankers = CatalogRankers(self.index, settings)

    @property
    def rules(self) -> SearchRules:
        """The current rules that turn a ranking into results."""
        return SearchRules(
            self.settings.max_search_results,
            self.settings.min_probability,
            self.settings.min_tool_probability,
            self.tags,
            brief=self.settings.results == "brief",
        )

    @property
    def ranker_name(self) -> str:
        """The name of the current ranker."""
        return self.settings.ranker

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
        unmet: Mapping[str, Sequence[str]] = _NOTHING,
        full: bool = False,
    ) -> SearchAnswer:
        """Answer a request over the current tools, see ToolSearch and SearchRules.

        With `full` the text includes parameters, whatever the settings say.
        """
        rules = self.rules
        rules = replace(rules, unmet=unmet, brief=rules.brief and not full)
        search = ToolSearch(self.index, self.rankers.names, self.ranker, rules, self.clock)
        return search.run(request, bound=bound, load=load, misses=misses)

    def look(
        self,
        request: SearchRequest,
        *,
        bound: Collection[str],
        unmet: Mapping[str, Sequence[str]] = _NOTHING,
    ) -> SearchAnswer:
        """Search for a person: nothing is loaded, and the report lists more of the tools that missed."""
        return self.search(request, bound=bound, load=False, misses=MISSES_SHOWN, unmet=unmet)

    def evalset(self, index: ToolIndex | None = None) -> EvalSet:
        """Labelled requests for the current tools: the given ones that still apply, or else generated ones.

        With `index`, for its tools instead: a measurement needs an index that does not change.
        """
        index = index or self.index
        known = index.position.keys()
        given = [case for case in self._cases if all(group & known for group in case.relevant)]
        if any(case.is_possible for case in given):
            return EvalSet("given", index.tools, tuple(given))
        return EvalSet("generated", index.tools, generate(index.tools))

    async def settled(self) -> None:
        """Wait until the index is as complete as it can get."""
        if self._embedding is not None:
            await self._embedding.settled()

    def cancel_embedding(self) -> None:
        """Stop embedding and continue with what is embedded so far."""
        if self._embedding is not None:
            self._embedding.cancel()

    def _refresh(self) -> None:
        self.use_index(self.index.with_new_vectors())
        if self._semantics is not None:
            self._semantics.settle(self.index.vectors)

    def use_index(self, index: ToolIndex) -> None:
        """Search another index of this session from now on."""
        self.index = index
        self.rankers = CatalogRankers(index, self.settings)
