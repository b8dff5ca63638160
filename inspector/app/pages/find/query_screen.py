"""What the pages of the score X-ray share: a request, a tool, and the ways from one page to another."""

from typing import ClassVar

from textual.binding import Binding, BindingType

from inspector.app.base_screen import BaseScreen
from inspector.app.draw.failure import failure_text
from inspector.domain.ranking import SearchRequest
from inspector.engine.discovery.retrieval import Retrieval
from widgets import RecordList, visible

_NO_QUERY = "Search for something first: i, some words, enter."
_NO_TOOL = "Put the cursor on a tool first."
_NOT_FOUND_BY_SEARCH = "It is not in the search index, so there is no score that an edit could change."


class XrayScreen(BaseScreen):
    """A page about one request. `own_action` is the one that would only open the same page again."""

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
        """The tool that the page is about, or that is under the cursor; "" when there is none."""
        return ""

    @property
    def retrieval(self) -> Retrieval:
        return self.bench.retrieval

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Whether there is such an action here."""
        return action != self.own_action or not self.own_action

    def action_why_not(self) -> None:
        """Why the tool under the cursor is not found, or not first; without one, ask for a tool."""
        if not self._has_query():
            return
        if self.tool_id:
            self.explain(self.tool_id)
        else:
            self.pick_tool()

    def pick_tool(self) -> None:
        """Ask for a tool, then explain its fate."""
        from inspector.app.dialogs.tool_picker import ToolPicker

        self.app.push_screen(ToolPicker(self.bench, "Why is this tool not found?"), self.explain)

    def explain(self, tool_id: str | None) -> None:
        """Open the why-not page of a tool; None was closed without a choice."""
        from inspector.app.pages.find.why_not.screen import WhyNotScreen

        if tool_id:
            self.app.push_screen(WhyNotScreen(tool_id, self.request))

    def action_compare(self) -> None:
        """The same query under every ranker."""
        from inspector.app.pages.find.compare.screen import CompareScreen

        if self._has_query():
            self.app.push_screen(CompareScreen(self.request, self.tool_id))

    def action_steps(self) -> None:
        """The whole request against one search a step."""
        from inspector.app.pages.find.steps.screen import StepsScreen

        if self._has_query():
            self.app.push_screen(StepsScreen(self.request))

    def action_edit(self) -> None:
        """Edit the tool, and see what that would change."""
        if self.tool_id not in self.retrieval.index.position:
            self.warn(_NOT_FOUND_BY_SEARCH if self.tool_id else _NO_TOOL)
            return
        from inspector.app.pages.find.what_if.screen import WhatIfScreen

        self.app.push_screen(WhatIfScreen(self.tool_id, self.request.query))

    def action_confusable(self) -> None:
        """The tools that a search may take for one another."""
        from inspector.app.pages.tools.confusable.screen import ConfusableScreen

        self.app.push_screen(ConfusableScreen())

    def open_tool(self, tool_id: str) -> None:
        """Show a tool, or say that it is gone."""
        if self.bench.catalog.get(tool_id) is None:
            self.warn(f"{visible(tool_id, limit=80, newlines=False)} is not in the catalog any more.")
            return
        self.toolsight.open_tool(tool_id)

    def warn(self, message: str) -> None:
        """Say what cannot be done now."""
        self.notify(message, severity="warning", markup=False)

    def fail(self, error: BaseException) -> None:
        """Say what went wrong."""
        title, message = failure_text(error)
        self.notify(message, title=title, severity="error", markup=False)

    def on_record_list_copied(self, event: RecordList.Copied) -> None:
        """Say what was copied."""
        self.notify(visible(event.record.copy, limit=80, newlines=False), title="Copied", markup=False)

    def _has_query(self) -> bool:
        if not self.request.query.strip():
            self.warn(_NO_QUERY)
            return False
        return True
