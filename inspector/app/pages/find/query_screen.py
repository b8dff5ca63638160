"""The base of the pages that explain a search: a request, a tool, and the keys from page to page."""

from typing import ClassVar

from textual.binding import Binding, BindingType

from inspector.app.base_screen import BaseScreen
from inspector.app.dialogs.tool_picker import ToolPicker
from inspector.app.navigation import ComparePage, ConfusablePage, EditPage, StepsPage, WhyNotPage
from inspector.domain.ranking import SearchRequest
from inspector.engine.view import DiscoveryView

_NO_QUERY = "Search first: press i, type a query, press enter."
_NO_TOOL = "Put the cursor on a tool first."
_NOT_FOUND_BY_SEARCH = "This tool is not in the search index, so it has no score that an edit could change."


class QueryScreen(BaseScreen):
    """A page about one request. `own_action` is the action that would only reopen the page."""

    own_action: ClassVar[str] = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w", "why_not", "why not", id="xray.why_not"),
        Binding("c", "compare", "compare", id="xray.compare"),
        Binding("s", "steps", "steps", id="xray.steps"),
        Binding("e", "edit", "edit", id="xray.edit"),
        Binding("x", "confusable", "confusable", id="xray.confusable"),
    ]

    def __init__(self, request: SearchRequest) -> None:
        super().__init__()
        self.request = request

    @property
    def tool_id(self) -> str:
        """The tool that the page is about or that is under the cursor; "" if there is none."""
        return ""

    @property
    def retrieval(self) -> DiscoveryView:
        return self.session.retrieval

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Offer every action except the page's own."""
        return action != self.own_action or not self.own_action

    def action_why_not(self) -> None:
        """Explain why the tool under the cursor is not found or not first; without one, ask for a tool."""
        if not self._has_query():
            return
        if self.tool_id:
            self.explain(self.tool_id)
        else:
            self.pick_tool()

    def pick_tool(self) -> None:
        """Ask for a tool, then explain its rank."""
        self.app.push_screen(ToolPicker(self.session, "Which tool should be explained?"), self.explain)

    def explain(self, tool_id: str | None) -> None:
        """Open a tool's why-not page; None means that the picker was closed."""
        if tool_id:
            self.open(WhyNotPage(tool_id, self.request))

    def action_compare(self) -> None:
        """Show the same query under every ranker."""
        if self._has_query():
            self.open(ComparePage(self.request, self.tool_id))

    def action_steps(self) -> None:
        """Compare one search for the whole request with one search per step."""
        if self._has_query():
            self.open(StepsPage(self.request))

    def action_edit(self) -> None:
        """Edit the tool and see what that would change."""
        if self.tool_id not in self.retrieval.index.position:
            self.warn(_NOT_FOUND_BY_SEARCH if self.tool_id else _NO_TOOL)
            return
        self.open(EditPage(self.tool_id, self.request.query))

    def action_confusable(self) -> None:
        """List the tools that a search may confuse."""
        self.open(ConfusablePage())

    def _has_query(self) -> bool:
        if not self.request.query.strip():
            self.warn(_NO_QUERY)
            return False
        return True
