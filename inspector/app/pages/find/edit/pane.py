"""Edits a tool's texts, and shows while typing what that would change."""

import difflib
import re
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar
from weakref import WeakKeyDictionary

from textual import on, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static

from inspector.access.reach import EvalSet
from inspector.app.dialogs.detail import ExportDialog
from inspector.app.draw.line import failure_text
from inspector.app.job import Job
from inspector.app.pages.find.edit import content
from inspector.app.pages.find.edit.content import Reading, definition_json
from inspector.app.pages.find.edit.text_editor import EffectPanel, ToolTextEditor
from inspector.app.pages.find.pane import Pane, Topic
from inspector.core.error import ToolsightError
from inspector.core.tool import Tool
from inspector.search.explanation.tool_edit import EditTrial, ToolText, reworded, wording_of
from inspector.search.rankers.catalog_rankers import CatalogRankers
from widgets import RecordList

# Measures one draft of a tool, in a thread and cancellable.

# Requests between progress reports.
_STEP = 25


@dataclass(frozen=True, slots=True)
class Measurement:
    """One draft and what it is measured against."""

    tool: Tool
    wording: ToolText
    query: str
    rankers: CatalogRankers
    ranker_name: str

    def run(
        self,
        count_tokens: Callable[[Tool], int],
        requests: Callable[[], EvalSet],
        tell: Callable[[Reading], None],
        stopped: Callable[[], bool],
    ) -> None:
        """Report the effect on the query first, then the slower one on the labelled requests.

        Raises ToolsightError if the draft cannot be measured.
        """
        edited = reworded(self.tool, self.wording)
        before, after = (count_tokens(tool) for tool in (self.tool, edited))
        trial = EditTrial.of(self.rankers, edited, self.tool.id, self.ranker_name)
        reading = Reading(before, after, trial.on(self.query))
        tell(reading)
        if stopped():
            return
        evalset = requests()
        total = sum(case.is_possible for case in evalset.cases)
        reading = replace(reading, total=total, requests=evalset.name)
        done = 0

        def between() -> bool:
            nonlocal done
            if done % _STEP == 0:
                tell(replace(reading, done=done))
            done += 1
            return stopped()

        tell(replace(reading, cases=trial.over(evalset.cases, between)))


# A draft as a file: what changed, the texts, or the whole definition, depending on the file's extension.

ENDINGS = ".patch or .diff saves the changes, .txt the texts, .json the definition."
_PATCHES = (".patch", ".diff")


def suggested(tool: Tool) -> Path:
    """Return the file that is proposed for a draft of the tool."""
    return Path.cwd() / f"{_file_name(tool)}.patch"


def exported(tool: Tool, edited: Tool, path: Path) -> str:
    """Return a draft in the format of the path's extension. Raises ValueError for any other extension."""
    if path.suffix in _PATCHES:
        return patch(tool, edited)
    if path.suffix == ".txt":
        return texts(edited)
    if path.suffix == ".json":
        return f"{definition_json(edited)}\n"
    raise ValueError("the file name must end in .patch, .diff, .txt or .json")


def texts(tool: Tool) -> str:
    """Return the texts of a tool that its author can choose, as they are."""
    return "\n".join(_lines(tool)) + "\n"


def _lines(tool: Tool) -> Iterator[str]:
    wording = wording_of(tool)
    yield f"name: {wording.name}"
    yield ""
    yield from wording.description.split("\n")
    for parameter in wording.parameters:
        yield ""
        yield f"parameter: {parameter.name}"
        yield from parameter.description.split("\n")


