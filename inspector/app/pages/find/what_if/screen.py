"""The what-if page: edits a tool's texts and shows while typing what that would change."""

from collections.abc import MutableMapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar
from weakref import WeakKeyDictionary

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.timer import Timer
from textual.widgets import Input, Label, Static

from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.bridge import View
from inspector.app.draw.failure import failure_text
from inspector.app.job import Job
from inspector.app.pages.find.what_if import content
from inspector.app.pages.find.what_if.effect_panel import EffectPanel
from inspector.app.pages.find.what_if.job import Measurement
from inspector.app.pages.find.what_if.text_editor import ToolTextEditor
from inspector.domain.error import ToolsightError
from inspector.domain.evaluation import EvalSet
from inspector.domain.tool import Tool
from inspector.engine.discovery.explanation.draft import ToolText, reworded, wording_of
from inspector.engine.discovery.rankers.catalog_rankers import CatalogRankers
from widgets import KeyBar, PlainInput, RecordList, visible

_MEASURE = "what-if"
# Seconds without a keypress before an edit is measured.
PAUSE = 0.3


@dataclass(frozen=True, slots=True)
class Draft:
    """A tool's wording in the editor, and the draft put aside for the server's text."""

    wording: ToolText
    aside: ToolText | None = None


_DRAFTS: MutableMapping[App[object], dict[str, Draft]] = WeakKeyDictionary()


