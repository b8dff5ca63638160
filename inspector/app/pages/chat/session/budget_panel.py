"""The live token budget."""

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Sparkline, Static

from inspector.app.draw.budget import few_segments, saving, window_label
from inspector.domain.session import SessionState
from widgets import Meter, Segment, legend

_FIRST_LINE = 3


class BudgetPanel(Vertical):
    """The window as a stacked bar, its legend, and what discovery saves."""

    BORDER_TITLE = "Budget"

    session: reactive[SessionState] = reactive(SessionState(), init=False)

    def compose(self) -> ComposeResult:
        yield Meter(tick=0.7, id="budget-meter")
        yield Static("Tokens are counted once a server is ready.", id="budget-legend", markup=False)
        with Horizontal(id="budget-saving"):
            yield Static(id="budget-text", markup=False)
            yield Sparkline([], summary_function=max, id="budget-spark")

    def watch_session(self, session: SessionState) -> None:
        budget = session.budget
        if budget is None:
            return
        parts = few_segments(budget.parts)
        meter = self.query_one(Meter)
        meter.segments = parts
        meter.total = float(budget.window)
        meter.tick = budget.warn_at
        meter.label = window_label(budget)
        self._show_legend(parts)
        self.query_one("#budget-text", Static).update(saving(budget))
        self.query_one(Sparkline).data = [float(n) for n in session.tool_tokens]
        self.border_subtitle = budget.tokenizer.label

    def on_resize(self) -> None:
        if self.session.budget is not None:
            self._show_legend(few_segments(self.session.budget.parts))

    def _show_legend(self, parts: tuple[Segment, ...]) -> None:
        """Draw the legend in two lines if one is too short; no entry is split."""
        whole = legend(parts)
        if whole.cell_length > self.content_size.width:
            whole = Content("\n").join([legend(parts[:_FIRST_LINE]), legend(parts[_FIRST_LINE:])])
        self.query_one("#budget-legend", Static).update(whole)