def patch(tool: Tool, edited: Tool) -> str:
    """Return what a draft changes of the texts as a unified diff; empty if it changes nothing."""
    name = f"{_file_name(tool)}.txt"
    lines = difflib.unified_diff([*_lines(tool)], [*_lines(edited)], f"a/{name}", f"b/{name}", lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _file_name(tool: Tool) -> str:
    return re.sub(r"[^\w.-]+", "-", tool.id, flags=re.ASCII).strip("-.") or "tool"


# The drafts of a session, by tool; they outlive the page.


@dataclass(frozen=True, slots=True)
class Draft:
    """A tool's wording in the editor, and the draft put aside for the server's text."""

    wording: ToolText
    aside: ToolText | None = None


class Drafts:
    """One session's drafts."""

    def __init__(self) -> None:
        self._by_tool: dict[str, Draft] = {}

    def of(self, tool: Tool) -> Draft:
        """A tool's draft, or the server's text."""
        return self._by_tool.get(tool.id) or Draft(wording_of(tool))

    def keep(self, tool: Tool, wording: ToolText, aside: ToolText | None = None) -> None:
        self._by_tool[tool.id] = Draft(wording, aside)

    def describe(self, tool: Tool, description: str) -> None:
        """Draft another description; what else was drafted stays."""
        self.keep(tool, replace(self.of(tool).wording, description=description))

    def follow(self, before: Tool, now: Tool) -> None:
        """Take a changed definition: a draft stays, an unedited text becomes the server's new one."""
        draft = self._by_tool.get(before.id)
        if draft is not None and draft.wording == wording_of(before):
            self.keep(now, wording_of(now), draft.aside)


_DRAFTS: MutableMapping[App[object], Drafts] = WeakKeyDictionary()


def drafts_of(app: App[object]) -> Drafts:
    """The drafts of the session that an app shows."""
    return _DRAFTS.setdefault(app, Drafts())


_MEASURE = "edit"
# Seconds without a keypress before an edit is measured.
PAUSE = 0.3
_NO_TOOL = "Press e on a tool in the list, or p to pick one."
_GONE = "Its server may have stopped, or a toolset may hide it."


class EditPane(Pane):
    """Edits a tool's texts locally, and measures every draft against the query of the page."""

    first = ("#description",)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+y", "copy_description", "copy text", id="edit.copy"),
        Binding("ctrl+r", "reset", "server's text", id="edit.reset"),
    ]

    class Asked(Message):
        """A labelled request was chosen as the query."""

        def __init__(self, query: str) -> None:
            super().__init__()
            self.query_text = query

    def __init__(self) -> None:
        super().__init__(id="edit")
        self._tool: Tool | None = None
        self._query = ""
        self._rankers: CatalogRankers | None = None
        self._evalset: EvalSet | None = None
        self._pause: Timer | None = None
        # While the fields of another tool are being made, what they say is nobody's edit.
        self._is_taking = False
        self._wants_focus = False

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
            self.query_one("#gone", Static).update(_GONE if topic.tool_id else _NO_TOOL)
            self.drop_job(_MEASURE)
            return
        is_other = topic.request.query != self._query or self.retrieval.rankers is not self._rankers
        self._query = topic.request.query
        if tool != self._tool:
            self._use(tool)
        elif is_other:
            self._measure_now()

    @work(exclusive=True, exit_on_error=False, group="use")
    async def _use(self, tool: Tool) -> None:
        """Take another tool, or a changed definition: a draft stays, an unedited text follows."""
        before, self._tool = self._tool, tool
        if before is not None and before.id == tool.id:
            drafts_of(self.app).follow(before, tool)
        self._is_taking = True
        try:
            await self.query_one(ToolTextEditor).use(tool, self._draft.wording)
        finally:
            self._is_taking = False
        self._show_title()
        self._measure_now()
        if before is None or before.id != tool.id:
            self.query_one(EffectPanel).show(content.Reading(), 0)
        if self._wants_focus:
            self._wants_focus = False
            super().focus_first()

    def focus_first(self) -> bool:
        """Go to the description, as soon as it is there."""
        self._wants_focus = self._is_taking or (self._tool is None and not self.has_class("-gone"))
        return self._wants_focus or super().focus_first()

    def propose(self, tool_id: str, description: str) -> None:
        """Draft another description of a tool, before or while it is shown."""
        tool = self.session.catalog.get(tool_id)
        if tool is not None:
            drafts_of(self.app).describe(tool, description)
        if tool is not None and tool == self._tool:
            self.query_one(ToolTextEditor).show(self._draft.wording)
            self._show_title()

    def _show_title(self) -> None:
        if self._tool is None:
            return
        self.query_one("#edit-title", Static).update(content.title(self._tool.id, self.size.width - 16))
        edited = self._draft.wording != wording_of(self._tool)
        self.query_one("#editor").border_title = content.editor_title(edited, self._draft.aside is not None)

    @property
    def _draft(self) -> Draft:
        assert self._tool is not None
        return drafts_of(self.app).of(self._tool)

    def _keep(self, wording: ToolText, aside: ToolText | None) -> None:
        assert self._tool is not None
        drafts_of(self.app).keep(self._tool, wording, aside)
        self._show_title()

    @on(ToolTextEditor.Changed)
    def _typed(self) -> None:
        if self._tool is None or self._is_taking:
            return
        wording = self.query_one(ToolTextEditor).wording
        is_edited = wording != wording_of(self._tool)
        self._keep(wording, None if is_edited else self._draft.aside)
        self.query_one("#mark", Static).update(content.COMPUTING)
        self.drop_job(_MEASURE)
        if self._pause is not None:
            self._pause.stop()
        self._pause = self.set_timer(PAUSE, self._measure_now)

    def _measure_now(self) -> None:
        if self._tool is None:
            return
        retrieval = self.retrieval
        self._rankers = retrieval.rankers
        self.query_one("#mark", Static).update(content.COMPUTING)
        wording = self.query_one(ToolTextEditor).wording
        trial = Measurement(self._tool, wording, self._query, retrieval.rankers, retrieval.ranker_name)
        count = self.session.accounting.meter.tool

        def measure(job: Job) -> None:
            def tell(reading: content.Reading) -> None:
                job.tell(partial(self._measured, reading))

            trial.run(count, lambda: self._requests(trial.rankers), tell, job.stopped)

        self.run_job(
            _MEASURE,
            measure,
            lambda _: None,
            failed=lambda error: self._measured(content.Reading(problem=failure_text(error)[1])),
        )

    def _requests(self, rankers: CatalogRankers) -> EvalSet:
        """Return the evaluation set, built once per catalog; runs in a thread."""
        evalset = self._evalset
        if evalset is None or evalset.tools is not rankers.index.tools:
            self._evalset = evalset = self.retrieval.evalset(rankers.index)
        return evalset

    def _measured(self, reading: content.Reading) -> None:
        self.query_one("#mark", Static).update(content.mark(reading))
        tools = len(self._rankers.index.tools) if self._rankers else 0
        self.query_one(EffectPanel).show(reading, tools, self.query_one(ToolTextEditor).wording.description)

    @on(RecordList.Selected, "#around")
    def _open(self, event: RecordList.Selected) -> None:
        effect = self.query_one(EffectPanel).reading.effect
        is_own = effect is not None and event.key == effect.edited_id
        self.open_tool(self.tool_id if is_own else event.key)

    @on(RecordList.Selected, "#changes")
    def _ask_again(self, event: RecordList.Selected) -> None:
        self.post_message(self.Asked(event.record.copy))

    def action_reset(self) -> None:
        """Show the server's text and put the draft aside, or bring the draft back."""
        if self._tool is None:
            return
        own, draft = wording_of(self._tool), self._draft
        if draft.wording != own:
            self._keep(own, draft.wording)
        elif draft.aside is not None:
            self._keep(draft.aside, None)
        self.query_one(ToolTextEditor).show(self._draft.wording)

    def action_copy_description(self) -> None:
        """Copy the description as edited."""
        self.copy(self.query_one(ToolTextEditor).wording.description, "the description")

    def save(self, done: Callable[[str | None], None]) -> None:
        """Ask for a file, write the draft into it, then call `done` with its path, None if it was not."""
        if self._tool is None or self.has_class("-gone"):
            self.warn(_NO_TOOL)
            return
        try:
            edited = reworded(self._tool, self.query_one(ToolTextEditor).wording)
        except ToolsightError as error:
            self.fail(error)
            return
        text = partial(exported, self._tool, edited)
        self.app.push_screen(ExportDialog(suggested(self._tool), text, ENDINGS), done)
