"""Everything about one server, one view at a time."""

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.widgets import Static

from inspector.app.context import InContext
from inspector.app.pages.tools.catalog.server_text import instructions, server_facts, server_title
from inspector.app.pages.tools.catalog.wire_panel import WirePanel
from inspector.core.frame import Flaw
from inspector.core.server import ServerPhase
from inspector.core.session import ServerState
from widgets import TextView, ViewStrip

_LOOKS_EVERY = 0.5
_STDERR = "stderr, newest last"
VIEWS = ("about", "stderr", "wire")


class ServerPanel(InContext, Vertical):
    """The views of the server that `show` names."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self._server = ""
        self._flaws: tuple[Flaw, ...] = ()

    def compose(self) -> ComposeResult:
        yield ViewStrip(VIEWS, id="server-views")
        yield Static(id="server-title")
        with Container(id="server-parts", classes="parts"):
            with Vertical(classes="part about"):
                with VerticalScroll(id="server-scroll"):
                    yield Static(id="server-facts", markup=False)
                yield TextView(id="server-told")
            yield TextView(empty="Nothing on stderr.", follow=True, id="server-stderr", classes="part stderr")
            yield WirePanel(id="server-wire", classes="part wire")

    def on_mount(self) -> None:
        self.query_one("#server-stderr").border_title = _STDERR
        self._show_part()
        self.set_interval(_LOOKS_EVERY, self._look)

    def on_resize(self) -> None:
        """Draw what depends on the width."""
        self.draw()

    @property
    def strip(self) -> ViewStrip:
        return self.query_one("#server-views", ViewStrip)

    @property
    def server(self) -> ServerState | None:
        return self.session.state.servers.get(self._server)

    @property
    def _width(self) -> int:
        """The cells that a line of text has."""
        return max(self.size.width - 3, 20)

    def show(self, name: str) -> None:
        """Show a server, in the view that was chosen last."""
        self._server = name
        self.draw()

    def draw(self) -> None:
        """Draw the chosen view."""
        server, state = self.server, self.session.state
        if server is None:
            return
        self.query_one("#server-title", Static).update(server_title(server, self._width))
        if self.strip.current == "wire":
            self.query_one(WirePanel).show(server.name)
        elif self.strip.current == "stderr":
            self._show_stderr()
        else:
            held = sum(tool.server == server.name for tool in state.held.values())
            trusted = server.name in state.trusted_servers
            changes = [one for id_, one in state.changes.items() if id_.partition(":")[0] == server.name]
            self._flaws = self._read_flaws()
            facts = server_facts(
                server,
                state.problems,
                changes,
                flaws=self._flaws,
                held=held,
                trusted=trusted,
                width=self._width,
            )
            self.query_one("#server-facts", Static).update(facts)
            self._show_told(server)

    def _show_told(self, server: ServerState) -> None:
        """Show a server's instructions to a model; for a failed one, what it wrote before."""
        told, failed = self.query_one("#server-told", TextView), server.phase is ServerPhase.FAILED
        text = self.session.stderr(server.name) if failed else instructions(server)
        told.border_title = _STDERR if failed else "Instructions for the model"
        told.empty = "Nothing on stderr." if failed else "No instructions from this server."
        if told.text != text:
            told.text = text

    def _show_stderr(self) -> None:
        stderr, tail = self.query_one("#server-stderr", TextView), self.session.stderr(self._server)
        if stderr.text != tail:
            stderr.text = tail

    def _look(self) -> None:
        """Read what a server wrote meanwhile: no event reports it."""
        if not (self.display and self._server and self.screen.is_current):
            return
        if self.strip.current == "stderr":
            self._show_stderr()
        elif self.strip.current == "about" and self._read_flaws() != self._flaws:
            self.draw()

    def _read_flaws(self) -> tuple[Flaw, ...]:
        log = self.session.wire(self._server)
        return log.flaws() if log is not None else ()

    @on(ViewStrip.Chosen, "#server-views")
    def _chosen(self) -> None:
        self._show_part()
        self.draw()

    def _show_part(self) -> None:
        for part in self.query(".part"):
            part.display = part.has_class(self.strip.current)
