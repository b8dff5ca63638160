"""Everything about one server, one view at a time; what is known about it in words."""

import asyncio
from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector.app.context import InContext, Job
from inspector.app.draw.line import MUTED, problem_line
from inspector.app.draw.table import fact_lines
from inspector.clients.delivery import ServerDelivery
from inspector.core.error import Fetched
from inspector.core.number import count, milliseconds, tokens
from inspector.core.server import ServerPhase
from inspector.core.session import ServerState
from inspector.features.setup.walk import Step, own_entry, session_steps, step_facts, until_lost
from inspector.features.tools.facts import delivery_lines, server_facts
from inspector.features.tools.server_reading import ReadingPanel
from inspector.features.tools.tool_panel import keep
from inspector.features.tools.wire_panel import LOOKS_EVERY, LogPanel, WirePanel
from inspector.mcp.frame import Flaw
from inspector.mcp.reading import KINDS, declares
from inspector.session.client_view import deliveries_in, listed_in
from widgets import TextView, Tone, ViewPanel, ViewStrip, middle, plain, visible

STATES: dict[ServerPhase, tuple[str, str, Tone]] = {
    ServerPhase.CONNECTING: ("… connecting", "$text-warning", "warning"),
    ServerPhase.READY: ("✓ ready", "$text-success", ""),
    ServerPhase.FAILED: ("✕ failed", "$text-error", "error"),
    ServerPhase.STOPPED: ("■ stopped", MUTED, "muted"),
}
NO_SERVER = "The configuration has no servers. Add one to its file and restart."
_SERVER_LABELS = 14


def shown_state(server: ServerState) -> tuple[str, str, Tone]:
    """Return the word for a server's state, its color, and the tone of its row."""
    is_waiting = server.phase is ServerPhase.FAILED and server.needs_login
    return ("⚠ sign in", "$text-warning", "warning") if is_waiting else STATES[server.phase]


def server_title(server: ServerState, width: int) -> Content:
    """Return name and state in one line, and below what it cost to connect and to list."""
    word, color, _ = shown_state(server)
    name = plain(middle(visible(server.name, newlines=False), max(width - len(word) - 3, 12)))
    first = Content.assemble(name.stylize("bold"), "   ", (word, color))
    if server.phase is ServerPhase.CONNECTING and server.tools:
        return Content.assemble(first, "\n", (f"{count(server.tools, 'tool')} listed so far", MUTED))
    if server.phase is not ServerPhase.READY:
        return first
    listed = (count(server.tools, "tool"), f"{tokens(server.tokens)} tokens")
    took = f"ready after {milliseconds(server.milliseconds)}" if server.milliseconds else ""
    return Content.assemble(first, "\n", ("   ".join(filter(None, (*listed, took))), MUTED))


_STDERR, DOCTOR = "stderr, newest last", "doctor"
SERVER_VIEWS = ("about", DOCTOR, "stderr", "log", "wire")
_KEYS = {"a": "about", "u": "resources", "m": "prompts", "D": DOCTOR, "e": "stderr", "l": "log", "w": "wire"}


