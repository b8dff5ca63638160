"""The live token budget, and the tools by what they are: loaded, deferred, evicted."""

from collections.abc import Callable

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static, Tab, Tabs

from inspector.app.base_screen import VerdictLine
from inspector.app.draw.budget import few_segments, no_budget, two_bars, window_label
from inspector.app.draw.table import COLUMNS, deferred_rows, evicted_rows, loaded_rows, usage
from inspector.core.number import count, large_saving, tokens
from inspector.core.session import SessionState
from widgets import BigNumber, Meter, Record, RecordList, Segment, StillText, legend

_FIRST_LINE = 3


_NOTHING = "Token counts appear once a server is ready."


class BudgetPanel(Vertical):
    """What discovery saves now, as two bars, and whether it pays; then the window as a stacked bar."""

    BORDER_TITLE = "Budget"

    session: reactive[SessionState] = reactive(SessionState(), init=False)

    def compose(self) -> ComposeResult:
        yield StillText(_NOTHING, id="budget-bars", markup=False)
        with Horizontal(id="budget-glance"):
            yield BigNumber(id="budget-share")
            with Vertical(id="budget-told"):
                yield StillText(id="budget-less", markup=False)
                yield VerdictLine(id="budget-verdict")
        yield Meter(tick=0.7, id="budget-meter")
        yield StillText(id="budget-legend", markup=False)

    def watch_session(self, session: SessionState) -> None:
        budget = session.budget
        if budget is None:
            self._show_nothing()
            return
        self.query_one(VerdictLine).look()
        parts = few_segments(budget.parts)
        meter = self.query_one(Meter)
        meter.segments = parts
        meter.total = float(budget.window)
        meter.tick = budget.warn_at
        meter.label = window_label(budget)
        self.set_class(budget.is_tight, "-tight")
        self.border_subtitle = budget.tokenizer.label
        self._show_texts(parts)

    def _show_nothing(self) -> None:
        """Say why there is no budget, in place of that of another moment."""
        self.query_one("#budget-bars", Static).update(no_budget(self.session, _NOTHING))
        self.query_one("#budget-legend", Static).update("")
        meter = self.query_one(Meter)
        meter.segments, meter.total, meter.label = (), 0.0, ""
        self.border_subtitle = ""
        self._show_share()

    def on_resize(self) -> None:
        if self.session.budget is not None:
            self._show_texts(few_segments(self.session.budget.parts))

    def _show_share(self) -> None:
        """Write the share large, for a room: only tall terminals show it."""
        budget, bound = self.session.budget, count(len(self.session.tools), "tool")
        self.set_class(budget is None or not budget.saved, "-even")
        if budget is None:
            return
        self.set_class(budget.saved < 0, "-more")
        share = budget.saved_fraction
        less = "less" if share >= 0 else "more" if share > -1 else "as much"
        self.query_one(BigNumber).value = large_saving(share)
        told = Content.styled(
            f"{less} for tools {'as' if share <= -1 else 'than'} with all {bound} bound", "bold"
        )
        self.query_one("#budget-less", StillText).update(told)

    def _show_texts(self, parts: tuple[Segment, ...]) -> None:
        """Draw bars and legend as wide as there is room; a legend takes two lines, and no entry is split."""
        self._show_share()
        self.query_one("#budget-bars", Static).update(two_bars(self.session, self.content_size.width))
        whole = legend(parts)
        if whole.cell_length > self.content_size.width:
            whole = Content("\n").join([legend(parts[:_FIRST_LINE]), legend(parts[_FIRST_LINE:])])
        self.query_one("#budget-legend", Static).update(whole)


PANES: tuple[tuple[str, Callable[[SessionState, float], tuple[Record, ...]], str], ...] = (
    ("loaded", loaded_rows, "No tools loaded yet. Searches load them."),
    ("deferred", lambda session, _: deferred_rows(session), "No deferred tools."),
    ("evicted", lambda session, _: evicted_rows(session), "No tools evicted: no loops, and enough room."),
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

    @on(Tabs.TabActivated)
    def _show_pane(self, event: Tabs.TabActivated) -> None:
        event.stop()
        for name, _, _ in PANES:
            self.set_class(event.tab.id == f"pane-{name}", f"-{name}")
