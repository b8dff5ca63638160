"""What the configurations of the MCP clients on this machine cost."""

from collections.abc import Iterator
from textwrap import wrap
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.draw.line import MUTED, failure_line, shown_path
from inspector.app.draw.table import table_lines
from inspector.app.verdict_line import verdict_text
from inspector.core.number import count, percent
from inspector.measure.audit.audit import NOTHING, server_table
from inspector.measure.audit.result import Audit, ConfigurationAudit, Problem
from inspector.session.verdict import Answer
from widgets import Column, KeyBar, Record, RecordList, plain, visible

COLUMNS = (
    Column("client", "client", weight=8, min_width=14),
    Column("file", "file", weight=3, min_width=16, shorten="middle", hide_below=90),
    Column("servers", "measured", align="right", weight=7),
    Column("tools", "tools", align="right", weight=7),
    Column("tokens", "all bound", align="right", weight=8),
    Column("first", "first call", align="right", weight=7, hide_below=70),
    Column("verdict", "discovery saves", weight=9),
)
READING = "Reading this machine's configurations …"
NOTHING_FOUND = "No MCP client on this machine has a server. `toolsight audit` lists the places it checked."
NOT_HERE = "This session cannot read client configurations. Use `toolsight audit`."
_LONGEST = 400
_NARROWEST = 20
_ANSWERS = {
    Answer.PAYS: "✓ yes",
    Answer.DEPENDS: "◐ depends",
    Answer.COSTS: "✕ no",
}


def facts(audit: Audit) -> Content:
    """Return what was read, and on what the numbers rest."""
    configurations = audit.configurations
    problems = [_problem(problem) for problem in audit.problems]
    if not configurations:
        return Content("\n").join(problems)
    servers = sum(len(one.servers) for one in configurations)
    known = sum(len(one.measured) for one in configurations)
    lines = [
        Content(
            f"{count(len(configurations), 'configuration')}, {count(servers, 'server')}, {known} measured "
            "from the tools they listed when last connected. Nothing is started here."
        ),
        Content.styled(
            f"Tokens counted by {audit.basis.tokenizer.label}. first call: with every tool deferred.",
            MUTED,
        ),
        *problems,
    ]
    return Content("\n").join(lines)


def _problem(problem: Problem) -> Content:
    # An error names its file, and the place in it.
    told = f"{problem.title}: {problem.error.replace(problem.source, shown_path(problem.source))}"
    return Content.assemble(("✕ ", "$text-error"), plain(told, limit=_LONGEST, newlines=False))


def rows(audit: Audit) -> tuple[Record, ...]:
    """Return a row a configuration, in the order of the clients; keys are places in the audit."""
    return tuple(_row(place, one) for place, one in enumerate(audit.configurations))


def _row(place: int, one: ConfigurationAudit) -> Record:
    is_known, found = bool(one.measured), one.verdict
    cells = (
        visible(one.title, limit=_LONGEST, newlines=False),
        visible(shown_path(one.source), limit=_LONGEST, newlines=False),
        f"{len(one.measured)} of {len(one.servers)}",
        f"{len(one.tools):,}" if is_known else NOTHING,
        f"{one.tokens:,}" if is_known else NOTHING,
        f"{one.discovery:,}" if is_known else NOTHING,
        _ANSWERS[found.answer] if found is not None else NOTHING,
    )
    return Record(str(place), cells, search=f"{one.title} {one.source}", copy=one.source)


def detail(one: ConfigurationAudit, width: int) -> Content:
    """Return one configuration: the verdict, its servers, and what could be changed."""
    return Content("\n").join(_lines(one, width))


def _lines(one: ConfigurationAudit, width: int) -> Iterator[Content]:
    yield plain(f"{one.title}   {shown_path(one.source)}", limit=_LONGEST, newlines=False).stylize("bold")
    if one.verdict is not None:
        yield verdict_text(one.verdict.answer, one.verdict.text)
    yield Content()
    yield from table_lines(server_table(one), width)
    yield Content()
    for number, suggestion in enumerate(one.suggestions, 1):
        text = visible(f"{number}. {suggestion.text}", limit=_LONGEST, newlines=False)
        yield from map(Content, wrap(text, max(width, _NARROWEST), subsequent_indent="   "))
    if one.tokens:
        share = percent(one.share, 1)
        yield Content.styled(f"Binding every tool takes {share} of the window in every model call.", MUTED)
    if len(one.measured) < len(one.servers):
        told = "Servers that were never connected are unknown. `toolsight audit` asks them if you agree."
        yield Content.styled(told, MUTED)


# Padding and scroll bar.
_BESIDE = 4


class MachineScreen(BaseScreen):
    """Every configuration in a list, the one under the cursor in full below. It only reads files."""

    page = "machine"
    CSS_PATH = "machine.tcss"
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
        yield Static(READING, id="facts", markup=False)
        yield RecordList(COLUMNS, header=True, empty=READING, id="configurations")
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
            self._say(NOT_HERE)
        else:
            self._say(READING)
            self.run_job("audit", lambda _: audit(), self._show, failed=self._fail)

    def _say(self, text: str | Content) -> None:
        self.query_one("#facts", Static).update(text)
        self.query_one("#configurations", RecordList).empty = str(text)

    def _fail(self, error: Exception) -> None:
        self._say(failure_line(error))

    def _show(self, audit: Audit) -> None:
        self._audit = audit
        self._say(NOTHING_FOUND)
        self.query_one("#facts", Static).update(facts(audit))
        self.query_one("#configurations", RecordList).records = rows(audit)
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
        self.query_one("#detail", Static).update("" if shown is None else detail(shown, width))

    @on(RecordList.Selected, "#configurations")
    def _read(self) -> None:
        self.query_one("#configuration").focus()
