"""A session as it runs: its connections, its stream, and everything that can be read of it."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Self

from msgspec import to_builtins
from msgspec.structs import replace

from inspector.access.reach import EvalCase, covers, is_of, own_sessions
from inspector.access.restriction import AccessControl, seen_cases
from inspector.config.configuration import Configuration, is_about_client
from inspector.core.access import AccessPolicy, Sight
from inspector.core.events import IndexChanged, Record, SessionStarted, SettingsChanged
from inspector.core.message import ModelRequest
from inspector.core.ports import SessionSummary, StoreVersion
from inspector.core.ranking import IndexState
from inspector.core.server import ServerSpec
from inspector.core.session import SessionState
from inspector.core.settings import Settings
from inspector.core.stream import Listener, Session
from inspector.core.tool import Catalog
from inspector.loop.settings_check import Policy
from inspector.loop.tool_context import without
from inspector.mcp.connections import Connections
from inspector.mcp.frame import WireLog
from inspector.mcp.listing import Shared
from inspector.mcp.port import SessionClient
from inspector.mcp.question import Sampler
from inspector.mcp.reading import Offers
from inspector.search.answer.retrieval import Live, Retrieval
from inspector.search.index.past_use import Whose
from inspector.session.assembly import (
    Background,
    Handover,
    Ports,
    SessionParts,
    judged,
    past_calls,
    redactor_of,
)
from inspector.session.server_change import ServerSource
from inspector.session.setup import Setup
from inspector.tokens.accounting import Accounting


# Long because it keeps what a session consists of together, and answers every question about it.
class RunningSession:
    """A session and its connections. Leaving its `async with` closes all connections."""

    def __init__(
        self,
        configuration: Configuration,
        ports: Ports,
        *,
        model: str,
        session_id: str,
        toolset: str = "",
        cases: Sequence[EvalCase] = (),
        profile: str = "",
        values: Mapping[str, Any] | None = None,
        trusted: Collection[str] = (),
    ) -> None:
        """`cases` are labelled requests; `profile` and `values` (settings by path) override the file's.

        `trusted` names servers whose annotations are believed, besides those that the file says.

        Raises ToolsightError.
        """
        given = Policy(configuration, profile=profile, values=values).settings
        self.ports, self._whole = ports, configuration
        self.access = AccessControl(given.access, self._servers_for, ports.policy_from)
        self.policy = Policy(
            configuration,
            profile=profile,
            values=values,
            on_change=self._on_settings,
            restrict=self.access.settings,
        )
        self._cases, self._trusted = tuple(cases), frozenset(trusted)
        self._begun = asyncio.Event()
        self._begun.set()
        self._background, self._wires = Background(), dict[str, WireLog]()
        self._listeners: list[Listener] = []
        self._past_sessions: list[str] = []
        self._handover = Handover()
        settings = self.policy.settings
        self._connections = self._new_connections()
        self._open_session(session_id)
        self._live = Live(
            settings=settings,
            model=ports.model_for(model),
            configuration=self.access.configuration(configuration),
            retrieval=self._new_retrieval(settings),
            toolset=toolset,
            sight=self.access.sight,
        )
        self.accounting = Accounting(ports.counter_for, ports.prices, self._live)
        self.local_models = ports.local_models
        self._parts = self._make_parts()

    def _new_connections(self) -> Connections:
        """The connections outlast a session: their news goes to the one that runs."""
        return Connections(
            self._whole.servers,
            Shared(
                self.ports.connector,
                self.ports.memory,
                self.ports.clock,
                emit=lambda event: self._session.emit(event),
                count_tokens=lambda tools: self.accounting.count(tools),
                redact=lambda tool: self._session.redactor.once(tool),
                client_for=self._client_for,
                sight=lambda: self.access.sight,
            ),
            self._on_servers,
        )

    def _open_session(self, session_id: str) -> None:
        """Begin a stream; what still works for the one before it goes on writing there, unheard."""
        redactor = redactor_of(self._whole, self.access.sight)
        self._session = Session(session_id, self.ports.store, self.ports.clock, redactor, self._listeners)

    def _make_parts(self) -> SessionParts:
        return SessionParts(
            self._session,
            self._live,
            self.ports,
            self._connections,
            self.accounting,
            configure=self._configure,
            rebuild=self._rebuild,
        )

    async def __aenter__(self) -> Self:
        self.configuration.toolset(self._live.toolset)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._parts.close()
        await self.retrieval.settled()
        try:
            await self._background.settled()
        finally:
            try:
                await self._connections.aclose()
            finally:
                await self._parts.aclose()
                for session_id in (*self._past_sessions, self.session_id):
                    self.ports.store.release(session_id)

    @property
    def session_id(self) -> str:
        return self._session.id

    @property
    def state(self) -> SessionState:
        return self._session.state

    @property
    def catalog(self) -> Catalog:
        return self._parts.binder.catalog

    @property
    def configuration(self) -> Configuration:
        return self._live.configuration

    @property
    def whole_configuration(self) -> Configuration:
        """The configuration whoever sees the session: what is consented to, and no page shows."""
        return self._whole

    @property
    def settings(self) -> Settings:
        """The settings for the next model call."""
        return self._live.settings

    @property
    def profile(self) -> str:
        return self.policy.profile

    @property
    def session_values(self) -> Mapping[str, Any]:
        """The settings changed in this session, by path."""
        return self.policy.session_values

    @property
    def retrieval(self) -> Retrieval:
        return self._live.retrieval

    @property
    def server_source(self) -> ServerSource:
        return self._parts.server_source

    @property
    def sight(self) -> Sight:
        return self._live.sight

    @property
    def access_policy(self) -> AccessPolicy | None:
        return self.access.policy if self.access.is_administrator else None

    @property
    def setup(self) -> Setup:
        """Everything that determines a first model call, except the tokenizer."""
        servers, live = self._connections, self._live
        return Setup(
            servers.tools,
            live.configuration,
            live.settings,
            live.toolset,
            servers.summaries,
            servers.instructions,
        )

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Pass every further record to `listener`, on the event loop; what is returned ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def records(self, kinds: Sequence[str] = ()) -> list[Record]:
        """This session's stream so far, from the store."""
        return self.ports.store.read(self.session_id, kinds=kinds)

    def between(self, after: int, until: int) -> Sequence[Record]:
        """Those of them with a number above the first and up to the second one."""
        return self.ports.store.between(self.session_id, after, until)

    def recorded_sessions(self) -> list[SessionSummary]:
        """The sessions in the store, newest first. Raises StoreError.

        To a user whose sight is restricted, those that were recorded of that user, with the same expert.
        """
        found = self.ports.store.sessions()
        return found if self._live.sight.is_whole else own_sessions(found, self._live.sight, self.session_id)

    def recorded_version(self) -> StoreVersion:
        """What tells whether the sessions in the store are others than before. Raises StoreError."""
        return self.ports.store.version()

    def recorded(self, session: str, kinds: Sequence[str] = (), limit: int | None = None) -> list[Record]:
        """The stream of a session in the store, or the newest of these kinds. Raises StoreError."""
        return self.ports.store.read(session, kinds=kinds, limit=limit) if self._is_seen(session) else []

    def recorded_stream(self, session_id: str, kinds: Sequence[str]) -> Iterable[Record]:
        """Those of these kinds, read in parts; searches lack the parts of their scores. Raises StoreError."""
        return self.ports.store.stream(session_id, kinds, outline=True) if self._is_seen(session_id) else ()

    def recorded_between(self, session_id: str, after: int, until: int) -> list[Record]:
        """Those with a number above the first and up to the second one. Raises StoreError."""
        return self.ports.store.between(session_id, after, until) if self._is_seen(session_id) else []

    def is_recorded_elsewhere(self, session_id: str) -> bool:
        """Whether another program, such as a tap, is recording the session. Raises StoreError."""
        return self._is_seen(session_id) and self.ports.store.is_written(session_id)

    def _is_seen(self, session_id: str) -> bool:
        is_open = session_id == self.session_id or self._live.sight.is_whole
        started = (SessionStarted.kind,)
        return is_open or is_of(self.ports.store.read(session_id, kinds=started), self._live.sight)

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

    def next_request(self) -> ModelRequest:
        """Exactly what the model would be sent now, without the next user message."""
        return self._parts.binder.request(self._parts.chat.loop.messages)

    @property
    def connecting(self) -> tuple[str, ...]:
        """The servers that are neither ready nor failed yet."""
        return self._connections.connecting

    async def wait_connected(self) -> None:
        """Wait until every server is ready or has failed."""
        await self._connections.settled()

    async def settled(self) -> None:
        """Wait until all pending token counts are done."""
        await self._background.settled()

    def _client_for(self, spec: ServerSpec) -> SessionClient:
        client = self.settings.client
        folders = self.configuration.folders_for(spec)
        ports = self.ports

        def sampler() -> Sampler:
            model, most = self._live.model, self.settings.budget.output_reserve
            return Sampler(model, ports.counter_for(model.name).count, most)

        return SessionClient(
            spec.name,
            client,
            folders,
            ports.elicitor,
            lambda: self._session.emit,
            sampler,
            ports.heard,
            ports.relay,
        )

    def _new_retrieval(self, settings: Settings) -> Retrieval:
        """What searches the session's tools, reports the progress of its index, and learns of past use."""
        ports, sight, stored = self.ports, self.access.sight, None
        if ports.stored_tools is not None:
            stored = ports.stored_tools.tier(
                lambda: frozenset(spec.name for spec in self.configuration.servers),
                lambda tool: self._live.audience.admits(tool),
                lambda: self.access.sight,
            )
        return Retrieval(
            settings.discovery,
            ports.clock,
            embedder=ports.embedder_for(settings.discovery.embedding_model),
            static=ports.static,
            vectors=ports.vectors,
            report=partial(self._on_index, self._session),
            cases=lambda: seen_cases(self._cases, self.access.sight),
            calm=self._connections.calm,
            registry=stored,
            past_calls=past_calls(ports.history, sight, but=self.session_id),
            whose=lambda: Whose(self._parts.inertia.persona, self.settings.inertia.half_life_days),
        )

    def _check(self) -> None:
        """Check the settings, once the session runs."""
        if self._parts.check.is_due:
            tools = self._connections.tools
            self._parts.check.run(tools, judged(self.ports, self.settings, self.access.judged, tools))

    def _servers_for(self, sight: Sight) -> frozenset[str] | None:
        stored = self.ports.stored_tools
        return None if stored is None else stored.servers(sight, self._whole)

    def _on_index(self, session: Session, index: IndexState) -> None:
        session.emit(IndexChanged(index))
        self._check()

    def _on_settings(self, changed: Sequence[str]) -> None:
        self._live.settings = settings = self.policy.settings
        self._session.emit(SettingsChanged(self.policy.profile, to_builtins(settings), tuple(changed)))
        if any(path.startswith("record.") for path in changed):
            self._parts.retention.run_now()
        if "discovery.embedding_model" in changed:
            self.retrieval.close()
            self._live.retrieval = self._new_retrieval(settings)
        else:
            self.retrieval.use_settings(settings.discovery)
        self._parts.server_source.use_settings(settings, changed)
        self._parts.inertia.follow()
        self._rebuild()
        if any(map(is_about_client, changed)):
            self._background.run(self._connections.declare_again())

    def _on_servers(self) -> None:
        servers = self._connections
        offered = servers.tools, servers.away, servers.summaries, servers.instructions
        # A server that fails has often no part in the catalog.
        is_first = not self._parts.offered and not self.state.ready_servers
        if offered == self._parts.offered or is_first:
            self._check()
        else:
            self._rebuild()
            self._parts.offered = offered

    def _rebuild(self) -> None:
        setup, before = self.setup, self.state
        away = self._connections.away
        binder, loop = self._parts.binder, self._parts.chat.loop
        binder.rebuild(setup.connected, setup.summaries, away, instructions=setup.instructions)
        loop.messages = without(loop.messages, binder.news.withdrawn)
        now = self.state
        self._parts.chat.redundancy.forget(
            (before.tools.keys() | before.held) - now.tools.keys() - now.held.keys()
        )
        self._check()
        self._measure()

    def _measure(self) -> None:
        self._parts.binder.measure(self._parts.chat.loop.messages)

    def _configure(self, configuration: Configuration) -> None:
        """Let the session go on with other servers; only who sees everything changes them."""
        self._whole = self._live.configuration = configuration
