"""Everything that finds tools: the index of the permitted tools, the rankers over it, the searches.

Index and rankers are imported when something is to be searched: a session that only lists tools needs none.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from inspector.access.reach import GENERATED, EvalCase, EvalSet
from inspector.config.configuration import Configuration
from inspector.core.access import EVERYTHING, Audience, Sight
from inspector.core.ports import Clock, PastCall
from inspector.core.ranking import MISSES_KEPT, IndexState, SearchRequest
from inspector.core.settings import DiscoverySettings
from inspector.core.stream import LiveModel
from inspector.core.tool import Tool
from inspector.search.index.past_use import UseReader, Whose
from inspector.search.index.vocabulary import Tags
from inspector.search.ranker.ranker_list import INFO, ISO, THREE_TIER, require_ranker

if TYPE_CHECKING:
    from inspector.search.answer.answer_text import SearchAnswer
    from inspector.search.answer.search import SearchRules
    from inspector.search.index.embedding import Embedding
    from inspector.search.index.phrasebook import Phrases
    from inspector.search.index.semantics import Embedder, Semantics, StaticEmbedder, VectorStore
    from inspector.search.index.tool_index import ToolIndex
    from inspector.search.ranker.catalog_rankers import CatalogRankers
    from inspector.search.ranker.ranker import Ranker


# A person looks further down the list than a record needs.
MISSES_SHOWN = 200
_NOTHING: Mapping[str, Sequence[str]] = {}
_NO_TEXTS: Mapping[str, str] = {}
_NO_TAGS: Mapping[str, tuple[str, ...]] = {}
_NO_PHRASES: "Phrases" = {}


async def _at_once() -> None:
    pass


class FurtherTier(Protocol):
    """What is searched beyond the tools of the index: a tool registry."""

    def added(
        self, answer: "SearchAnswer", semantics: "Semantics", *, limit: int, floor: float
    ) -> "SearchAnswer":
        """The answer with at most `limit` more tools whose cosine reaches `floor`."""


# Long because everything that a session searches with is asked of it.
class Retrieval:
    """One session's search. It works at any time; the index is completed in the background."""

    def __init__(
        self,
        settings: DiscoverySettings,
        clock: Clock,
        *,
        embedder: "Embedder | None",
        static: "StaticEmbedder | None" = None,
        vectors: "VectorStore",
        report: Callable[[IndexState], None],
        cases: Callable[[], Sequence[EvalCase]] = tuple,
        calm: Callable[[], Awaitable[None]] = _at_once,
        past_calls: Callable[[], Iterable[PastCall]] = tuple,
        registry: FurtherTier | None = None,
        whose: Callable[[], Whose] = Whose,
    ) -> None:
        """Without an `embedder` searches use words alone, and their `static` vectors.

        `cases` reads labelled requests for these tools, as they are when they are used.

        Embedding begins when `calm` has returned. `past_calls` reads those of earlier sessions, in a thread;
        `whose` says which of them are past use.

        Raises ToolsightError for an unknown ranker.
        """
        require_ranker(settings.ranker)
        self.settings = settings
        self.clock = clock
        self._cases = cases
        self._server_tags: Mapping[str, tuple[str, ...]] = {}
        self._embedder = embedder
        self._static = static
        self._vectors = vectors
        self._report = report
        self._calm = calm
        self._wanted: tuple[Sequence[Tool], Mapping[str, str], Mapping[str, str], Phrases] = ((), {}, {}, {})
        self._wanted_number, self._number = 1, 0
        self._lined = False
        self._reading = RLock()
        self._index: ToolIndex | None = None
        self._rankers: CatalogRankers | None = None
        self._embedding: Embedding | None = None
        self._registry = registry
        self._use = UseReader(past_calls, whose, self._renew_rankers, clock)

    def update(
        self,
        tools: Sequence[Tool],
        summaries: Mapping[str, str],
        instructions: Mapping[str, str] = _NO_TEXTS,
        *,
        tags: Mapping[str, tuple[str, ...]] = _NO_TAGS,
        phrases: "Phrases" = _NO_PHRASES,
        gate_ranker: str = "",
    ) -> None:
        """Search these tools from now on. Only what changed is read again, and not before it is asked for.

        `summaries`, `instructions`, `tags` and `phrases` are those of the servers. Summary lines are embedded
        only for a ranker that compares with them: the gate's or the current one.
        """
        self._lined = ISO in (gate_ranker, self.settings.ranker)
        self._wanted = (tools, summaries, instructions, phrases)
        self._wanted_number += 1
        self._server_tags = tags
        if self.settings.affinity:
            self._use.follow()
        if self._semantics is None:
            return
        if self._embedding is None:
            from inspector.search.index.embedding import Embedding

            self._embedding = Embedding(self._semantics, self._refresh, self._report, self._calm)
        self._embedding.follow(lambda: self.index)

    def _renew_rankers(self) -> None:
        with self._reading:
            self._rankers = None

    @property
    def index(self) -> "ToolIndex":
        """The tools that are searched, as they are now; any thread may ask."""
        # One at a time reads documents: they share a vocabulary.
        with self._reading:
            index = self._index
            if index is None:
                from inspector.search.index.tool_index import ToolIndex

                index = ToolIndex(semantics=self._semantics, static=self._static)
            # What is wanted may change meanwhile, in the event loop's thread.
            while self._number != (number := self._wanted_number):
                index = index.updated(*self._wanted, lined=self._lined)
                self._index, self._rankers, self._number = index, None, number
            return index

    @property
    def rankers(self) -> "CatalogRankers":
        """The rankers over that index: the same object until index or settings change."""
        with self._reading:
            index = self.index
            if self._rankers is None:
                from inspector.search.ranker.catalog_rankers import CatalogRankers

                self._rankers = CatalogRankers(index, self.settings, self._use.past)
            return self._rankers

    @property
    def version(self) -> object:
        """Tells the searches of one moment from those of another, without preparing either."""
        return self._wanted_number, self._index, self._rankers

    def use_settings(self, settings: DiscoverySettings) -> None:
        """Use other settings from now on; the embedding model stays. Raises ToolsightError."""
        require_ranker(settings.ranker)
        self.settings = settings
        self._rankers = None

    @property
    def tags(self) -> Tags:
        """The tags of tools and servers by the configuration and the settings."""
        return Tags(self._server_tags, self.settings.tags)

    @property
    def rules(self) -> "SearchRules":
        """The current rules that turn a ranking into results."""
        from inspector.search.answer.search import SearchRules

        withholds = not INFO[self.ranker_name].of_client
        return replace(SearchRules.of(self.settings), tags=self.tags, withholds=withholds)

    @property
    def ranker_name(self) -> str:
        """The name of the current ranker."""
        return self.settings.ranker

    @property
    def ranker(self) -> "Ranker":
        return self.rankers.get(self.ranker_name)

    def search(
        self,
        request: SearchRequest,
        *,
        bound: Collection[str],
        pinned: Collection[str] = (),
        load: bool = True,
        misses: int = MISSES_KEPT,
        unmet: Mapping[str, Sequence[str]] = _NOTHING,
        full: bool = False,
        away: Mapping[str, str] = _NO_TEXTS,
    ) -> "SearchAnswer":
        """Answer a request over the tools as they are now, see ToolSearch and SearchRules.

        With `full` the text includes parameters, whatever the settings say. `away` tells of each name (of a
        server, of a tool) that is not there now why.
        """
        from inspector.search.answer.search import ToolSearch

        rules = replace(
            self.rules,
            unmet=unmet,
            bound=frozenset(bound),
            pinned=frozenset(pinned),
            limit=self._limit(request.limit),
            more=0 if request.limit else self.settings.more_results,
            form="full" if full else self.rules.form,
            away=away,
        )
        rankers = self.rankers
        ranker = rankers.get(self.ranker_name)
        search = ToolSearch(rankers.index, rankers.names, ranker, rules, self.clock)
        answer = search.run(request, load=load, misses=misses)
        return self._with_registry(answer, rankers.index, rules.limit)

    def _with_registry(self, answer: "SearchAnswer", index: "ToolIndex", limit: int) -> "SearchAnswer":
        """The answer with what the registry finds, where it is a tier of the ranker."""
        request = answer.report.request
        is_tier = self.settings.registry and answer.report.ranker == THREE_TIER
        is_ranked = bool(request.query.strip()) and not (
            request.server_name or request.tool_names or request.tags or answer.report.error
        )
        if self._registry is None or self._semantics is None or not (is_tier and is_ranked):
            return answer
        if not index.is_semantic and index.tools:
            return answer
        floor = max(self.settings.iso_threshold, request.min_similarity)
        return self._registry.added(answer, self._semantics, limit=limit, floor=floor)

    def _limit(self, asked: int) -> int:
        """The most results: as many as were asked for, within bounds, or as the settings say."""
        usual = self.settings.max_search_results
        return min(asked, max(self.settings.max_limit, usual)) if asked > 0 else usual

    def look(
        self,
        request: SearchRequest,
        *,
        bound: Collection[str],
        pinned: Collection[str] = (),
        unmet: Mapping[str, Sequence[str]] = _NOTHING,
    ) -> "SearchAnswer":
        """Answer as `search` does, for a person: nothing is loaded, and more of the misses are reported.

        What this session has bound or pinned is of no account where a client's own search is followed.
        """
        if INFO[self.ranker_name].of_client:
            bound = pinned = ()
        return self.search(request, bound=bound, pinned=pinned, load=False, misses=MISSES_SHOWN, unmet=unmet)

    def given(self, index: "ToolIndex | None" = None) -> tuple[EvalCase, ...]:
        """The labelled requests that were given and still apply to the tools of the index."""
        known = (index or self.index).position.keys()
        return tuple(case for case in self._cases() if all(group & known for group in case.relevant))

    def evalset(self, index: "ToolIndex | None" = None) -> EvalSet:
        """Labelled requests over the tools as they are: those given that still apply, or generated ones.

        With `index`, for its tools instead: a measurement needs an index that does not change.
        """
        index = index or self.index
        given = self.given(index)
        if any(case.is_possible for case in given):
            return EvalSet("given", index.tools, given)
        from inspector.search.answer.generate import generate

        return EvalSet(GENERATED, index.tools, generate(index.tools))

    async def settled(self) -> None:
        """Wait until the index is as complete as it can get."""
        if self._embedding is not None:
            await self._embedding.settled()
        await self._use.settled()

    def close(self) -> None:
        """Embed and read nothing more."""
        self._use.close()
        if self._embedding is not None:
            self._embedding.close()

    def cancel_embedding(self) -> None:
        """Stop embedding and continue with what is embedded so far."""
        if self._embedding is not None:
            self._embedding.cancel()

    @cached_property
    def _semantics(self) -> "Semantics | None":
        if self._embedder is None:
            return None
        from inspector.search.index.semantics import Semantics

        return Semantics(self._embedder, self._vectors, self._static)

    def _refresh(self) -> None:
        index = self.index
        # Nobody waits for this; another index that came meanwhile has these vectors too.
        renewed = index.with_new_vectors()
        with self._reading:
            if self._index is index:
                self._index, self._rankers = renewed, None
                if self._semantics is not None:
                    self._semantics.settle(renewed.vectors)

    def use_index(self, index: "ToolIndex") -> None:
        """Answer from another index from now on; what it lacks gets its vectors in this session."""
        self._number = self._wanted_number
        if index.semantics is not self._semantics:
            index = copy(index)
            index.semantics = self._semantics
        self._index = index
        self._rankers = None


class Live(LiveModel):
    """Every replaceable part of a session. `toolset` is "" if all tools are permitted.

    The configuration and the settings are those that `sight` leaves.
    """

    configuration: Configuration
    retrieval: "Retrieval"
    toolset: str = ""
    sight: Sight = EVERYTHING

    @property
    def audience(self) -> Audience:
        """Whom the session's model works for now."""
        return Audience(self.configuration.toolset(self.toolset), self.sight)
