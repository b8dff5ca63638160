"""Edits a tool's texts, and shows while typing what that would change."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from msgspec.structs import replace
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static

from inspector.access.reach import EvalSet
from inspector.app.context import Job
from inspector.app.draw.line import failure_text
from inspector.app.requests import ranked, told
from inspector.core.error import ToolsightError
from inspector.core.number import count
from inspector.core.tool import Tool
from inspector.features.search import draft
from inspector.features.search.draft import Reading, ToolTextEditor
from inspector.features.search.search_job import Pane, Topic
from inspector.features.search.why_not_pane import WhyNotPane
from inspector.search.answer.expectation import ExpectationResult
from inspector.search.answer.tool_edit import EditTrial, ToolText, reworded, wording_of
from inspector.search.ranker.catalog_rankers import CatalogRankers
from widgets import RecordList, visible

# Seconds without a keypress before an edit is measured on the labelled requests.
PAUSE = 0.3
_NO_TOOL = "Press e on a tool in the list, or p to pick one."
_GONE = "Its server may have stopped, or a toolset may hide it."


class EffectPanel(Vertical):
    """Shows the latest reading."""

    def __init__(self, tokenizer: str, *, id: str | None = None) -> None:  # noqa: A002
        """`tokenizer` names the tokenizer of the counts."""
        super().__init__(id=id)
        self.reading = Reading()
        self._tokenizer = visible(tokenizer, limit=40, newlines=False)

    def compose(self) -> ComposeResult:
        yield Static(id="answer")
        with Container(id="lists"):
            yield RecordList(draft.AROUND_COLUMNS, header=True, empty=draft.COMPUTING, id="around")
            yield RecordList(draft.CHANGE_COLUMNS, header=True, empty=draft.COMPUTING, id="changes")

    def on_mount(self) -> None:
        self.query_one("#answer").border_title = Content(f"Before → after   tokens: {self._tokenizer}")
        self.show(self.reading, 0)

    def show(self, reading: Reading, tools: int, description: str = "") -> None:
        """Show a reading; `tools` is the number of tools searched, `description` that of the draft."""
        last = self.reading
        if reading.cases is None and not reading.problem:
            # The last results of the requests stay visible until there are newer ones.
            reading = replace(reading, cases=last.cases, requests=last.requests)
            reading = replace(reading, lines=reading.lines or last.lines)
        self.reading, effect = reading, reading.effect
        self.query_one("#answer", Static).update(draft.answer(reading))
        around, changes = self.query_one("#around", RecordList), self.query_one("#changes", RecordList)
        around.border_title = "For this query" + (f", among {count(tools, 'tool')}" if effect else "")
        changes.border_title = draft.change_title(reading)
        around.empty = changes.empty = reading.why_no_rows
        neighbors = effect.around if effect else ()
        around.records = tuple(draft.around_row(one, effect, description) for one in neighbors if effect)
        if effect is not None and not around.rows.has_focus:
            around.move_to(effect.edited_id)
        worse, better = (reading.cases.worse, reading.cases.better) if reading.cases else ((), ())
        changes.records = (
            *(draft.change_row(one, "▼", "$text-warning") for one in worse),
            *(draft.change_row(one, "▲", "$text-success") for one in better),
        )


# Long because drafting, measuring and saving are about one tool.
class EditPane(Pane):
    """Edits a tool's texts locally, and measures every draft against the query of the page."""

    first = ("#description",)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+y", "copy_description", "copy text", id="edit.copy"),
        Binding("ctrl+r", "reset", "server's text", id="edit.reset"),
        Binding("ctrl+s", "write", "into the source", id="edit.write"),
    ]

    @dataclass
    class Asked(Message):
        """A labelled request was chosen as the query."""

        query_text: str

    class Tried(Message):
        """It is known what the draft makes of the file of requests."""

    _editor = query_one(ToolTextEditor)

    def __init__(self) -> None:
        super().__init__(id="edit")
        self._tool: Tool | None = None
        self._query = ""
        self._rankers: CatalogRankers | None = None
        self._evalset: EvalSet | None = None
        self._pause: Timer | None = None
        # Whether a draft is measured now, and whether a newer one waits for that to end.
        self._is_measuring = self._is_newer = False
        # What was drafted in this session, by tool.
        self._drafts: dict[str, ToolText] = {}
        # While the fields of another tool are being made, what they say is nobody's edit.
        self._is_taking = False

    def compose(self) -> ComposeResult:
        with Horizontal(id="edit-top"):
            yield Static(id="edit-title")
            yield Static(id="mark", markup=False)
        yield Static(_NO_TOOL, id="gone")
        yield ToolTextEditor(Tool("", ""), ToolText("", ""), id="editor")
        yield EffectPanel(self.session.accounting.meter.tokenizer.label, id="effect")

    def on_mount(self) -> None:
        self.set_class(True, "-gone")

    def on_resize(self) -> None:
        self._show_title()

    @property
    def tool_id(self) -> str:
        around = self.query_one("#around", RecordList)
        effect = self.query_one(EffectPanel).reading.effect
        current = around.current if around.has_focus_within else None
        if current is not None and (effect is None or current.key != effect.edited_id):
            return current.key
        return self._tool.id if self._tool is not None else ""

    def show(self, topic: Topic) -> None:
        tool = self.session.catalog.get(topic.tool_id)
        searched = topic.tool_id in self.retrieval.index.position
        self.set_class(tool is None or not searched, "-gone")
        if tool is None or not searched:
            self.write(_GONE if topic.tool_id else _NO_TOOL, "#gone")
            self.drop_job("edit")
            self._is_measuring = False
            return
        is_other = topic.request.query != self._query or self.retrieval.rankers is not self._rankers
        self._query = topic.request.query
        self.query_one("#around").display = bool(self._query.strip())
        if tool != self._tool:
            # At once: the focus waits for it.
            self._is_taking = True
            self._use(tool)
        elif is_other:
            self._measure()

    @work(exclusive=True, exit_on_error=False, group="use")
    async def _use(self, tool: Tool) -> None:
        """Take another tool, or a changed definition: a draft stays, an unedited text follows."""
        before, self._tool = self._tool, tool
        is_same = before is not None and before.id == tool.id
        if before is not None and is_same and self._drafts.get(tool.id) == wording_of(before):
            del self._drafts[tool.id]
        self._is_taking = True
        try:
            await self._editor.use(tool, self._draft(tool))
        finally:
            self._is_taking = False
        self._show_title()
        self._measure()
        if not is_same:
            self.query_one(EffectPanel).show(Reading(), 0)
        if self.wants_focus:
            super().focus_first()

    def focus_first(self) -> bool:
        """Go to the description, as soon as it is there."""
        self.wants_focus = self._is_taking or (self._tool is None and not self.has_class("-gone"))
        return self.wants_focus or super().focus_first()

    def has_draft(self, tool_id: str) -> bool:
        """Whether another text of the tool was drafted in this session."""
        return tool_id in self._drafts

    def propose(self, tool_id: str, description: str) -> None:
        """Draft another description of a tool, before or while it is shown; what else was drafted stays."""
        tool = self.session.catalog.get(tool_id)
        if tool is None:
            return
        wording = replace(self._draft(tool), description=description)
        self._drafts[tool.id] = wording
        if tool == self._tool:
            self._editor.show(wording)
            self._show_title()

    def _draft(self, tool: Tool) -> ToolText:
        """A tool's draft, or the server's text."""
        return self._drafts.get(tool.id) or wording_of(tool)

    def _show_title(self) -> None:
        if self._tool is None:
            return
        self.write(draft.title(self._tool.id, self.size.width - 16), "#edit-title")
        is_draft = self._draft(self._tool) != wording_of(self._tool)
        self._editor.border_title = "Your draft" if is_draft else "The server's text"

    @on(ToolTextEditor.Changed)
    def _typed(self) -> None:
        if self._tool is None or self._is_taking:
            return
        self._drafts[self._tool.id] = self._editor.wording
        self._show_title()
        self.write(draft.COMPUTING, "#mark")
        self.try_again()

    def try_again(self) -> None:
        """Measure the draft as soon as an older one is done with."""
        if self._is_measuring:
            self._is_newer = True
            self.stop_job("edit")
        else:
            self._measure()

    def _measure(self) -> None:
        """Measure the draft: its effect on the query and on the file of requests, at once after a key.

        The slower one on the labelled requests follows when no key has come for a while.
        """
        if self._tool is None:
            return
        tool, wording, query = self._tool, self._editor.wording, self._query
        session, known, count = self.session, self.context.requests.items, self.session.accounting.meter.tool
        retrieval, rankers = self.retrieval, self.retrieval.rankers
        self._rankers, self._is_measuring, self._is_newer = rankers, True, False
        self.drop_job("cases")
        self.write(draft.COMPUTING, "#mark")

        def measure(job: Job) -> None:
            edited = reworded(tool, wording)
            trial = EditTrial.of(rankers, edited, tool.id, retrieval.ranker_name)
            effect = trial.on(query, retrieval.rules)
            reading = Reading(count(tool), count(edited), retrieval.rules.threshold, effect)
            changed = (known, session, trial.changed, job.stopped, {tool.id: edited.id})
            tried = {} if edited == tool else ranked(*changed)
            others = [item for item in known if item.now is not None and item.request.query != query]
            moved = [item for item in others if told(tried.get(item.key, item.now)) != told(item.now)]
            if not job.stopped():
                reading = replace(reading, lines=(len(moved), len(others)))
                job.tell(partial(self._tried, tried))
            job.tell(partial(self._measured, reading))
            job.tell(lambda: self._ended(partial(self._measure_cases, trial, reading)))

        def failed(error: Exception) -> None:
            self._tried({})
            self._measured(Reading(problem=failure_text(error)[1]))
            self._ended(lambda: None)

        self.run_job("edit", measure, lambda _: None, failed=failed)

    def _tried(self, tried: Mapping[str, ExpectationResult | None]) -> None:
        self.context.requests.drafted = tried
        self.post_message(self.Tried())

    def _ended(self, then: Callable[[], None]) -> None:
        """Measure what was typed meanwhile, or else go on in a moment."""
        self._is_measuring = False
        if self._is_newer:
            self._measure()
            return
        if self._pause is not None:
            self._pause.stop()
        self._pause = self.set_timer(PAUSE, then)

    def _measure_cases(self, trial: EditTrial, reading: Reading) -> None:
        """Measure the draft on the labelled requests."""
        retrieval, index = self.retrieval, trial.rankers.index

        def measure(job: Job) -> None:
            # Built once per catalog.
            evalset = self._evalset
            if evalset is None or evalset.tools is not index.tools:
                self._evalset = evalset = retrieval.evalset(index)
            cases = trial.over(evalset.cases, job.stopped)
            job.tell(partial(self._measured, replace(reading, requests=evalset.name, cases=cases)))

        def failed(error: Exception) -> None:
            self._measured(Reading(problem=failure_text(error)[1]))

        if not self._is_measuring:
            self.run_job("cases", measure, lambda _: None, failed=failed)

    def _measured(self, reading: Reading) -> None:
        self.write(reading.mark, "#mark")
        tools = len(self._rankers.index.tools) if self._rankers else 0
        self.query_one(EffectPanel).show(reading, tools, self._editor.wording.description)

    @on(RecordList.Selected, "#around")
    def _open(self, event: RecordList.Selected) -> None:
        effect = self.query_one(EffectPanel).reading.effect
        is_own = effect is not None and event.key == effect.edited_id
        self.open_tool(self.tool_id if is_own else event.key)

    @on(RecordList.Selected, "#changes")
    def _ask_again(self, event: RecordList.Selected) -> None:
        self.post_message(self.Asked(event.record.copy))

    def action_reset(self) -> None:
        """Show the server's text; undo brings the description of the draft back."""
        if self._tool is not None:
            self._editor.show(wording_of(self._tool))

    def action_copy_description(self) -> None:
        """Copy the description as edited."""
        self.copy(self._editor.wording.description, "the description")

    def action_write(self) -> None:
        """Show the description as a change of the server's source, to be written after a yes."""
        tool, wording = self._tool, self._editor.wording
        if tool is None or self.has_class("-gone") or wording.description == tool.description:
            self.warn("The description is the server's own, so there is nothing to write.")
            return
        if replace(wording, description=tool.description) != wording_of(tool):
            self.warn("Only the description can be written. x exports names and parameters too.")
        self.post_message(WhyNotPane.Proposed(tool.id, wording.description))

    def save(self) -> None:
        """Ask for a file and write the draft into it."""
        if self._tool is None or self.has_class("-gone"):
            self.warn(_NO_TOOL)
            return
        try:
            edited = reworded(self._tool, self._editor.wording)
        except ToolsightError as error:
            self.fail(error)
            return
        self.export(draft.suggested(self._tool), draft.patch(self._tool, edited))
