"""The live token budget."""

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from inspector.app.draw.budget import few_segments, two_bars, window_label
from inspector.domain.session import SessionState
from widgets import Meter, Segment, legend

_FIRST_LINE = 3


class BudgetPanel(Vertical):
    """What discovery saves, as two bars on one scale; then the window as a stacked bar, and its legend."""

    BORDER_TITLE = "Budget"

    session: reactive[SessionState] = reactive(SessionState(), init=False)

    def compose(self) -> ComposeResult:
        yield Static("Tokens are counted once a server is ready.", id="budget-bars", markup=False)
        yield Meter(tick=0.7, id="budget-meter")
        yield Static(id="budget-legend", markup=False)

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
        self.set_class(budget.is_tight, "-tight")
        self.border_subtitle = budget.tokenizer.label
        self._show_texts(parts)

    def on_resize(self) -> None:
        if self.session.budget is not None:
            self._show_texts(few_segments(self.session.budget.parts))

    def _show_texts(self, parts: tuple[Segment, ...]) -> None:
        """Draw bars and legend as wide as there is room; a legend takes two lines, and no entry is split."""
        self.query_one("#budget-bars", Static).update(two_bars(self.session, self.content_size.width))
        whole = legend(parts)
        if whole.cell_length > self.content_size.width:
            whole = Content("\n").join([legend(parts[:_FIRST_LINE]), legend(parts[_FIRST_LINE:])])
        self.query_one("#budget-legend", Static).update(whole)
