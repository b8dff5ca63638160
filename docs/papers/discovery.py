"""Runs discovery over the tasks as a Toolsight session does: search, bind, evict.

The search, the manifest, the meta-tool and the eviction are Toolsight's own. Only the model is missing: a
planner that knows nothing searches in every turn for what was said, step by step if there are several, and
even for small talk. A tool that a step needs is called if it is bound.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from msgspec import Struct
from msgspec.structs import replace

from docs.papers.method import TaskRun, TurnRun
from docs.papers.task import Step, Task, Turn
from docs.papers.testbed import Testbed
from inspector.core.ranking import Score, SearchRequest
from inspector.core.session import Binding, SessionState, ToolState
from inspector.core.settings import BindingSettings, DiscoverySettings, ManifestSettings
from inspector.core.tool import Catalog
from inspector.loop.tool_context import Limits, evictions
from inspector.schema.json_value import compact
from inspector.search.answer.answer_text import SearchAnswer
from inspector.search.answer.search import SearchRules, ToolSearch
from inspector.search.index.document import texts_by_key
from inspector.search.index.embedded_text import Key
from inspector.search.index.semantics import Embedder, Semantics, StaticEmbedder
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.ranker import Ranker, Ranking
from inspector.tokens.delivery import DefinitionLoader, tools_array
from inspector.tokens.manifest import SEARCH_TOOLS, entries, fitted_manifest, search_tools_definition

Count = Callable[[str], int]


class _NoClock:
    """A clock that stands still: the time of a search is measured elsewhere."""

    def now(self) -> float:
        return 0.0

    def monotonic(self) -> float:
        return 0.0


class _NoStore:
    """Keeps nothing, because the embedder remembers vectors."""

    def vectors(self, model: str, keys: Sequence[Key]) -> dict[Key, bytes]:  # noqa: ARG002
        return {}

    def keep_vectors(self, model: str, vectors: object) -> None:
        """Do nothing."""


class _Remembering:
    """A ranker that ranks each query once, so that runs that differ only in limits share the rankings.

    Scores have no parts, because nothing reads them here.
    """

    def __init__(self, ranker: Ranker, index: ToolIndex) -> None:
        self.name = ranker.name
        self._ranker = ranker
        self._index = index
        self._known: dict[str, Ranking] = {}

    def terms(self, query: str) -> tuple[str, ...]:  # noqa: ARG002 - only reports for people show them
        return ()

    def rank(self, query: str) -> Ranking:
        if query not in self._known:
            ranking = self._ranker.rank(query)
            self._known[query] = replace(ranking, explain=partial(self._score, ranking))
        return self._known[query]

    def _score(self, ranking: Ranking, position: int) -> Score:
        return Score(self._index.tools[position].id, float(ranking.values[position]))


class Searcher:
    """Toolsight's search over a testbed; without an `embedder`, by words alone."""

    def __init__(
        self,
        testbed: Testbed,
        embedder: Embedder | None,
        settings: DiscoverySettings | None = None,
        *,
        static: StaticEmbedder | None = None,
    ) -> None:
        self.settings = settings or DiscoverySettings()
        semantics = Semantics(embedder, _NoStore(), static) if embedder is not None else None
        index = ToolIndex(testbed.tools, semantics=semantics)
        if semantics is not None:
            semantics.embed(texts_by_key(testbed.tools), keep=False)
            index = index.with_new_vectors()
        self.rankers = CatalogRankers(index, self.settings)
        self._ranker = _Remembering(self.rankers.get(self.settings.ranker), index)

    def search(self, query: str, bound: Collection[str], settings: DiscoverySettings) -> SearchAnswer:
        rules = replace(SearchRules.of(settings), bound=bound)
        search = ToolSearch(self.rankers.index, self.rankers.names, self._ranker, rules, _NoClock())
        return search.run(SearchRequest(query), misses=0)


class Context(Struct, frozen=True):
    """A model call's context: the bound tools in order, and the tokens of all searches so far."""

    bound: tuple[str, ...]
    traffic: int


@dataclass
class _Session:
    """What is bound in a running task. `traffic` is the tokens of searches and their results so far."""

    bound: dict[str, ToolState]
    traffic: int = 0
    calls: int = 0

    def context(self) -> Context:
        """The context of the next model call."""
        self.calls += 1
        return Context(tuple(self.bound), self.traffic)


