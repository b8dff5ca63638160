"""The `search_tools` meta-tool: searches, loads the results, and notes redundant searches."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from inspector.domain.events import RedundantSearch, SearchPerformed
from inspector.domain.jsonvalue import JsonObject
from inspector.domain.manifest import SEARCH_TOOLS
from inspector.domain.ranking import SearchRequest
from inspector.domain.session import Binding
from inspector.engine.live import Live
from inspector.engine.loop.binding.binder import Binder
from inspector.engine.loop.binding.delivery import schema_text
from inspector.engine.loop.guards.iteration import IterationGuard
from inspector.engine.loop.guards.redundancy import RedundancyDetector
from inspector.engine.ports import Clock
from inspector.engine.session import Session

if TYPE_CHECKING:
    from inspector.engine.discovery.search import SearchAnswer


class SearchTools:
    """The meta-tool that searches for a model."""

    name = SEARCH_TOOLS

    def __init__(
        self,
        session: Session,
        *,
        binder: Binder,
        iteration: IterationGuard,
        redundancy: RedundancyDetector,
        clock: Clock,
        live: Live,
    ) -> None:
        self._session = session
        self._binder = binder
        self._iteration = iteration
        self._redundancy = redundancy
        self._clock = clock
        self._live = live

    def execute(self, arguments: JsonObject) -> str:
        """Run the search and bind its results for the next model call."""
        request = parse_request(arguments)
        state = self._session.state
        answer = self._live.retrieval.search(
            request,
            bound=state.bound_ids,
            pinned=state.pinned,
            unmet=self._binder.unmet(),
            full=self._live.settings.binding.delivery == "call_tool",
        )
        answer = answer.within(self._binder.context.staying([hit.tool_id for hit in answer.report.results]))
        found = [hit.tool_id for hit in answer.report.results]
        self._redundancy.forget([tool.id for tool in state.with_binding(Binding.EVICTED)])
        redundant = self._redundancy.after_search(request.label(), found, self._clock.monotonic())
        text = self._text(answer, redundant)
        self._session.emit(SearchPerformed(answer.report, text))
        self._bind(answer, found)
        if redundant:
            self._session.emit(redundant)
        return text

    def _text(self, answer: "SearchAnswer", redundant: RedundantSearch | None) -> str:
        """What the model reads: the matches, their schemas if it gets none otherwise, the guard's note."""
        parts = [answer.text]
        if self._live.settings.binding.delivery == "text" and answer.to_load:
            parts.append(schema_text(answer.to_load))
        if redundant:
            parts.append(redundant.note)
        return "\n\n".join(parts)

    def _bind(self, answer: "SearchAnswer", found: Sequence[str]) -> None:
        """Bind the results; a tool that was evicted and is found again may be used again."""
        for tool_id in self._binder.context.find(found, answer.report.request.label()):
            self._iteration.clear(tool_id)


def parse_request(arguments: JsonObject) -> SearchRequest:
    """Parse arguments leniently: models write a name instead of a list, nulls, numbers instead of text."""
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
