"""What a session has of its servers: their connections, and what crosses them."""

from collections.abc import Callable

from msgspec.structs import replace

from inspector.access.reach import covers
from inspector.config.configuration import Configuration
from inspector.core.server import ServerSpec
from inspector.core.settings import AccessSettings, Settings
from inspector.mcp.connections import Connections
from inspector.mcp.frame import WireLog
from inspector.mcp.listing import Shared
from inspector.mcp.port import SessionClient
from inspector.mcp.question import Sampler
from inspector.mcp.reading import Offers
from inspector.search.answer.retrieval import Live
from inspector.session.assembly import Ports
from inspector.session.recorded_session import RecordedSession
from inspector.tokens.accounting import Accounting


class ConnectedSession(RecordedSession):
    """A session with connections, which outlast it: their news goes to the one that runs."""

    accounting: Accounting
    _live: Live

    def __init__(
        self,
        configuration: Configuration,
        ports: Ports,
        access: AccessSettings,
        session_id: str,
        on_servers: Callable[[], None],
    ) -> None:
        """`on_servers` is called when the servers, or what they offer, have changed."""
        super().__init__(configuration, ports, access, session_id)
        self._wires = dict[str, WireLog]()
        shared = Shared(
            ports.connector,
            ports.memory,
            ports.clock,
            emit=lambda event: self._session.emit(event),
            count_tokens=lambda tools: self.accounting.count(tools),
            redact=lambda tool: self._session.redactor.once(tool),
            client_for=self._client_for,
            sight=lambda: self.access.sight,
        )
        self._connections = Connections(configuration.servers, shared, on_servers)

    @property
    def configuration(self) -> Configuration:
        return self._live.configuration

    @property
    def settings(self) -> Settings:
        """The settings for the next model call."""
        return self._live.settings

    def stderr(self, server: str) -> str:
        """The last lines that a server wrote to stderr: up to now, or as it failed."""
        state = self.state.servers.get(server)
        tail = self._session.redactor.text(self._connections.stderr_tail(server))
        return tail or (state.stderr_tail if state is not None else "")

    def wire(self, server: str) -> WireLog | None:
        """What was exchanged with a server, without secrets; no session has it in its record."""
        wire = self.ports.wire
        if wire is None or not covers(self._live.sight, server):
            return None
        return self._wires.setdefault(server, WireLog(wire.frames(server), self._session.redactor))

    async def ping(self, server: str) -> tuple[str, float | None]:
        """Ask a server for a sign of life.

        Returns the method that it answered and the milliseconds on the wire, None where no wire is logged.
        Raises ToolsightError.
        """
        method = await self._connections.ping(server)
        log = self.wire(server)
        return method, log.took(method) if log is not None else None

    def offers(self, server: str) -> Offers | None:
        """What a connected server has beside tools, without secrets; no session has it in its record."""
        offers = self._connections.offers(server)
        return None if offers is None else replace(offers, redact=self._session.redactor.text)

    @property
    def connecting(self) -> tuple[str, ...]:
        """The servers that are neither ready nor failed yet."""
        return self._connections.connecting

    async def wait_connected(self) -> None:
        """Wait until every server is ready or has failed."""
        await self._connections.settled()

    def _client_for(self, spec: ServerSpec) -> SessionClient:
        ports, settings = self.ports, self.settings

        def sampler() -> Sampler:
            model, most = self._live.model, self.settings.budget.output_reserve
            return Sampler(model, ports.counter_for(model.name).count, most)

        about = spec.name, settings.client, self.configuration.folders_for(spec), ports.elicitor
        return SessionClient(*about, lambda: self._session.emit, sampler, ports.heard, ports.relay)
