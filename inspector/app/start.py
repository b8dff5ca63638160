"""Asks what to open: a server that is typed, one used before, a client's configuration, or the demo."""

import asyncio
import shlex
from collections.abc import Callable, Sequence
from typing import ClassVar

from msgspec import Struct
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from inspector.app.draw.line import MUTED
from inspector.app.terminal import TerminalApp
from widgets import Column, PlainInput, Record, RecordList, plain


class Opens(Struct, frozen=True):
    """What to open: a configuration file, a server's words, or the demo."""

    config: str = ""
    server: tuple[str, ...] = ()
    demo: bool = False


class Way(Struct, frozen=True):
    """A way to begin, for people: its kind, its title, and its servers."""

    kind: str
    title: str
    servers: str
    opens: Opens


COLUMNS = (
    Column("kind", width=8),
    Column("title", weight=3, min_width=16, shorten="middle"),
    Column("servers", weight=3, min_width=12, hide_below=70),
)
_NOTHING_TYPED = "Nothing to open yet. Type the command that starts your server."
_HINT = "↑ ↓ choose   enter opens   esc leaves"


class StartApp(TerminalApp[Opens]):
    """Exits with what is to be opened, or with None.

    `find` returns the ways to begin; it may take a while and runs in a thread. `problem` says why words
    cannot be opened, "" if they can.
    """

    TITLE = "Toolsight"
    CSS = """
    Screen { padding: 1 2; }
    #about { margin-bottom: 1; }
    #typed { height: 3; border: round $border; padding: 0 1; background: $background; }
    #typed:focus { border: round $primary; }
    #problem { height: auto; color: $text-error; padding: 0 2; }
    #ways { height: 1fr; margin-top: 1; border: round $border; padding: 0 1; }
    #hint { color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "quit", "leave", show=False, priority=True),
        Binding("down", "focus_ways", "choose", show=False),
    ]
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, find: Callable[[], Sequence[Way]], problem: Callable[[tuple[str, ...]], str]) -> None:
        super().__init__()
        self._find = find
        self._problem = problem
        self._ways: dict[str, Way] = {}

    def compose(self) -> ComposeResult:
        about = (
            "see which tools an LLM agent sees, what they cost, and why a search does or does not find them"
        )
        yield Static(Content.assemble(("Toolsight   ", "bold $primary"), (about, MUTED)), id="about")
        yield PlainInput(
            placeholder="python server.py, npx -y @scope/server, https://host/mcp, tools.json …", id="typed"
        )
        yield Static(id="problem", markup=False)
        ways = RecordList(COLUMNS, empty="Looking for servers on this machine …", id="ways")
        ways.border_title = "Or open"
        yield ways
        yield Static(_HINT, id="hint", markup=False)

    def on_mount(self) -> None:
        self.query_one("#typed", PlainInput).border_title = "Your server"
        self.query_one("#typed").focus()
        self.run_worker(self._show_ways(), exit_on_error=False)

    async def _show_ways(self) -> None:
        found = await asyncio.to_thread(self._find)
        self._ways = {str(number): way for number, way in enumerate(found)}
        self.query_one("#ways", RecordList).records = tuple(
            Record(key, (way.kind, way.title, way.servers)) for key, way in self._ways.items()
        )

    def action_focus_ways(self) -> None:
        """Leave the input for the list."""
        self.query_one("#ways", RecordList).focus()

    @on(RecordList.Selected, "#ways")
    def _chosen(self, event: RecordList.Selected) -> None:
        self.exit(self._ways[event.key].opens)

    @on(PlainInput.Submitted, "#typed")
    async def _typed(self, event: PlainInput.Submitted) -> None:
        try:
            words = tuple(shlex.split(event.value))
        except ValueError as error:
            self._refuse(f"Unclosed quote ({error}).")
            return
        if not words:
            self._refuse(_NOTHING_TYPED)
        elif problem := await asyncio.to_thread(self._problem, words):
            self._refuse(problem)
        else:
            self.exit(Opens(server=words))

    def _refuse(self, why: str) -> None:
        self.query_one("#problem", Static).update(plain(why))
