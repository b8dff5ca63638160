"""The search that the page is about: its request and report, made again when the tools change."""

from dataclasses import dataclass, replace

from inspector.app.pages.find.results.content import NO_RANKS
from inspector.core.ranking import SearchReport, SearchRequest
from inspector.core.tool import Tool
from inspector.search.index import ToolIndex
from inspector.session.commands import Commands
from inspector.session.view import SessionView


@dataclass(frozen=True, slots=True)
class Search:
    """A request, its report, and what it was made over.

    `index` is None for a report of the conversation, which stays as it was. `asked_of` holds the tools when
    the question was asked; once they differ, `ranks_before` holds the ranks until then.
    """

    request: SearchRequest = SearchRequest()
    report: SearchReport | None = None
    ranker: str = ""
    index: ToolIndex | None = None
    asked_of: tuple[Tool, ...] = ()
    ranks_before: "dict[str, int] | None" = None

    @property
    def ranks(self) -> dict[str, int]:
        return self.ranks_before or dict(NO_RANKS)


def search(request: SearchRequest, commands: Commands, session: SessionView) -> Search:
    """Search as a person: it is an event of the session. Raises ToolsightError."""
    return _over(request, commands.search(request), session)


def look(request: SearchRequest, session: SessionView) -> Search:
    """Search without recording anything."""
    return _over(request, _report(request, session), session)


def again(made: Search, session: SessionView) -> Search:
    """The search over the tools and vectors of now, or itself if they are the same or it is an older one."""
    index = session.retrieval.index
    if made.index is None or made.index is index:
        return made
    ranks = made.ranks_before
    if index.tools == made.asked_of:
        ranks = None
    elif made.report is not None and not ranks:
        ranks = {hit.tool_id: hit.rank for hit in made.report.hits}
    return replace(made, report=_report(made.request, session), index=index, ranks_before=ranks)


def _report(request: SearchRequest, session: SessionView) -> SearchReport:
    state = session.state
    return session.retrieval.look(request, bound=state.bound_ids, pinned=state.pinned).report


def _over(request: SearchRequest, report: SearchReport, session: SessionView) -> Search:
    index = session.retrieval.index
    return Search(request, report, session.retrieval.ranker_name, index, index.tools)
