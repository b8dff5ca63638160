"""The `search_tools` meta-tool: searches, loads what it found, and notes when nothing new came of it."""

from collections.abc import Mapping

from inspector.domain.event import SearchPerformed, ToolLoaded
from inspector.domain.jsonvalue import JsonObject
from inspector.domain.manifest import SEARCH_TOOLS
from inspector.domain.ranking import SearchRequest
from inspector.domain.session import Binding
from inspector.engine.guards.iteration import IterationGuard
from inspector.engine.guards.redundancy import RedundancyDetector
from inspector.engine.ports import Clock
from inspector.engine.retrieval.retrieval import Retrieval
from inspector.engine.retrieval.search import SearchAnswer
from inspector.engine.session import Session


class SearchTools:
    """The synthetic tool a model searches with."""

    name = SEARCH_TOOLS

    def __init__(
        self,
        session: Session,
        retrieval: Retrieval,
        iteration: IterationGuard,
        redundancy: RedundancyDetector,
        clock: Clock,
    ) -> None:
        self._session = session
        self._retrieval = retrieval
        self._iteration = iteration
        self._redundancy = redundancy
        self._clock = clock

    def execute(self, arguments: JsonObject) -> str:
        """Run the search; what it found is bound for the next model call."""
        request = parse_request(arguments)
        answer = self._retrieval.search(request, bound=self._session.state.bound_ids)
        found = [hit.tool_id for hit in answer.report.results]
        self._redundancy.forget([tool.id for tool in self._session.state.with_binding(Binding.EVICTED)])
        redundant = self._redundancy.after_search(request.label(), found, self._clock.monotonic())
        text = f"{answer.text}\n\n{redundant.note}" if redundant else answer.text
        self._session.emit(SearchPerformed(answer.report, text))
        self._load(answer)
        if redundant:
            self._session.emit(redundant)
        return text

    def _load(self, answer: SearchAnswer) -> None:
        for tool in answer.to_load:
            known = self._session.state.tools.get(tool.id)
            self._iteration.clear(tool.id)
            self._session.emit(
                ToolLoaded(tool.id, known.tokens if known else 0, answer.report.request.label())
            )


def parse_request(arguments: JsonObject) -> SearchRequest:
    """Arguments as models write them: a name instead of a list, nulls, numbers instead of text."""
    names = arguments.get("tool_names")
    if isinstance(names, str):
        names = [part.strip() for part in names.split(",")]
    if not isinstance(names, list | tuple):
        names = []
    return SearchRequest(
        query=_text(arguments, "query"),
        server_name=_text(arguments, "server_name"),
        tool_names=tuple(str(name) for name in names if str(name).strip()),
    )


def _text(arguments: Mapping[str, object], key: str) -> str:
    value = arguments.get(key)
    return "" if value is None else str(value).strip()
