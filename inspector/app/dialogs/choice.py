"""Dialogs to choose from a list, such as a toolset, a model or a milestone, and the rows of such lists."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from inspector.app.context import Context
from inspector.app.draw.line import failure_text
from inspector.config.predicate import milestones_in
from inspector.config.profile import PROFILES
from inspector.core.access import AccessPolicy, Toolset, viewer
from inspector.core.error import ToolsightError
from inspector.core.number import count
from inspector.core.ports import OWN_ADDRESS, LocalModel
from inspector.core.session import SessionState
from widgets import Column, PlainInput, Record, RecordList, visible

COLUMNS = (Column("mark", width=1), Column("name", weight=3, shorten="middle"), Column("size", align="right"))
_OLLAMA = "ollama/"
_MODELS = (
    ("demo/planner", "rules instead of an LLM; no key needed, good for a first try"),
    ("openai/gpt-5", "needs OPENAI_API_KEY"),
    ("anthropic/claude-sonnet-4-5", "needs ANTHROPIC_API_KEY"),
    ("openrouter/auto", "needs OPENROUTER_API_KEY"),
    ("ollama/qwen3", "local model, no key needed; start ollama first"),
)


def toolset_rows(toolsets: Mapping[str, Toolset], current: str, all_key: str) -> tuple[Record, ...]:
    """Return all tools first, then every toolset; the current one is marked."""
    everything = _row(all_key, "every tool on every server", not current)
    return (
        everything,
        *(
            _row(name, toolset.description, name == current, count(len(toolset.servers), "server"))
            for name, toolset in toolsets.items()
        ),
    )


def model_rows(current: str, found: Sequence[LocalModel] = ()) -> tuple[Record, ...]:
    """Return the model in use, those found on this machine, then some suggestions."""
    local = {model.name: model for model in found}
    known = dict(_MODELS)
    in_use = known.pop(current, "in use")
    if any(name.startswith(_OLLAMA) for name in local):
        known = {name: what for name, what in known.items() if not name.startswith(_OLLAMA)}
    first = _local_row(local.pop(current), True) if current in local else _row(current, in_use, True)
    others = (_row(name, what, False) for name, what in known.items() if name not in local)
    return (first, *(_local_row(model, False) for model in local.values()), *others)


_MOST_EXPERTS = 30


def viewers_of(policy: AccessPolicy | None, session: SessionState) -> tuple[tuple[str, str], ...]:
    """Return users with experts to see as: the administrator first, who has no name; () without a policy."""
    if policy is None:
        return (("", ""),) if session.is_restricted else ()
    users = [(name, "") for name in policy.users]
    through = [(name, expert) for name in policy.users for expert in policy.experts]
    return (("", ""), *users, *(through if len(through) <= _MOST_EXPERTS else ()))


def viewer_rows(viewers: Sequence[tuple[str, str]], current: tuple[str, str]) -> tuple[Record, ...]:
    """Return a row for each, by its number."""
    rows = []
    for number, (user, expert) in enumerate(viewers):
        name, what = (viewer(user, expert), "") if user else ("administrator", "every tool on every server")
        row = _row(name, what, (user, expert) == current)
        rows.append(replace(row, key=str(number)))
    return tuple(rows)


def looked_for(servers: Sequence[str], found: Sequence[LocalModel], *, done: bool) -> str:
    """Return what became of the question for local model servers."""
    if found:
        names = ", ".join(dict.fromkeys(model.server for model in found))
        return f"{count(len(found), 'local model')} from {names}, no key needed"
    told = "No local model server answered" if done else "Looking for local model servers"
    return f"{told}: {', '.join(servers)}"


def _local_row(model: LocalModel, current: bool) -> Record:
    return _row(model.name, f"local, no key: {model.about}", current)


def milestone_rows(preconditions: Mapping[str, Sequence[str]], reached: Sequence[str]) -> tuple[Record, ...]:
    """Return the milestones that tools wait for, and the others that are reached."""
    waiting: dict[str, list[str]] = {name: [] for name in reached}
    for pattern, texts in preconditions.items():
        for name in milestones_in(texts):
            waiting.setdefault(name, []).append(pattern)
    return tuple(
        _row(name, f"needed by {', '.join(patterns)}" if patterns else "no tool needs it", name in reached)
        for name, patterns in waiting.items()
    )


def profile_rows(current: str, *, leaving_out: str = "") -> tuple[Record, ...]:
    """Return every profile but one with what it is; the current one is marked."""
    return tuple(
        _row(name, profile.title, name == current)
        for name, profile in PROFILES.items()
        if name != leaving_out
    )


def _row(name: str, detail: str, current: bool, size: str = "") -> Record:
    return Record(name, ("✓" if current else " ", name, size), detail=detail)


# The row for no toolset; a configuration may have a toolset of the same name.
_ALL_TOOLS = "all tools"


class ChoiceDialog(ModalScreen[None]):
    """A list and an error line; closes once a choice is accepted."""

    # An absolute path, because Textual resolves a relative one beside each subclass.
    CSS_PATH = Path(__file__).with_name("choice.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "close", show=False)]
    AUTO_FOCUS = "RecordRows"

    def __init__(
        self, title: str, rows: tuple[Record, ...], choose: Callable[[str], None], current: str
    ) -> None:
        super().__init__()
        self._current = current
        self._title = title
        self._rows = rows
        self._choose = choose

    def compose(self) -> ComposeResult:
        with Vertical(id="choice") as box:
            box.border_title = self._title
            box.border_subtitle = "enter chooses, esc closes"
            yield from self.extra()
            yield RecordList(COLUMNS, self._rows, empty="Nothing to choose from.", lines=2)
            yield Static(id="choice-error", markup=False)

    def extra(self) -> ComposeResult:
        """Widgets above the list."""
        yield from ()

    def on_mount(self) -> None:
        self.query_one(RecordList).move_to(self._current)

    @on(RecordList.Selected)
    def _take_row(self, event: RecordList.Selected) -> None:
        self.take(event.key)

    def take(self, name: str) -> None:
        """Make the choice and close, or show why it cannot be made."""
        try:
            self._choose(name)
        except ToolsightError as error:
            self.query_one("#choice-error", Static).update(failure_text(error)[1])
        else:
            self.dismiss()


class ToolsetDialog(ChoiceDialog):
    """Every toolset of the configuration, and all tools."""

    def __init__(self, context: Context) -> None:
        toolsets, current = context.session.configuration.toolsets, context.session.state.toolset
        everything = _ALL_TOOLS
        while everything in toolsets:
            everything = f"({everything})"

        def choose(key: str) -> None:
            context.commands.switch_toolset("" if key == everything else key)

        super().__init__(
            "Toolset", toolset_rows(toolsets, current, everything), choose, current or everything
        )


class NamedDialog(ChoiceDialog):
    """A list of suggestions, and an input for any other name."""

    AUTO_FOCUS = "#choice-name"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("down", "focus_list", show=False)]
    hint: ClassVar[str] = ""

    def extra(self) -> ComposeResult:
        yield PlainInput(placeholder=self.hint, id="choice-name")

    def action_focus_list(self) -> None:
        """Move the focus from the input to the list."""
        self.query_one(RecordList).focus()

    @on(PlainInput.Submitted, "#choice-name")
    def _take_name(self, event: PlainInput.Submitted) -> None:
        if event.value.strip():
            self.take(event.value.strip())


class ModelDialog(NamedDialog):
    """Any model by its name or at an address, and the models of local servers, asked when it opens."""

    hint = "anthropic/…, ollama/…, or an address: http://HOST/v1 MODEL"

    def __init__(self, context: Context) -> None:
        self._in_use = context.session.state.model
        self._local = context.session.local_models
        self._found: tuple[LocalModel, ...] = ()

        def choose(name: str) -> None:
            local = next((model for model in self._found if model.name == name), None)
            if local is None:
                context.commands.switch_model(name)
            else:
                context.commands.use_local_model(local)

        super().__init__("Model", model_rows(self._in_use), choose, self._in_use)

    def extra(self) -> ComposeResult:
        yield from super().extra()
        yield Static(id="choice-local", markup=False)

    def on_mount(self) -> None:
        if self._local.servers:
            self.run_worker(self._look(), exit_on_error=False)

    async def _look(self) -> None:
        """Show the local models as their servers answer."""
        self._tell(done=False)
        async with aclosing(self._local.find()) as servers:
            async for models in servers:
                self._found += models
                self.query_one(RecordList).records = model_rows(self._in_use, self._found)
                self._tell(done=False)
        self._tell(done=True)

    def take(self, name: str) -> None:
        """Use the model of that name, or the one behind an address."""
        address, _, model = name.partition(" ")
        if not address.startswith(("http://", "https://")):
            super().take(name)
        elif model.strip():
            own = LocalModel(f"{OWN_ADDRESS}{model.strip()}", address.rstrip("/"), address)
            self._found = (own, *self._found)
            super().take(own.name)
        else:
            said = (
                "Write the model's name behind its address; `toolsight doctor models` lists those of servers."
            )
            self.query_one("#choice-error", Static).update(said)

    @on(Worker.StateChanged)
    def _say_failure(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self._tell(done=True)
            self.query_one("#choice-error", Static).update(failure_text(event.worker.error)[1])

    def _tell(self, *, done: bool) -> None:
        told = looked_for(self._local.servers, self._found, done=done)
        self.query_one("#choice-local", Static).update(visible(told))


class MilestoneDialog(NamedDialog):
    """Marks a milestone as reached; tools may wait for it."""

    hint = "milestone reached"

    def __init__(self, context: Context) -> None:
        session = context.session
        rows = milestone_rows(session.settings.access.preconditions, session.state.milestones)
        super().__init__("Milestone", rows, lambda name: context.commands.milestone(name), "")


class SeeAsDialog(ChoiceDialog):
    """Whom to see everything as. To a restricted user it shows the way back, and nobody else's name."""

    def __init__(self, context: Context) -> None:
        session = context.session
        viewers = viewers_of(session.access_policy, session.state)

        def choose(key: str) -> None:
            context.see_as(*viewers[int(key)])

        current = (session.sight.user, session.sight.expert)
        at = str(viewers.index(current)) if current in viewers else ""
        super().__init__("View as", viewer_rows(viewers, current), choose, at)


DIALOGS: Mapping[str, Callable[[Context], ChoiceDialog]] = {
    "toolset": ToolsetDialog,
    "model": ModelDialog,
    "milestone": MilestoneDialog,
    "see_as": SeeAsDialog,
}
"""The dialogs that the app's commands open, by name."""
