"""What the keys on a server do: reconnect, stop, ping, sign in, trust, choose from which level it logs."""

from textual import work

from inspector.app.base_screen import BaseScreen
from inspector.app.context import Job
from inspector.app.dialogs.approver import agrees
from inspector.app.dialogs.elicitor import ModalVisitor
from inspector.core.number import milliseconds
from inspector.core.report import YES, Option, Question
from inspector.core.server import ServerPhase
from inspector.mcp.question import trust_question
from widgets import visible

_STILL_VALID = "Its issuer may still accept it."
_UNTIL = "Its tools cannot be found or called until r connects it again."
_STOP = (Option(YES, "stop"), Option("no", "no"))
_SIGN_OUT = (Option(YES, "sign out"), Option("no", "no"))


class ServerActions(BaseScreen):
    """A page with servers in a list; `server` is the one under the cursor, "" if there is none."""

    @property
    def server(self) -> str:
        return ""

    def action_reconnect(self) -> None:
        """Close the server's connection, if any, and open it again."""
        self._reconnect(self.server)

    @work(exit_on_error=False)
    async def action_stop(self) -> None:
        """Close the server's connection after a yes."""
        server, commands = self.server, self.commands
        name = visible(server, limit=60, newlines=False)
        if await agrees(self.app, Question(f"Stop {name}?", (_UNTIL,), _STOP)):
            await commands.stop(server)

    def action_ping(self) -> None:
        """Ask the server for a sign of life, and say how long it took."""
        server, commands = self.server, self.commands
        name = visible(server, limit=60, newlines=False)

        async def ping(_job: Job) -> tuple[str, float | None]:
            return await commands.ping(server)

        def answered(found: tuple[str, float | None]) -> None:
            method, took = found
            after = "" if took is None else f" in {milliseconds(took)}"
            note = "" if method == "ping" else "; its protocol has no ping"
            self.notify(f"{name} answered {method}{after}{note}.", markup=False)

        self.run_stoppable("ping", ping, answered)

    def action_sign_in(self) -> None:
        """Sign in to the server; esc cancels, whatever it waits for."""
        server, visitor = self.server, ModalVisitor(self.app)

        async def sign_in(_job: Job) -> str:
            return await self.commands.sign_in(server, visitor)

        def signed_in(place: str) -> None:
            name = visible(server, limit=60, newlines=False)
            nothing = f"No sign-in to {name} had to be kept."
            self.notify(f"Signed in to {name}; kept in {place}." if place else nothing, markup=False)

        self.run_stoppable("sign-in", sign_in, signed_in)

    def stop_running(self) -> None:
        """Cancel the ping or the sign-in."""
        if self.running is not None:
            told = f"{self.running.title.capitalize()} cancelled."
            self.drop_running()
            self.notify(told, markup=False, timeout=3)

    @work(exit_on_error=False)
    async def action_sign_out(self) -> None:
        """Forget the sign-in to the server after a yes."""
        server, commands = self.server, self.commands
        name = visible(server, limit=60, newlines=False)
        if await agrees(self.app, Question(f"Sign out of {name}?", (_STILL_VALID,), _SIGN_OUT)):
            was_signed_in = await commands.sign_out(server)
            told = f"Signed out of {name}." if was_signed_in else f"There was no sign-in to {name}."
            self.notify(told, markup=False)

    @work(exit_on_error=False)
    async def action_trust(self) -> None:
        """Believe what the server claims about its tools after a yes, or no longer at once."""
        server, commands = self.server, self.commands
        is_trusted = server in self.view.state.trusted_servers
        if is_trusted or await agrees(self.app, trust_question(server)):
            commands.trust(server, trusted=not is_trusted)

    def action_reconnect_failed(self) -> None:
        """Reconnect every server that failed."""
        servers = self.view.state.servers.values()
        failed = [server.name for server in servers if server.phase is ServerPhase.FAILED]
        for name in failed:
            self._reconnect(name)
        if not failed:
            self.notify("No failed servers.", markup=False, timeout=3)

    def _reconnect(self, name: str) -> None:
        self.run_command(lambda commands: commands.reconnect(name))
