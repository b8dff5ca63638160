"""The three panes: loaded, deferred, evicted."""

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.reactive import reactive

from inspector.app.presenters.number import tokens
from inspector.app.presenters.tools import COLUMNS, deferred_rows, evicted_rows, loaded_rows
from inspector.domain.session import Binding, SessionState
from widgets import RecordList


class ToolsPanel(Vertical):
    """What the model sees, what it could find, and what was taken away."""

    session: reactive[SessionState] = reactive(SessionState(), init=False)

    def compose(self) -> ComposeResult:
        for name, empty in (
            ("loaded", "Nothing is bound but search_tools. A search loads tools."),
            ("deferred", "Nothing waits for a search."),
            ("evicted", "Nothing evicted. The loop guard evicts what repeats itself."),
        ):
            pane = RecordList(COLUMNS, empty=empty, id=f"tools-{name}", classes="pane")
            pane.border_title = name.capitalize()
            yield pane

    def watch_session(self, old: SessionState, session: SessionState) -> None:
        if old.tools is session.tools and old.load_order == session.load_order:
            return
        for name, rows in (
            ("loaded", loaded_rows(session)),
            ("deferred", deferred_rows(session)),
            ("evicted", evicted_rows(session)),
        ):
            pane = self.query_one(f"#tools-{name}", RecordList)
            pane.records = rows
            pane.border_title = f"{name.capitalize()} {len(rows)}"
            pane.border_subtitle = tokens(sum(session.tools[row.key].tokens for row in rows))
        self._flash_moved(old, session)

    def _flash_moved(self, old: SessionState, session: SessionState) -> None:
        """A tool that moved from deferred or evicted to loaded shows it once."""
        for tool_id in session.load_order:
            if tool_id not in old.load_order and old.tools:
                self.query_one("#tools-loaded", RecordList).flash(tool_id)
        for tool in session.with_binding(Binding.EVICTED):
            before = old.tools.get(tool.id)
            if before is not None and before.binding is not Binding.EVICTED:
                self.query_one("#tools-evicted", RecordList).flash(tool.id)