class Discovery:
    """Tools that are searched for; up to `capacity` stay bound, delivered in load order."""

    resident = 0

    def __init__(
        self,
        name: str,
        testbed: Testbed,
        *,
        searcher: Searcher,
        count: Count,
        settings: DiscoverySettings | None = None,
        binding: BindingSettings | None = None,
        by_step: bool = True,
        only_missing: bool = False,
    ) -> None:
        """With `only_missing`, the model searches only for tools that are not bound."""
        self.name = name
        self._testbed = testbed
        self._searcher = searcher
        self._count = count
        self._settings = settings or DiscoverySettings()
        self._limits = Limits((binding or BindingSettings()).capacity)
        self._by_step = by_step
        self._only_missing = only_missing
        manifest = fitted_manifest(entries(testbed.tools, {}), ManifestSettings(), count)
        self.meta = count(compact(search_tools_definition(manifest.text)))

    @cached_property
    def proxy(self) -> int:
        """Tokens of `call_tool`'s definition, which replaces all others in delivery `call_tool`."""
        catalog = Catalog(self._testbed.tools, frozenset(self._testbed.tokens))
        loader = DefinitionLoader(catalog)
        return sum(
            self._count(compact(one)) for one in tools_array(catalog, SessionState(), "call_tool", loader)
        )

    def run(self, task: Task) -> TaskRun:
        session = _Session({})
        return TaskRun(task.kind, tuple(self._run(turn, session) for turn in task.turns))

    def calls(self, task: Task) -> list[list[Context]]:
        """The context of each model call, by turn."""
        session = _Session({})
        return [self._turn(turn, session)[0] for turn in task.turns]

    def _run(self, turn: Turn, session: _Session) -> TurnRun:
        contexts, found = self._turn(turn, session)
        sizes = [self.meta + sum(map(self._testbed.tokens.__getitem__, one.bound)) for one in contexts]
        bound = frozenset(tool_id for one in contexts[1:] or contexts for tool_id in one.bound)
        return TurnRun(
            tools=sum(sizes),
            traffic=sum(one.traffic for one in contexts),
            last=sizes[-1],
            end=sizes[-1] + contexts[-1].traffic,
            calls=len(contexts),
            bound=bound,
            found=frozenset(found),
            needed=turn.needed,
        )

    def _turn(self, turn: Turn, session: _Session) -> tuple[list[Context], list[str]]:
        """The context of each model call (searches, steps and the answer), and what was found."""
        contexts: list[Context] = []
        found: list[str] = []
        for query, steps in self._plan(turn):
            if not (self._only_missing and all(step.tool_id in session.bound for step in steps)):
                contexts.append(session.context())
                found += self._search(query, session)
            for step in steps:
                contexts.append(session.context())
                self._use(step.tool_id, session)
        return [*contexts, session.context()], found

    def _plan(self, turn: Turn) -> list[tuple[str, tuple[Step, ...]]]:
        """What to search for, and the steps that follow the search."""
        if self._by_step and len(turn.steps) > 1:
            return [(step.query, (step,)) for step in turn.steps]
        return [(turn.text, turn.steps)]

    def _search(self, query: str, session: _Session) -> list[str]:
        answer = self._searcher.search(query, session.bound, self._settings)
        call = compact([{"name": SEARCH_TOOLS, "arguments": {"query": query}}])
        session.traffic += self._count(call) + self._count(f"{SEARCH_TOOLS}\n{answer.text}")
        found = [hit.tool_id for hit in answer.report.results]
        for rank, tool in enumerate(answer.to_load, start=1):
            tokens = self._testbed.tokens[tool.id]
            session.bound[tool.id] = ToolState(
                tool.id, tokens, Binding.LOADED, last_call=session.calls, place=rank
            )
        for tool in answer.already:
            session.bound[tool.id] = replace(session.bound[tool.id], last_call=session.calls)
        for gone in evictions(list(session.bound.values()), self._limits, 0.0, found):
            del session.bound[gone.tool_id]
        return found

    def _use(self, tool_id: str, session: _Session) -> None:
        known = session.bound.get(tool_id)
        if known is not None:
            session.bound[tool_id] = replace(known, uses=known.uses + 1, last_call=session.calls)
