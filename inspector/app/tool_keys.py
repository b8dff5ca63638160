"""The keys of every list that shows tools: why, edit, and load or unload, for the tool under the cursor."""

from typing import ClassVar

from textual.binding import Binding, BindingType

from inspector.app.base_screen import BaseScreen
from inspector.app.place import EditPage, WhyNotPage
from inspector.core.error import ToolsightError
from inspector.core.ranking import SearchRequest
from inspector.core.session import Binding as Bound
from widgets import visible

_NO_TOOL = "Put the cursor on a tool first."
_LONGEST = 80


class ToolKeys(BaseScreen):
    """A page with tools in a list; `tool_id` is the one under the cursor, "" if there is none."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w", "why", "why", id="tool.why"),
        Binding("e", "edit_tool", "edit", id="tool.edit"),
        Binding("l", "load", "load/unload", id="tool.load"),
    ]

    @property
    def tool_id(self) -> str:
        return ""

    @property
    def request(self) -> SearchRequest:
        """What a tool is explained against: what the model searched for last, or nothing yet."""
        return self.view.state.conversation.last_search or SearchRequest()

    def action_why(self) -> None:
        """Show why the tool is found or not, in Find."""
        if self._has_tool():
            self.open(WhyNotPage(self.tool_id, self.request))

    def action_edit_tool(self) -> None:
        """Edit the tool's texts and see what that changes, in Find."""
        if self._has_tool():
            self.open(EditPage(self.tool_id, self.request.query))

    def action_load(self) -> None:
        """Load the tool, so that the model sees it, or take a loaded one away again."""
        if not self._has_tool():
            return
        try:
            told = self._loaded_or_unloaded()
        except ToolsightError as error:
            self.fail(error)
        else:
            self.notify(told, title=visible(self.tool_id, limit=_LONGEST, newlines=False), markup=False)

    def _loaded_or_unloaded(self) -> str:
        """Turn the tool's binding around, and return what is so now. Raises ToolsightError."""
        state = self.session.state.known(self.tool_id)
        if state is not None and (state.binding is Bound.LOADED or state.returns_loaded):
            self.commands.evict(self.tool_id)
            return "Unloaded. The model must search for it again."
        if state is not None and state.binding.is_bound:
            return "The configuration pins this tool, so it stays bound."
        self.commands.load(self.tool_id)
        return "Loaded. The model sees it in its next call."

    def _has_tool(self) -> bool:
        if not self.tool_id:
            self.warn(_NO_TOOL)
        return bool(self.tool_id)
