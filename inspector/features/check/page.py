"""The findings page: facts about definitions that keep a tool from being found, chosen or called right."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import ClassVar

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from inspector.app.base_screen import ToolKeys
from inspector.app.context import Job
from inspector.app.draw.line import MUTED, failure_line, shown_place
from inspector.app.list_page import ReadingPage
from inspector.app.place import Destination, FindingsPage
from inspector.app.stream import View
from inspector.clients.client import real_clients
from inspector.core.number import count
from inspector.core.server import ServerPhase
from inspector.features.check.checking import findings_of, places_of
from inspector.features.check.finding import Finding, Place, Severity, Stage
from inspector.features.check.schema_repair import REPAIRED, SchemaRepair, repair_lines, repairs_of
from inspector.session.client_view import instructions_of
from widgets import Column, Record, RecordList, ViewStrip, plain, visible

COLUMNS = (
    Column("severity", "", width=1, weight=9),
    Column("subject", "tool", shorten="name", min_width=14, weight=4),
    Column("fact", "fact", min_width=18, weight=6),
    Column("stage", "stage", width=12, weight=2, hide_below=70),
)
SIGNS: Mapping[Severity, tuple[str, str]] = {
    Severity.ERROR: ("✕", "$text-error"),
    Severity.WARNING: ("⚠", "$text-warning"),
    Severity.NOTE: ("•", MUTED),
}
_SIDES = {"-": "$text-error", "+": "$text-success"}
_REPAIR_LINES = 100
ALL = "all"
GROUPS: dict[str, Collection[Stage]] = {
    ALL: frozenset(Stage),
    **{stage.value: (stage,) for stage in (Stage.FOUND, Stage.CHOSEN, Stage.CALLED, Stage.TRUST)},
}
CHECKING = "Checking every definition …"
NO_TOOLS = "Nothing to check yet: no server is ready, or a toolset hides every tool."
_CLEAN = "Nothing found here."
_FOLDED = "Nothing worse than a note.\nspace shows {}."


class FindingsScreen(ReadingPage, ToolKeys):
    """Every finding, the worst first; notes are folded away until they are asked for."""

    page = "findings"
    CSS_PATH = "page.tcss"
    AUTO_FOCUS = "#findings RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open_tool", "open", show=False, id="findings.open"),
        Binding("t", "next_group", "group", id="findings.group"),
        Binding("space", "fold", "all", id="findings.fold"),
        Binding("r", "again", "again", id="findings.again"),
        Binding("x", "app.export", "export", id="findings.save"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "Facts about definitions with their proof: why a tool is not found, not chosen, or called wrongly.",
        "t: one stage. trust: hidden characters, and names that collide or look alike.",
        "space shows mere notes too, or folds them away again.",
        "enter opens the tool; on a narrow terminal first the proof. w and e go to Search: why not, edit.",
        "x exports what is listed. `toolsight check` says the same on the command line and for CI.",
    )

    def __init__(self) -> None:
        super().__init__()
        self._found: list[Finding] = []
        self._is_whole = True
        self._drawn = 0
        self._shows_all = False
        self._checked: object = None
        self._places: Mapping[str, Place] = {}
        self._repairs: Mapping[str, SchemaRepair] = {}

    def head(self) -> ComposeResult:
        yield from super().head()
        yield ViewStrip(tuple(GROUPS), id="stages")

    def lists(self) -> ComposeResult:
        findings = RecordList(COLUMNS, header=True, empty=CHECKING, id="findings")
        findings.unmatched = "No findings match"
        yield findings

    def arrive(self, destination: Destination) -> None:
        """Show the findings of a tool or a server, or of one stage."""
        if isinstance(destination, FindingsPage):
            self.query_one(ViewStrip).current = destination.stage or ALL
            self.list.filter_text = destination.subject
            self._draw_rows()

    def drawn_from(self, view: View) -> object:
        """While servers connect, every finding would be too early."""
        if any(server.phase is ServerPhase.CONNECTING for server in view.state.servers.values()):
            return self._checked
        self._checked = (self.session.catalog.tools, instructions_of(view.state))
        return self._checked

    def draw(self) -> None:
        """Check in the background; what is found is listed as it comes."""
        session, found = self.session, list[Finding]()
        self._found, self._drawn = found, -1
        whole = session.configuration.servers if session.sight.is_whole else ()

        def look(job: Job) -> bool:
            for one in findings_of(session, real_clients()):
                found.append(one)
                if job.stopped():
                    return False
            felt = {one.first for one in found if one.is_felt}
            self._places = places_of(whole, session.catalog, felt)
            self._repairs = repairs_of(session, found, real_clients(), whole)
            return True

        self.run_stoppable("findings", look, self._ended, failed=self._failed)
        self.show_progress()

    def show_progress(self) -> None:
        """List what has come since: seldom, as there are more and more rows to draw."""
        if len(self._found) > self._drawn * 2:
            self._draw_rows()
        self._say()

    def _ended(self, is_whole: bool) -> None:
        self._is_whole = is_whole
        self._draw_rows()

    def _failed(self, error: Exception) -> None:
        self._ended(False)
        self.write(failure_line(error))

    def action_again(self) -> None:
        """Check everything again."""
        self.draw()

    def action_next_group(self) -> None:
        """Show the next stage."""
        self.query_one(ViewStrip).step(1)

    def action_fold(self) -> None:
        """Show notes too, or fold them away."""
        self._shows_all = not self._shows_all
        self._draw_rows()

    @on(ViewStrip.Chosen)
    def _draw_rows(self) -> None:
        self._drawn = len(self._found)
        stages = GROUPS[self.query_one(ViewStrip).current]
        here = {number: one for number, one in enumerate(self._found) if one.rule.stage in stages}
        # Whoever asks what there is to know before trusting asks for all of it.
        shows_all = self._shows_all or stages == GROUPS[Stage.TRUST.value]
        shown = {number: one for number, one in here.items() if shows_all or one.is_felt}
        self.list.empty = self._nothing(len(here) - len(shown))
        self.list.records = tuple(_row(number, one) for number, one in sorted(shown.items(), key=_weight))
        self._say()
        self.draw_detail()

    def _nothing(self, folded: int) -> str:
        if self.running is not None:
            return CHECKING
        if not self.session.retrieval.index.tools:
            return NO_TOOLS
        return _FOLDED.format(count(folded, "note")) if folded else _CLEAN

    def _say(self) -> None:
        """Say how much was found, and of what."""
        tools = len(self.session.retrieval.index.tools)
        state = f"{CHECKING}  esc stops   " if self.running is not None else ""
        if not state and not self._is_whole:
            state = "Stopped early: r checks again.   "
        told = facts(self._found, tools, shows_all=self._shows_all)
        self.write(Content.assemble((state, "$text-warning"), *told))

    @property
    def finding(self) -> Finding | None:
        """The finding under the cursor."""
        return self._found[int(self.key)] if self.key and int(self.key) < len(self._found) else None

    def draw_detail(self) -> None:
        finding = self.finding
        if finding is None:
            self.write("", "#detail")
        else:
            placed = replace(finding, place=finding.place or self._places.get(finding.first))
            self.write(detail(placed, self._repairs.get(finding.first)), "#detail")

    def opened(self, key: str) -> None:  # noqa: ARG002 - the finding under the cursor
        """Open the tool, or first the proof where it is not in sight."""
        if self.has_class("-narrow"):
            self.action_read()
        else:
            self.action_open_tool()

    def action_open_tool(self) -> None:
        """Open the tool that the finding is about."""
        if self._has_tool():
            self.open_tool(self.tool_id)

    @property
    def tool_id(self) -> str:
        finding = self.finding
        return finding.first if finding is not None and (finding.tool or finding.tools) else ""


def facts(found: Sequence[Finding], tools: int, *, shows_all: bool) -> Iterator[Content]:
    """Yield how many findings there are of each severity, and how many notes are folded."""
    yield Content.styled(count(tools, "tool"), "bold")
    felt = Counter(one.rule.severity for one in found if shows_all or one.is_felt)
    for severity in Severity:
        sign, color = SIGNS[severity]
        if felt[severity]:
            yield Content.styled(f"   {sign} {count(felt[severity], severity.value)}", color)
    folded = 0 if shows_all else sum(not one.is_felt for one in found)
    if folded:
        yield Content.styled(f"   {count(folded, 'note')} (space shows them)", MUTED)


def _weight(numbered: tuple[int, Finding]) -> tuple[int, int]:
    """The worst come first."""
    number, finding = numbered
    return list(Severity).index(finding.rule.severity), number


def _row(number: int, finding: Finding) -> Record:
    sign, color = SIGNS[finding.rule.severity]
    as_client = f" ({finding.client})" if finding.client else ""
    stage = finding.rule.stage.value
    cells = (Content.styled(sign, color), finding.subject, finding.message, stage)
    text = f"{finding.subject} {finding.rule.name} {finding.rule.title} {finding.message}{as_client} {stage}"
    return Record(str(number), cells, search=text, copy=f"{finding.subject}: {finding.message}{as_client}")


def detail(finding: Finding, mended: SchemaRepair | None = None) -> Content:
    """Return a finding with its place, its proof, and the repair of a schema."""
    rule = finding.rule
    sign, color = SIGNS[rule.severity]
    stage = "trust" if rule.stage is Stage.TRUST else f"keeps it from being {rule.stage}"
    client = f"   in {visible(finding.client, newlines=False, limit=200)}" if finding.client else ""
    place = f"\n{shown_place(finding.place.path, finding.place.line)}" if finding.place else ""
    lines = [
        Content.assemble((f"{sign} {rule.severity}  ", color), (rule.title, "bold")),
        Content.assemble(
            plain(finding.subject, newlines=False, limit=200), (f"   {stage}{client}{place}", MUTED)
        ),
        Content(),
        plain(finding.message, limit=600),
        Content.styled(rule.help, MUTED),
        Content.styled("\nProof", "bold"),
        plain(finding.proof, limit=20_000),
    ]
    if mended is not None and finding.rule in REPAIRED:
        lines.append(
            Content.assemble(("\nRepair of ", "bold"), plain(mended.tool_id, newlines=False, limit=200))
        )
        lines += (_of_difference(line) for line in repair_lines(mended, _REPAIR_LINES))
    return Content("\n").join(lines)


def _of_difference(line: str) -> Content:
    """A line of a repair; one that goes or comes in color."""
    return plain(line, newlines=False, limit=2_000).stylize(_SIDES.get(line[:1], ""))
