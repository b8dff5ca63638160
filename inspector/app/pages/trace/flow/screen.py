"""The flow page: the tools that a persona called, and what it called after the one under the cursor."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.widgets import Input, Static

from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.dialogs.choice import ChoiceDialog
from inspector.app.draw.line import failure_line
from inspector.app.job import Job
from inspector.app.pages.trace.flow import content
from inspector.app.stream import View
from inspector.core.inertia import Aging
from inspector.core.settings import InertiaSettings
from inspector.reliability.flow import Flow, FlowLibrary, FlowTool, flows
from widgets import KeyBar, RecordList


class FlowScreen(BaseScreen):
    """What follows what in the recorded sessions; the moment that is shown has a mark and its predictions."""

    page = "flow"
    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#flow-tools RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "go", "what follows", priority=True, id="flow.go"),
        Binding("p", "persona", "pick persona", id="flow.persona"),
        Binding("r", "again", "reload", id="flow.again"),
        Binding("o", "tool", "open tool", id="flow.tool"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "Left: the tools a persona called, most called first. Right: what it called after the chosen one.",
        "A persona is an agent whose sessions you imported, a toolset, or a name (inertia.persona).",
        "share: of the calls after that tool; old calls count less (inertia.half_life_days).",
        "at least: the lower end of the share's 95 % interval, which is wide for few calls.",
        "Muted: below inertia.min_probability or inertia.min_low, so never bound ahead.",
        "▸ marks the tool the session called last, also in a replay. Only the model's calls count.",
        "enter goes to the list on the right; o opens a tool, p picks another persona.",
        "r rereads the sessions. `toolsight sessions next` prints the same and scores recorded runs.",
    )

    def __init__(self) -> None:
        super().__init__()
        self._found: Sequence[Flow] = ()
        self._persona = ""
        self._is_read = False

    def compose(self) -> ComposeResult:
        yield HeaderLine(markup=False)
        yield Static(content.READING, id="flow-facts", markup=False)
        with Container(id="flow-page"):
            with Vertical(classes="pane", id="flow-left") as left:
                left.border_title = "Called"
                yield RecordList(content.TOOLS, header=True, empty=content.READING, id="flow-tools")
            with Vertical(classes="pane", id="flow-right") as right:
                right.border_title = "Then"
                yield RecordList(content.NEXT, header=True, empty=content.NOTHING, id="flow-next")
                yield Static(id="flow-detail", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self.action_again()

    @property
    def _library(self) -> FlowLibrary | None:
        return self.context.flows

    @property
    def _settings(self) -> InertiaSettings:
        return self.session.settings.inertia

    @property
    def _shown(self) -> Flow | None:
        return next((one for one in self._found if one.persona == self._persona), None)

    @property
    def _tool(self) -> FlowTool | None:
        """The tool under the cursor on the left."""
        current = self.query_one("#flow-tools", RecordList).current
        known = self._shown.tools if self._shown is not None else ()
        return next((tool for tool in known if current is not None and tool.tool == current.key), None)

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the rows need the whole page
        if self._is_read:
            self._draw()

    def action_again(self) -> None:
        """Read the recorded sessions again."""
        library, settings = self._library, self._settings
        if library is None:
            self._say(content.NOT_HERE)
            return
        aging = Aging(self.session.retrieval.clock.now(), settings.half_life_days)

        def read(job: Job) -> Sequence[Flow]:
            return flows(library.graphs(settings.seed, job.stopped), aging)

        self.run_job("flow", read, self._show, failed=lambda error: self._say(str(failure_line(error))))

    def _show(self, found: Sequence[Flow]) -> None:
        self._found, self._is_read = found, True
        if self._shown is None and found:
            self._persona = found[0].persona
        self._draw()
        self.query_one("#flow-tools", RecordList).move_to(self.view.state.inertia.called)

    def _say(self, text: str) -> None:
        self.query_one("#flow-facts", Static).update(text)
        self.query_one("#flow-tools", RecordList).empty = text

    def _draw(self) -> None:
        state, shown = self.view.state, self._shown
        names = [one.persona for one in self._found]
        place = names.index(self._persona) if self._persona in names else 0
        told = content.facts(shown, len(names), place, self._settings)
        doing = content.doing(state, self._settings)
        self.query_one("#flow-facts", Static).update(told.append("\n").append(doing))
        left = self.query_one("#flow-tools", RecordList)
        left.empty = content.EMPTY
        self.query_one("#flow-left").border_title = content.called(shown)
        left.records = content.tools(shown, state)
        self._draw_next()

    @on(RecordList.Highlighted, "#flow-tools")
    def _draw_next(self) -> None:
        tool, right = self._tool, self.query_one("#flow-next", RecordList)
        right.records = content.successors(tool, self._settings)
        self.query_one("#flow-right").border_title = content.then(tool)
        self._draw_detail()

    @on(RecordList.Highlighted, "#flow-next")
    def _draw_detail(self) -> None:
        current = self.query_one("#flow-next", RecordList).current
        key = current.key if current is not None else ""
        self.query_one("#flow-detail", Static).update(content.detail(self._tool, key, self.view.state))

    @on(RecordList.Selected, "#flow-next")
    def action_go(self) -> None:
        """Go on: what follows the tool under the cursor on the right."""
        right = self.query_one("#flow-next", RecordList)
        if right.current is not None:
            self.query_one("#flow-tools", RecordList).move_to(right.current.key)

    def action_tool(self) -> None:
        """Open the page of the tool under the cursor."""
        right = self.query_one("#flow-next", RecordList)
        focused = right if right.has_focus_within else self.query_one("#flow-tools", RecordList)
        if focused.current is not None:
            self.open_tool(focused.current.key)

    def action_persona(self) -> None:
        """Choose whose habits are shown."""
        if self._found:
            rows = content.personas(self._found)
            self.app.push_screen(ChoiceDialog("Persona", rows, self._choose, self._persona))

    def _choose(self, persona: str) -> None:
        self._persona = persona
        self._draw()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer a choice only where there is one, and leave enter to the filter while it has the focus."""
        if action == "persona":
            return len(self._found) > 1
        if action == "go":
            return not isinstance(self.focused, Input)
        return super().check_action(action, parameters)