class ServerPanel(InContext, ViewPanel):
    """The views of the server that `show` names."""

    _server = ""
    _flaws: tuple[Flaw, ...] = ()
    _judged: tuple[str, object] = ("", ())
    _drawn: tuple[object, ...] = ()
    _verdicts = ""

    def compose(self) -> ComposeResult:
        yield ViewStrip(SERVER_VIEWS, _KEYS, id="server-views")
        yield Static(id="server-title")
        with Container(id="server-parts", classes="parts"):
            with Vertical(classes="part about"):
                with VerticalScroll(id="server-scroll"):
                    yield Static(id="server-facts", markup=False)
                yield TextView(id="server-told")
            with VerticalScroll(classes=f"part {DOCTOR}"):
                yield Static(id="server-steps", markup=False)
            for kind in KINDS:
                yield ReadingPanel(kind, id=f"server-{kind}", classes=f"part {kind}")
            yield TextView(empty="Nothing on stderr.", follow=True, id="server-stderr", classes="part stderr")
            yield LogPanel(id="server-log", classes="part log")
            yield WirePanel(id="server-wire", classes="part wire")

    def on_mount(self) -> None:
        self.query_one("#server-stderr").border_title = _STDERR
        self.show_part()
        self.set_interval(LOOKS_EVERY, self._look)

    @property
    def is_asked(self) -> bool:
        """Whether a field of a resource or a prompt has the focus: esc leads from there to its list."""
        return any(panel.reading.form.has_focus_within for panel in self.query(ReadingPanel))

    @property
    def server(self) -> ServerState | None:
        return self.session.state.servers.get(self._server)

    def show(self, name: str) -> None:
        """Show a server, in the view that was chosen last; news of other servers draw nothing."""
        session, state = self.session, self.session.state
        about = state.servers.get(name), state.problems, state.changes, state.held, state.trusted_servers
        drawn = (name, self.strip.current, session, *about)
        if drawn != self._drawn or self.strip.current not in SERVER_VIEWS[:2]:
            self._server, self._drawn = name, drawn
            self.draw()
        elif name in state.servers:
            self._judge(name)

    def draw(self) -> None:
        """Draw the chosen view."""
        server, state = self.server, self.session.state
        if server is None:
            return
        self.write(server_title(server, self.text_width), "#server-title")
        self._show_reading(server)
        if self.strip.current in ("log", "wire"):
            self.query_one(f"#server-{self.strip.current}", WirePanel).show(server.name)
        elif self.strip.current == "stderr":
            self._show_stderr()
        elif self.strip.current == DOCTOR:
            self._walk(server)
        else:
            self._flaws = self._read_flaws()
            facts = server_facts(
                server,
                [one for id_, one in state.changes.items() if id_.partition(":")[0] == server.name],
                flaws=self._flaws,
                held=sum(tool.server == server.name for tool in state.held.values()),
                trusted=server.name in state.trusted_servers,
                clients=self._verdicts if self._judged[0] == server.name else "",
                views=self.session.catalog.views_of(server.name),
            )
            about = [one for one in state.problems if one.server == server.name]
            lines = fact_lines(facts, _SERVER_LABELS, self.text_width), *map(problem_line, about)
            self.write(Content("\n").join(lines), "#server-facts")
            self._show_told(server)
            self._judge(server.name)

    def _show_reading(self, server: ServerState) -> None:
        """List what the server declares, also while another view is shown."""
        for panel in self.query(ReadingPanel):
            panel.show(server.name if declares(server.info, panel.kind) else "")
        self._show_views()

    def _show_views(self) -> None:
        """Offer the views that have something to show: many servers declare resources and have none."""
        strip = self.strip
        kinds = (panel.kind for panel in self.query(ReadingPanel) if panel.is_offered)
        strip.views = (SERVER_VIEWS[0], *kinds, *SERVER_VIEWS[1:])
        if strip.current not in strip.views:
            strip.current = SERVER_VIEWS[0]
            self.show_part()

    @on(ReadingPanel.Counted)
    def _counted(self, event: ReadingPanel.Counted) -> None:
        self.strip.counts = {**self.strip.counts, event.kind: event.number}
        self._show_views()

    def _judge(self, server: str) -> None:
        """Find out in which clients the server works, in a thread, once for what it lists.

        Of other servers only a tool of the same name can matter to it.
        """
        listed = listed_in(self.session)
        own = [one for one in listed if one.server == server]
        names = {tool.name for one in own for tool in one.tools}
        judged = server, (own, [tool.id for one in listed for tool in one.tools if tool.name in names])
        if judged == self._judged:
            return

        def show(found: Sequence[ServerDelivery]) -> None:
            before, self._verdicts = (self._judged[0], self._verdicts), "\n".join(delivery_lines(found))
            self._judged = judged
            if before != (server, self._verdicts):
                self.draw()

        self.run_job("verdicts", lambda job: deliveries_in(listed, server, job.stopped), show)

    def _walk(self, server: ServerState) -> None:
        """Walk from the server's entry to the model, in a thread: the last steps search."""
        session, name = self.session, server.name

        def steps(documents: Sequence[Fetched]) -> list[Step]:
            entry = own_entry(session.configuration, name)
            return until_lost([*entry, *session_steps(session, name, None, documents)])

        async def walk(_job: Job) -> list[Step]:
            documents = await self.commands.documents(name)
            return await asyncio.to_thread(steps, documents)

        def show(found: list[Step]) -> None:
            self.write(fact_lines(step_facts(found), _SERVER_LABELS + 1, self.text_width), "#server-steps")

        self.run_job(DOCTOR, walk, show)

    def _show_told(self, server: ServerState) -> None:
        """Show a server's instructions to a model; for a failed one, what it wrote before."""
        told, failed = self.query_one("#server-told", TextView), server.phase is ServerPhase.FAILED
        text = self.session.stderr(server.name) if failed else server.info.instructions or server.info.summary
        told.border_title = _STDERR if failed else "Instructions for the model"
        none = "No instructions from this server." if server.phase is ServerPhase.READY else "None so far."
        told.empty = "Nothing on stderr." if failed else none
        keep(told, text)

    def _show_stderr(self) -> None:
        keep(self.query_one("#server-stderr", TextView), self.session.stderr(self._server))

    def _look(self) -> None:
        """Read what a server wrote meanwhile: no event reports it."""
        if not (self.display and self._server and self.screen.is_current):
            return
        for panel in self.query(ReadingPanel):
            panel.look()
        if self.strip.current == "stderr":
            self._show_stderr()
        elif self.strip.current == "about" and self._read_flaws() != self._flaws:
            self.draw()

    def _read_flaws(self) -> tuple[Flaw, ...]:
        log = self.session.wire(self._server)
        return log.flaws() if log is not None else ()
