"""What the configurations of the MCP clients on this machine cost."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.draw.problem import failure_line
from inspector.app.pages.cost.machine import content
from inspector.measure.audit.result import Audit, ConfigurationAudit
from widgets import KeyBar, RecordList

# Padding and scroll bar.
_BESIDE = 4


class MachineScreen(BaseScreen):
    """Every configuration in a list, the one under the cursor in full below. It only reads files."""

    page = "machine"
    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#configurations RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "again", "reload", id="machine.again"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "The servers configured in Claude Desktop, Claude Code, Cursor, VS Code and other clients.",
        "Nothing is started: the numbers use the tools each server listed when last connected.",
        "all bound: tokens for every definition, in each model call. first call: with every tool deferred.",
        "discovery saves: whether discovery is cheaper than binding every tool, both with a prompt cache.",
        "enter opens the full configuration, y copies its path, r rereads the files.",
    )

    def __init__(self) -> None:
        super().__init__()
        self._audit: Audit | None = None

    def compose(self) -> ComposeResult:
        yield HeaderLine(markup=False)
        yield Static(content.READING, id="facts", markup=False)
        yield RecordList(content.COLUMNS, header=True, empty=content.READING, id="configurations")
        with VerticalScroll(id="configuration", can_focus=True):
            yield Static(id="detail", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#configurations").border_title = "Configurations"
        self.query_one("#configuration").border_title = "This configuration"
        self.action_again()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_detail)

    def action_again(self) -> None:
        """Read the files again."""
        audit = self.context.audit
        if audit is None:
            self._say(content.NOT_HERE)
        else:
            self._say(content.READING)
            self.run_job("audit", lambda _: audit(), self._show, failed=self._fail)

    def _say(self, text: str | Content) -> None:
        self.query_one("#facts", Static).update(text)
        self.query_one("#configurations", RecordList).empty = str(text)

    def _fail(self, error: Exception) -> None:
        self._say(failure_line(error))

    def _show(self, audit: Audit) -> None:
        self._audit = audit
        self._say(content.NOTHING_FOUND)
        self.query_one("#facts", Static).update(content.facts(audit))
        self.query_one("#configurations", RecordList).records = content.rows(audit)
        self._show_detail()

    @property
    def _configuration(self) -> ConfigurationAudit | None:
        current = self.query_one("#configurations", RecordList).current
        if self._audit is None or current is None:
            return None
        return self._audit.configurations[int(current.key)]

    @on(RecordList.Highlighted, "#configurations")
    def _show_detail(self) -> None:
        shown = self._configuration
        self.query_one("#configuration").display = shown is not None
        # Of the page, because a pane that was hidden has no size yet.
        width = self.size.width - _BESIDE
        self.query_one("#detail", Static).update("" if shown is None else content.detail(shown, width))

    @on(RecordList.Selected, "#configurations")
    def _read(self) -> None:
        self.query_one("#configuration").focus()
