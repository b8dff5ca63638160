"""The budget page: where the tokens go, by server and tool."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult

from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.bridge import View
from inspector.app.panels.budget import BudgetPanel
from inspector.app.presenters.budget_table import COLUMNS, budget_rows, is_server
from widgets import KeyBar, RecordList


class BudgetScreen(BaseScreen):
    """The window on top, the table of costs below."""

    CSS_PATH = "budget.tcss"
    AUTO_FOCUS = "#budget-table RecordRows"
    help_lines: ClassVar[tuple[str, ...]] = (
        "Top: the next request against the window; ┊ is where it counts as tight.",
        "Static is what binding every permitted tool would cost, as one compact array.",
        "Below: what each server and tool adds to that. enter opens a tool, on a server f2.",
    )

    def compose(self) -> ComposeResult:
        yield HeaderLine(markup=False)
        yield BudgetPanel(id="budget")
        yield RecordList(
            COLUMNS,
            header=True,
            empty="No tools yet: no server is ready (f2 says why).",
            id="budget-table",
            classes="pane",
        )
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#budget-table").border_title = "If every tool were bound"

    def show_view(self, view: View) -> None:
        self.query_one(BudgetPanel).session = view.session
        self.query_one("#budget-table", RecordList).records = budget_rows(view.session)

    @on(RecordList.Selected, "#budget-table")
    def _open_tool(self, event: RecordList.Selected) -> None:
        if is_server(event.key):
            self.toolsight.action_page("servers")
        else:
            self.toolsight.open_tool(event.key)

    @on(RecordList.Copied)
    def _tell_copied(self) -> None:
        self.notify("", title="Copied", markup=False, timeout=2)