class WhatIfScreen(BaseScreen):
    """Edits a tool's texts locally, and measures every draft."""

    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#description"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+y", "copy_description", "copy text", id="what-if.copy"),
        # A terminal sends alt+y as y, so without priority the focused input would type it.
        Binding("alt+y,ctrl+shift+y", "copy_definition", "copy JSON", id="what-if.copy_json", priority=True),
        Binding("ctrl+r", "reset", "server's text", id="what-if.reset"),
        Binding("ctrl+n", "ask", "query", id="what-if.query"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "Edit the tool's texts and see what that would change. Nothing is sent to its server.",
        "tab goes from field to field, then to the two lists; enter on a request makes it the query.",
        "A rank of – means that the ranker does not return the tool. ▲ and ▼ count ranks.",
        "too alike: tools close in meaning (cosine of 0.8 or more), or of this name on another server.",
        "nDCG@10 and hit@1 are means over the labelled requests; generated requests are easy.",
        "Only top-level parameters can be edited. Hidden characters show as codes.",
        "ctrl+y copies the description, alt+y (or ctrl+shift+y) the definition as JSON.",
        "ctrl+r switches between the server's text and your draft. ctrl+z undoes, alt+z redoes.",
        "esc goes back; your draft is kept for this session.",
    )

    def __init__(self, tool_id: str, query: str) -> None:
        super().__init__()
        self._tool_id = tool_id
        self._first_query = query
        self._tool = Tool("", "")
        self._pause: Timer | None = None
        self._rankers: CatalogRankers | None = None
        self._evalset: EvalSet | None = None

    def compose(self) -> ComposeResult:
        tool = self.session.catalog.get(self._tool_id)
        self._tool = tool or self._tool
        yield HeaderLine()
        with Horizontal(id="top"):
            yield Static(id="title")
            yield Static(content.COMPUTING, id="mark", markup=False)
        yield Static("Its server may have stopped, or a toolset may hide it. esc goes back.", id="gone")
        with Horizontal(id="ask"):
            yield Label("query")
            query = visible(self._first_query, limit=2000, newlines=False)
            yield PlainInput(query, placeholder="what would someone ask for?", id="query")
        with Container(id="body"):
            yield ToolTextEditor(self._tool, self._draft.wording, id="editor")
            yield EffectPanel(self.session.accounting.meter.tokenizer.label, id="effect")
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self.show_view(self.view)

    def on_resize(self) -> None:
        super().on_resize()
        self._show_title()

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the bench has the state
        tool = self.session.catalog.get(self._tool_id)
        self.set_class(tool is None, "-gone")
        self._show_title()
        if tool is not None and tool != self._tool:
            self.run_worker(self._use(tool), exit_on_error=False)
        elif tool is not None and self.session.retrieval.rankers is not self._rankers:
            self._measure_now()

    async def _use(self, tool: Tool) -> None:
        """Take a changed definition from the server: a draft stays, an unedited text follows."""
        wording = self._draft.wording
        is_edited = wording != wording_of(self._tool)
        self._tool = tool
        await self.query_one(ToolTextEditor).use(tool, wording if is_edited else wording_of(tool))
        self._keep(self.query_one(ToolTextEditor).wording, self._draft.aside)
        self._measure_now()

    def _show_title(self) -> None:
        self.query_one("#title", Static).update(content.title(self._tool_id, self.size.width - 18))
        edited = self._draft.wording != wording_of(self._tool)
        self.query_one("#editor").border_title = content.editor_title(edited, self._draft.aside is not None)

    @property
    def _draft(self) -> Draft:
        return _DRAFTS.setdefault(self.app, {}).get(self._tool_id) or Draft(wording_of(self._tool))

    def _keep(self, wording: ToolText, aside: ToolText | None) -> None:
        _DRAFTS.setdefault(self.app, {})[self._tool_id] = Draft(wording, aside)
        self._show_title()

    @on(ToolTextEditor.Changed)
    @on(Input.Changed, "#query")
    def _typed(self) -> None:
        wording = self.query_one(ToolTextEditor).wording
        is_edited = wording != wording_of(self._tool)
        self._keep(wording, None if is_edited else self._draft.aside)
        self.query_one("#mark", Static).update(content.COMPUTING)
        self.drop_job(_MEASURE)
        if self._pause is not None:
            self._pause.stop()
        self._pause = self.set_timer(PAUSE, self._measure_now)

    def _measure_now(self) -> None:
        retrieval = self.session.retrieval
        self._rankers = retrieval.rankers
        wording = self.query_one(ToolTextEditor).wording
        query = self.query_one("#query", PlainInput).value
        self.query_one("#mark", Static).update(content.COMPUTING)
        trial = Measurement(self._tool, wording, query, retrieval.rankers, retrieval.ranker_name)
        count = self.session.accounting.meter.tool

        def measure(job: Job) -> None:
            def tell(reading: content.Reading) -> None:
                job.tell(partial(self._measured, reading))

            trial.run(count, lambda: self._requests(trial.rankers), tell, job.stopped)

        self.run_job(_MEASURE, measure, lambda _: None, failed=self._not_measured)

    def _not_measured(self, error: Exception) -> None:
        self._measured(content.Reading(problem=failure_text(error)[1]))

    def _requests(self, rankers: CatalogRankers) -> EvalSet:
        """Return the evaluation set, built once per catalog; runs in a thread."""
        evalset = self._evalset
        if evalset is None or evalset.tools is not rankers.index.tools:
            self._evalset = evalset = self.session.retrieval.evalset(rankers.index)
        return evalset

    def _measured(self, reading: content.Reading) -> None:
        self.query_one("#mark", Static).update(content.mark(reading))
        tools = self._rankers.index.tools if self._rankers else ()
        self.query_one(EffectPanel).show(reading, len(tools))

    @on(RecordList.Selected, "#around")
    def _open(self, event: RecordList.Selected) -> None:
        effect = self.query_one(EffectPanel).reading.effect
        own = effect is not None and event.key == effect.edited_id
        self.open_tool(self._tool_id if own else event.key)

    @on(RecordList.Selected, "#changes")
    def _ask_again(self, event: RecordList.Selected) -> None:
        self.query_one("#query", PlainInput).value = event.record.copy

    def action_ask(self) -> None:
        """Go to the query."""
        self.query_one("#query", PlainInput).focus()

    def action_reset(self) -> None:
        """Show the server's text and put the draft aside, or bring the draft back."""
        own, draft = wording_of(self._tool), self._draft
        if draft.wording != own:
            self._keep(own, draft.wording)
        elif draft.aside is not None:
            self._keep(draft.aside, None)
        self.query_one(ToolTextEditor).show(self._draft.wording)

    def action_copy_description(self) -> None:
        """Copy the description as edited."""
        self.copy(self.query_one(ToolTextEditor).wording.description, "the description")

    def action_copy_definition(self) -> None:
        """Copy the whole edited definition as JSON."""
        try:
            edited = reworded(self._tool, self.query_one(ToolTextEditor).wording)
        except ToolsightError as error:
            self.fail(error)
            return
        self.app.copy_to_clipboard(content.definition_json(edited))
        self.copied("the definition as JSON")
