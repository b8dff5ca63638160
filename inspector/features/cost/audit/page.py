"""What the configurations of the MCP clients on this machine cost."""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector.app.base_screen import verdict_text
from inspector.app.draw.line import MUTED, shown_path
from inspector.app.draw.table import table_lines
from inspector.app.list_page import ListPage
from inspector.core.number import count, percent
from inspector.core.report import NOTHING
from inspector.features.cost.audit.facts import measured, server_table
from inspector.features.cost.audit.result import Audit, ConfigurationAudit
from inspector.features.cost.feature import AUDIT
from inspector.session.verdict import Answer
from widgets import Column, Record, RecordList, plain, visible

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
_ANSWERS = {Answer.PAYS: "✓ yes", Answer.DEPENDS: "◐ depends", Answer.COSTS: "✕ no"}


def facts(audit: Audit) -> Content:
    """Return what was read, and on what the numbers rest."""
    configurations = audit.configurations
    servers = sum(len(one.servers) for one in configurations)
    known = sum(len(one.measured) for one in configurations)
    basis = f"Tokens counted by {audit.basis.tokenizer.label}. first call: with every tool deferred."
    lines = [
        Content(
            f"{count(len(configurations), 'configuration')}, {count(servers, 'server')}, {known} measured "
            "from the tools they listed when last connected. Nothing is started here."
        ),
        Content.styled(basis, MUTED),
    ]
    shown = lines if configurations else []
    for one in audit.problems:
        # An error names its file, and the place in it.
        told = f"{one.title}: {one.error.replace(one.source, shown_path(one.source))}"
        shown.append(Content.assemble(("✕ ", "$text-error"), plain(told, limit=_LONGEST, newlines=False)))
    return Content("\n").join(shown)


def _row(place: int, one: ConfigurationAudit) -> Record:
    """Return the row of a configuration; the key is its place in the audit."""
    numbers = (len(one.tools), one.tokens, one.discovery)
    cells = (
        one.title,
        shown_path(one.source),
        measured(one),
        *(f"{number:,}" if one.measured else NOTHING for number in numbers),
        _ANSWERS[one.verdict.answer] if one.verdict is not None else NOTHING,
    )
    return Record(str(place), cells, search=f"{one.title} {one.source}", copy=one.source)


def _detail(one: ConfigurationAudit, width: int) -> Iterator[Content]:
    """Yield one configuration: the verdict, its servers, and what could be changed."""
    yield plain(f"{one.title}   {shown_path(one.source)}", limit=_LONGEST, newlines=False).stylize("bold")
    if one.verdict is not None:
        yield verdict_text(one.verdict.answer, one.verdict.text)
    yield Content()
    yield from table_lines(server_table(one), width)
    yield Content()
    for number, suggestion in enumerate(one.suggestions, 1):
        text = visible(f"{number}. {suggestion.text}", limit=_LONGEST, newlines=False)
        yield from map(Content, wrap(text, max(width, 20), subsequent_indent="   "))
    if one.tokens:
        told = f"Binding every tool takes {percent(one.share, 1)} of the window in every model call."
        yield Content.styled(told, MUTED)
    if len(one.measured) < len(one.servers):
        told = "Servers that were never connected are unknown. `toolsight audit` asks them if you agree."
        yield Content.styled(told, MUTED)


class MachineScreen(ListPage):
    """Every configuration in a list, the one under the cursor in full below. It only reads files."""

    page = "machine"
    CSS_PATH = "page.tcss"
    AUTO_FOCUS = "#configurations RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("r", "again", "reload", id="machine.again")]
    titles: ClassVar[Mapping[str, str]] = {
        "configurations": "Configurations",
        "configuration": "This configuration",
    }
    help_lines: ClassVar[tuple[str, ...]] = (
        "The servers configured in Claude Desktop, Claude Code, Cursor, VS Code and other clients.",
        "Nothing is started: the numbers use the tools each server listed when last connected.",
        "all bound: tokens for every definition, in each model call. first call: with every tool deferred.",
        "discovery saves: whether discovery is cheaper than binding every tool, both with a prompt cache.",
        "enter opens the full configuration, y copies its path, r rereads the files.",
    )

    _configurations: Sequence[ConfigurationAudit] = ()

    def body(self) -> ComposeResult:
        yield Static(READING, id="facts", markup=False)
        yield RecordList(COLUMNS, header=True, empty=READING, id="configurations")
        with VerticalScroll(id="configuration", can_focus=True):
            yield Static(id="detail", markup=False)

    def on_mount(self) -> None:
        self.action_again()

    def action_again(self) -> None:
        """Read the files again."""
        audit = self.context.parts.get(AUDIT)
        if audit is None:
            self.say(NOT_HERE)
        else:
            self.say(READING)
            self.run_job("audit", lambda _: audit(), self._show, failed=self.say_failure)

    def _show(self, audit: Audit) -> None:
        self._configurations = audit.configurations
        self.say(NOTHING_FOUND)
        self.write(facts(audit))
        self.list.records = tuple(_row(*pair) for pair in enumerate(audit.configurations))
        self.draw_detail()

    def draw_detail(self) -> None:
        self.query_one("#configuration").display = bool(self.key)
        lines = _detail(self._configurations[int(self.key)], self.width) if self.key else ()
        self.write(Content("\n").join(lines), "#detail")

    def opened(self, key: str) -> None:  # noqa: ARG002 - it is shown already
        self.query_one("#configuration").focus()
