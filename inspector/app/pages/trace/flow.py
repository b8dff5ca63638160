"""The flow page: the tools that a persona called, and what it called after the one under the cursor."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from inspector.app.context import Job
from inspector.app.dialogs.choice import ChoiceDialog
from inspector.app.draw.line import MUTED
from inspector.app.list_page import ListPage
from inspector.app.stream import View
from inspector.core.inertia import Aging
from inspector.core.number import bar, count, percent, shown_moment
from inspector.core.session import Binding as Bound, SessionState
from inspector.core.settings import InertiaSettings
from inspector.reliability.flow import Flow, FlowTool, flows, is_likely, warmth
from widgets import Column, Record, RecordList, visible

TOOLS = (
    Column("mark", "", width=1),
    Column("tool", "tool", weight=4, shorten="name", min_width=12),
    Column("calls", "calls", align="right", width=6),
    Column("last", "last", width=10, hide_below=52),
)
NEXT = (
    Column("tool", "then", weight=4, shorten="name", min_width=12),
    Column("bar", "", width=8, hide_below=40),
    Column("share", "share", align="right", width=5),
    Column("low", "at least", align="right", width=8),
    Column("times", "times", align="right", width=5),
    Column("last", "last", width=10, hide_below=56),
)
READING = "Reading calls from the recorded sessions …"
EMPTY = "No calls recorded yet. Ask something in Chat, or import an agent's sessions (Trace, sessions, i)."
NOTHING = "No tool was called after it for the same message."
NOT_HERE = "This session cannot read other sessions. Use `toolsight sessions next`."
LAST = "▸"
_LONGEST, _BAR = 200, 8
_MODES = {
    "off": "binds nothing ahead",
    "with_search": "binds likely tools with a search",
    "where_it_pays": "binds likely tools with a search and where it pays off",
}


def facts(shown: Flow | None, personas: int, place: int, settings: InertiaSettings) -> Content:
    """Return whose habits are shown, what they rest on, and what is done with them."""
    if shown is None:
        return Content(EMPTY)
    which = f" ({place + 1} of {personas})" if personas > 1 else ""
    name = visible(shown.persona, limit=_LONGEST, newlines=False)
    seen = warmth(shown.tasks, settings.warm_up)
    return Content.assemble(("persona ", MUTED), (name, "bold"), (which, MUTED), f"   {seen}")


def doing(state: SessionState, settings: InertiaSettings) -> Content:
    """Return what is done with predictions in the session, and what came of them so far."""
    inertia = state.inertia
    if not settings.enabled and inertia.predicted is None and not inertia.hits.first_uses:
        return Content.styled("Predictions are off. Turn them on with inertia.enabled (ctrl+o).", MUTED)
    pieces = [f"Predicts; {_MODES[settings.preload]}." if settings.enabled else "Predicted in this session."]
    if inertia.ahead:
        pieces.append(
            f"{len(inertia.used):,} of {count(len(inertia.ahead), 'tool')} bound ahead were called."
        )
    hits = inertia.hits
    if hits.first_uses:
        # How often a first use was named first, by the graph and by the rules that it has to beat.
        rules = f"most used {hits.most_used[0]:,}, same server {hits.same_server[0]:,}"
        pieces.append(f"Predicted {hits.order_1[0]:,} of {count(hits.first_uses, 'first use')}; {rules}.")
    return Content("  ".join(pieces))


def tools(shown: Flow | None, state: SessionState) -> tuple[Record, ...]:
    """Return a row a tool, the most called first; the one that the session called last has a mark."""
    return tuple(_tool(tool, state) for tool in (shown.tools if shown is not None else ()))


def _tool(tool: FlowTool, state: SessionState) -> Record:
    mark = LAST if tool.tool == state.inertia.called else " "
    cells = (mark, tool.tool, f"{tool.calls:,}", _day(tool.at))
    return Record(tool.tool, cells, search=tool.tool, copy=tool.tool)


def _day(at: float) -> str:
    return shown_moment(at, "%Y-%m-%d") if at else ""


def successors(tool: FlowTool | None, settings: InertiaSettings) -> tuple[Record, ...]:
    """Return what follows a tool, most likely first; what is too unlikely to be bound ahead is muted."""
    return tuple(
        Record(
            one.tool,
            (
                one.tool,
                Content.styled(bar(one.probability, _BAR), "$primary"),
                percent(one.probability),
                percent(one.low),
                f"{one.count:,}",
                _day(one.at) or "seeded",
            ),
            tone="" if is_likely(one, settings) else "muted",
            search=f"{one.tool} {one.note}",
            copy=one.tool,
        )
        for one in (tool.successors if tool is not None else ())
    )


def detail(tool: FlowTool | None, chosen: str, state: SessionState) -> Content:
    """Return what is known of the successor under the cursor: its interval in words, and its binding."""
    one = next((one for one in (tool.successors if tool is not None else ()) if one.tool == chosen), None)
    if tool is None or one is None:
        return Content("")
    total = sum(each.count for each in tool.successors)
    words = (
        f"{one.count:,} of {count(total, 'call')} after it; at least {percent(one.low)} with 95 % confidence"
    )
    known = state.known(one.tool)
    bound = ""
    if known is not None:
        bound = "bound ahead" if known.is_ahead else str(known.binding)
        bound = f"{bound}, {known.reason}" if known.reason and known.binding is Bound.LOADED else bound
    told = [words, *filter(None, (bound, one.note))]
    return Content("; ".join(visible(part, limit=_LONGEST, newlines=False) for part in told))


def personas(found: Sequence[Flow]) -> tuple[Record, ...]:
    """Return a row a persona, for the dialog that chooses one."""
    return tuple(
        Record(
            one.persona,
            (one.persona, ""),
            detail=f"{count(one.tasks, 'task')}, {count(one.calls, 'call')}, {count(len(one.tools), 'tool')}",
        )
        for one in found
    )


class FlowScreen(ListPage):
    """What follows what in the recorded sessions; the moment that is shown has a mark and its predictions."""

    page = "flow"
    CSS_PATH = "flow.tcss"
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

    when_not_typing = frozenset({"go"})

    _found: Sequence[Flow] = ()
    _persona = ""
    _is_read = False

    _next = query_one("#flow-next", RecordList)

    def body(self) -> ComposeResult:
        yield Static(READING, id="facts", markup=False)
        with Container(id="flow-page"):
            with Vertical(classes="pane", id="flow-left"):
                yield RecordList(TOOLS, header=True, empty=READING, id="flow-tools")
            with Vertical(classes="pane", id="flow-right"):
                yield RecordList(NEXT, header=True, empty=NOTHING, id="flow-next")
                yield Static(id="detail", markup=False)

    def on_mount(self) -> None:
        self.action_again()

    @property
    def _settings(self) -> InertiaSettings:
        return self.session.settings.inertia

    @property
    def _shown(self) -> Flow | None:
        return next((one for one in self._found if one.persona == self._persona), None)

    @property
    def _tool(self) -> FlowTool | None:
        """The tool under the cursor on the left."""
        known = self._shown.tools if self._shown is not None else ()
        return next((tool for tool in known if tool.tool == self.key), None)

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the rows need the whole page
        if self._is_read:
            self.draw()

    def action_again(self) -> None:
        """Read the recorded sessions again."""
        library, settings = self.context.parts.flows, self._settings
        if library is None:
            self.say(NOT_HERE)
            return
        aging = Aging(self.session.retrieval.clock.now(), settings.half_life_days)

        def read(job: Job) -> Sequence[Flow]:
            return flows(library.graphs(settings.seed, job.stopped), aging)

        self.run_job("flow", read, self._show, failed=self.say_failure)

    def _show(self, found: Sequence[Flow]) -> None:
        self._found, self._is_read = found, True
        if self._shown is None and found:
            self._persona = found[0].persona
        self.refresh_bindings()
        self.draw()
        self.list.move_to(self.view.state.inertia.called)

    def draw(self) -> None:
        state, shown = self.view.state, self._shown
        names = [one.persona for one in self._found]
        place = names.index(self._persona) if self._persona in names else 0
        told = facts(shown, len(names), place, self._settings)
        self.write(told.append("\n").append(doing(state, self._settings)))
        called = f"Called: {count(shown.calls, 'time')}" if shown is not None else "Called"
        self.query_one("#flow-left").border_title = called
        self.list.empty = EMPTY
        self.list.records = tools(shown, state)
        self.moved()

    def moved(self) -> None:
        """Show what follows the tool under the cursor."""
        tool = self._tool
        after = f", after {visible(tool.tool, limit=_LONGEST, newlines=False)}" if tool is not None else ""
        self._next.records = successors(tool, self._settings)
        self.query_one("#flow-right").border_title = Content(f"Then{after}")
        self.draw_detail()

    @on(RecordList.Highlighted, "#flow-next")
    def draw_detail(self) -> None:
        self.write(detail(self._tool, self.key_in(self._next), self.view.state), "#detail")

    @on(RecordList.Selected, "#flow-next")
    def action_go(self) -> None:
        """Go on: what follows the tool under the cursor on the right."""
        self.list.move_to(self.key_in(self._next))

    def action_tool(self) -> None:
        """Open the page of the tool under the cursor."""
        tool = self.key_in(self._next if self._next.has_focus_within else self.list)
        if tool:
            self.open_tool(tool)

    def action_persona(self) -> None:
        """Choose whose habits are shown."""

        def choose(persona: str) -> None:
            self._persona = persona
            self.draw()

        if self._found:
            rows = personas(self._found)
            self.app.push_screen(ChoiceDialog("Persona", rows, choose, self._persona))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer a choice only where there is one."""
        if action == "persona":
            return len(self._found) > 1
        return super().check_action(action, parameters)
