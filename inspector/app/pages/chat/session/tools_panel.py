"""The three panes: loaded, deferred, evicted."""

from collections.abc import Callable

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.reactive import reactive
from textual.widgets import Tab, Tabs

from inspector.app.draw.tool_row import COLUMNS, deferred_rows, evicted_rows, loaded_rows, usage
from inspector.core.number import tokens
from inspector.core.session import Binding, SessionState
from widgets import Record, RecordList

PANES: tuple[tuple[str, Callable[[SessionState, float], tuple[Record, ...]], str], ...] = (
    ("loaded", loaded_rows, "No tools loaded yet. Searches load them."),
    ("deferred", lambda session, _: deferred_rows(session), "No deferred tools."),
    (
        "evicted",
        lambda session, _: evicted_rows(session),
        "No tools evicted: no loops, and enough room.",
    ),
)


class ToolsPanel(Vertical):
    """The tools that the model sees, can find, and lost: as tabs, or all at once if there is room."""

    ttl = 0.0
    """How many seconds a loaded tool stays after its last use, 0 for as long as there is room."""
    session: reactive[SessionState] = reactive(SessionState(), init=False)

    def compose(self) -> ComposeResult:
        tabs = Tabs(*(Tab(name.capitalize(), id=f"pane-{name}") for name, _, _ in PANES), id="tools-tabs")
        tabs.can_focus = False
        yield tabs
        for name, _, empty in PANES:
            yield RecordList(COLUMNS, header=True, empty=empty, id=f"tools-{name}", classes="pane")

    def watch_session(self, old: SessionState, session: SessionState) -> None:
        if old.tools is session.tools and old.held is session.held and old.load_order == session.load_order:
            return
        counts = []
        for name, rows_of, _ in PANES:
            rows = rows_of(session, self.ttl)
            here = [session.tools[row.key] for row in rows if row.key in session.tools]
            held = f" + {len(rows) - len(here)} held" if len(rows) > len(here) else ""
            counts.append(f"{len(here)} {name}{held}")
            pane = self.query_one(f"#tools-{name}", RecordList)
            pane.records = rows
            pane.border_title = f"{name.capitalize()} {len(here)}{held}"
            pane.border_subtitle = f"{tokens(sum(tool.tokens for tool in here))} tokens"
        self.border_title = "   ".join(counts)
        self.border_subtitle = usage(session)
        self._flash_moved(old, session)

    @on(Tabs.TabActivated)
    def _show_pane(self, event: Tabs.TabActivated) -> None:
        event.stop()
        for name, _, _ in PANES:
            self.set_class(event.tab.id == f"pane-{name}", f"-{name}")

    def _flash_moved(self, old: SessionState, session: SessionState) -> None:
        """Highlight each tool that moved, once."""
        for tool_id in session.load_order:
            if tool_id not in old.load_order and old.tools:
                self.query_one("#tools-loaded", RecordList).flash(tool_id)
        for tool in session.with_binding(Binding.EVICTED):
            before = old.tools.get(tool.id)
            if before is not None and before.binding is not Binding.EVICTED:
                self.query_one("#tools-evicted", RecordList).flash(tool.id)
