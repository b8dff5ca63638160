"""The workbench: one session on one configuration, and everything a page or a command can do with it."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from types import TracebackType
from typing import Any, Self

from inspector.domain.access import AccessPolicy, Sight
from inspector.domain.access_reach import covers
from inspector.domain.catalog import Catalog
from inspector.domain.client_capabilities import declared, is_about_client, setting_values
from inspector.domain.configuration import Configuration
from inspector.domain.error import ToolsightError
from inspector.domain.evaluation import EvalCase
from inspector.domain.events import (
    AccessChanged,
    IndexChanged,
    MilestoneReached,
    ModelSwitched,
    Record,
    SearchPerformed,
    SessionStarted,
    SettingsChanged,
    TrustChanged,
    TurnEnded,
)
from inspector.domain.events.base import Actor
from inspector.domain.index_state import IndexState
from inspector.domain.installation import Installation, Removal
from inspector.domain.jsonvalue import JsonObject
from inspector.domain.local_model import LocalModel
from inspector.domain.message import ModelRequest, ToolResult
from inspector.domain.ranking import SearchReport, SearchRequest
from inspector.domain.server import ServerSpec
from inspector.domain.session import SessionState
from inspector.domain.settings import ClientCapabilities, Settings
from inspector.domain.tool import Tool
from inspector.engine.access.control import AccessControl, refuse_access
from inspector.engine.access.record import is_of, own_sessions, unreadable
from inspector.engine.assembly import inertia_of, preconditions_of, redactor_of, retrieval_of, started
from inspector.engine.background import Background
from inspector.engine.client_side import SessionClient
from inspector.engine.connections import Connections
from inspector.engine.discovery.past_use import Whose
from inspector.engine.discovery.retrieval import Retrieval
from inspector.engine.live import Live
from inspector.engine.loop.assembly import Chat
from inspector.engine.loop.binding.binder import Binder
from inspector.engine.marketplace.installing import Installing
from inspector.engine.marketplace.marketplace import Marketplace
from inspector.engine.policy import Policy
from inspector.engine.ports import ChatModel, Ports
from inspector.engine.retention import Retention
from inspector.engine.session import Listener, Session
from inspector.engine.settings_check import SettingsCheck
from inspector.engine.store_ports import SessionSummary
from inspector.engine.tokens.cost.setup_change import Setup
from inspector.engine.tokens.count.accounting import Accounting
from inspector.engine.tokens.count.other_model import OtherModels
from inspector.engine.wire_log import WireLog


# Long because it implements every command and every view of a session, each in a few lines.
class Workbench:
    """A session and its connections. Leaving `async with Workbench(...) as bench:` closes all connections."""

    # What the servers offered when the catalog was built for them.
    _offered: tuple[object, ...]

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
        self.access = AccessControl(given.access, ports.policy_from)
        self.policy = Policy(
            configuration,
            profile=profile,
            values=values,
            on_change=self._on_settings,
            restrict=self.access.settings,
        )
        self.ports = ports
        self._whole = configuration
        self._cases, self._trusted = tuple(cases), frozenset(trusted)
        self._background, self._wires = Background(), dict[str, WireLog]()
        self._listeners: list[Listener] = []
        self._past_sessions: list[str] = []
        self._switching = asyncio.Lock()
        seen, settings = self.access.configuration(configuration), self.policy.settings
        self._connections = self._new_connections()
        self._open_session(session_id)
        self._live = Live(
            settings=settings,
            model=ports.model_for(model),
            configuration=seen,
            retrieval=self._new_retrieval(seen, settings),
            toolset=toolset,
            sight=self.access.sight,
        )
        self.accounting = Accounting(ports.counter_for, ports.prices, self._live)
        self.other_models = OtherModels(
            ports.model_for, ports.counter_for, self.accounting.prices, self._live, ports.local_models
        )
        self._make_parts()

    def _new_connections(self) -> Connections:
        """The connections outlast a session: what they tell goes to the one that runs."""
        return Connections(
            self._whole.servers,
            self.ports.connector,
            self.ports.memory,
            clock=self.ports.clock,
            emit=lambda event: self._session.emit(event),
            count_tokens=lambda tools: self.accounting.count(tools),
            on_tools=self._on_servers,
            redact=lambda tool: self._session.redactor.once(tool),
            client_for=self._client_for,
            sight=lambda: self.access.sight,
        )

    def _open_session(self, session_id: str) -> None:
        """Begin a stream; what still works for the one before it goes on writing there, unheard."""
        redactor = redactor_of(self._whole, self.access.sight)
        self._session = Session(session_id, self.ports.store, self.ports.clock, redactor)
        self._session.subscribe(partial(self._pass_on, self._session))

    def _make_parts(self) -> None:
        """Everything that works for one session and remembers what happened in it."""
        session, live, ports = self._session, self._live, self.ports
        self._retention = Retention(session, ports.store, ports.clock, live)
        self._binder = Binder(session, live, ports.clock, self.accounting)
        self._check = SettingsCheck(
            session, live, lambda: self._connections.tools, lambda: self.access.judged
        )
        self.marketplace = Marketplace(live, ports, lambda: bool(self._connections.connecting))
        self._installing = Installing(
            session,
            live,
            self._connections,
            ports.marketplace.editor,
            ports.memory,
            configure=self._configure,
            rebuild=self._rebuild,
        )
        self._inertia = inertia_of(session, live, ports, self.accounting, self._binder)
        self._chat = self._new_chat()
        self._offered = ()

    def _pass_on(self, session: Session, record: Record) -> None:
        for listener in tuple(self._listeners) if session is self._session else ():
            listener(record)

    def _new_chat(self) -> Chat:
        return Chat(
            self._session,
            self._live,
            clock=self.ports.clock,
            approver=self.ports.approver,
            binder=self._binder,
            servers=self._connections,
            inertia=self._inertia,
            reliability=self.ports.reliability,
            further=self.marketplace.after,
        )

    async def __aenter__(self) -> Self:
        self.configuration.toolset(self._live.toolset)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._check.close()
        self._inertia.close()
        self.retrieval.close()
        self.marketplace.close()
        await self.retrieval.settled()
        try:
            await self._background.settled()
        finally:
            try:
                await self._connections.aclose()
            finally:
                await self._retention.aclose()
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
        return self._binder.catalog

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
    def sight(self) -> Sight:
        return self._live.sight

    @property
    def access_policy(self) -> AccessPolicy | None:
        return None if self.access.is_restricted else self.access.policy

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
        """Pass every further record to `listener`, on the event loop, after the state has changed."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def records(self, kinds: Sequence[str] = ()) -> list[Record]:
        """This session's stream so far, from the store."""
        return self.ports.store.read(self.session_id, kinds=kinds)

    def recorded_sessions(self) -> list[SessionSummary]:
        """The sessions in the store, newest first. Raises StoreError.

        To a user whose sight is restricted, those that were recorded of that user, with the same expert.
        """
        found = self.ports.store.sessions()
        return found if self._live.sight.is_whole else own_sessions(found, self._live.sight, self.session_id)

    def recorded(self, session_id: str, kinds: Sequence[str] = ()) -> list[Record]:
        """The stream of a session in the store, or what there is of these kinds. Raises StoreError."""
        sight, store = self._live.sight, self.ports.store
        is_own = session_id == self.session_id or sight.is_whole
        if not (is_own or is_of(store.read(session_id, kinds=(SessionStarted.kind,)), sight)):
            return []
        return store.read(session_id, kinds=kinds)

    def stderr(self, server: str) -> str:
        """The last lines that a server wrote to stderr: up to now, or as it failed."""
        state = self.state.servers.get(server)
        tail = self._session.redactor.text(self._connections.stderr_tail(server))
        return tail or (state.stderr_tail if state is not None else "")

    def wire(self, server: str) -> WireLog | None:
        """What was exchanged with a server, without secrets; no session has it in its record."""
        if not covers(self._live.sight, server):
            return None
        if self.ports.wire is not None and server not in self._wires:
            self._wires[server] = WireLog(self.ports.wire.frames(server), self._session.redactor)
        return self._wires.get(server)

    def next_request(self) -> ModelRequest:
        """Exactly what the model would be sent now, without the next user message."""
        return self._binder.request(self._chat.loop.messages)

    def connect(self) -> None:
        """Run predicates and start servers in the background; needs consent. Raises ConfigError."""
        self._start_session()
        self._begin()
        self._connections.start()
        self._background.run(asyncio.to_thread(self.accounting.warm))

    def _start_session(self) -> None:
        self._binder.preconditions = preconditions_of(self.ports, self._live)
        self._session.emit(started(self._live, self.policy.profile, self._trusted))
        self._check.run()

    def _begin(self) -> None:
        """What runs in the background for the session as it is; who may not see others deletes none."""
        if self._live.sight.is_whole:
            self._retention.start()
        self._inertia.follow()
        self._background.run(self.marketplace.prepare())

    async def wait_connected(self) -> None:
        """Wait until every server is ready or has failed."""
        await self._connections.settled()

    async def settled(self) -> None:
        """Wait until all pending token counts are done."""
        await self._background.settled()

    async def reconnect(self, server: str) -> None:
        """Close a server's connection, if any, and reopen it."""
        await self._connections.reconnect(server)

    async def stop(self, server: str) -> None:
        """Close a server's connection, or stop opening it."""
        await self._connections.stop(server)

    def trust(self, server: str, trusted: bool) -> None:
        """Believe what a server claims about its tools for this session, or no longer."""
        if server in self.state.servers and (server in self.state.trusted_servers) is not trusted:
            self._session.emit(TrustChanged(server, trusted))

    def reset_breaker(self, name: str) -> None:
        """Close the circuit breaker of a server or tool, in every session. Raises ConfigError."""
        self._chat.breakers.reset(name)

    def search(self, request: SearchRequest) -> SearchReport:
        """Search on behalf of the user: all scores, nothing loaded."""
        self._connections.catch_up()
        state = self.state
        answer = self.retrieval.look(
            request, bound=state.bound_ids, pinned=state.pinned, unmet=self._binder.unmet()
        )
        self._session.emit(SearchPerformed(answer.report, answer.text, by="user"))
        if (further := self.marketplace.after(answer.report, "user")) is not None:
            self._session.emit(further)
        return answer.report

    async def install(self, wanted: Installation, *, by: Actor = "user") -> None:
        """Install a plugin as a person has seen it. Raises ToolsightError; then everything is as it was."""
        self._require_whole("install a server")
        async with self._switching:
            await self._installing.install(wanted, by)

    async def remove_server(self, wanted: Removal, *, by: Actor = "user") -> None:
        """Take a server out of configuration and session. Raises ToolsightError and changes nothing."""
        self._require_whole("remove a server")
        async with self._switching:
            await self._installing.remove(wanted, by)

    def _require_whole(self, what: str) -> None:
        if not self._live.sight.is_whole:
            raise ToolsightError(
                f"only who sees everything can {what}", hint="See as the administrator first."
            )

    def _configure(self, configuration: Configuration) -> None:
        """Let the session go on with other servers; only who sees everything changes them."""
        self._whole = self._live.configuration = configuration

    async def call(self, tool_id: str, arguments: JsonObject) -> ToolResult:
        """Call a permitted tool on behalf of the user. Raises ToolsightError."""
        self._connections.catch_up()
        tool = self._binder.require(tool_id)
        call_id = f"user-{self.ports.clock.monotonic():.6f}"
        return await self._chat.performer.perform(call_id, tool, arguments, by="user")

    def load(self, tool_id: str) -> None:
        """Bind a deferred or evicted tool by hand."""
        tool = self._binder.require(tool_id)
        if not self.state.tools[tool.id].binding.is_bound:
            self._chat.iteration.clear(tool.id)
            self._binder.context.bind(tool, "by hand")
            self._measure()

    def evict(self, tool_id: str) -> None:
        """Unbind a loaded tool by hand; pinned tools stay."""
        self._binder.context.evict(tool_id, "hand", "by hand")
        self._measure()

    async def chat(self, text: str) -> TurnEnded:
        """Run the discovery loop for one user message, after those that came before it.

        Cancel the task to cancel the turn, or to take back a message that still waits.
        """
        return await self._chat.loop.run(text)

    def change_setting(self, path: str, value: Any) -> None:
        """Change one setting for this session. Raises ToolsightError and changes nothing on failure."""
        refuse_access(path)
        self.policy.set(path, value)

    def reset_setting(self, path: str) -> None:
        """Reset a setting to the value from the file or the profile. Raises ConfigError."""
        refuse_access(path)
        self.policy.reset(path)

    async def declare(self, client: ClientCapabilities) -> None:
        """Declare this to the servers from now on; return when those that it changes are connected anew."""
        self.policy.set_all(setting_values(client))
        await self._connections.declare_again()

    def use_profile(self, name: str) -> None:
        """Switch the profile; settings changed in this session stay. Raises ConfigError."""
        self.policy.use(name)

    def stop_embedding(self) -> None:
        """Stop downloading or embedding; searches use what is embedded so far."""
        self.retrieval.cancel_embedding()

    def switch_toolset(self, name: str) -> None:
        """Restrict the catalog; "" lifts the restriction. Raises ConfigError."""
        self.configuration.toolset(name)
        self._live.toolset = name
        self._chat.redundancy.clear()
        self._rebuild()

    def switch_model(self, name: str) -> None:
        """Use another model from the next model call on. Raises ModelError."""
        self._use(self.ports.model_for(name))

    def use_local_model(self, found: LocalModel) -> None:
        """Use a model that was found on this machine from the next model call on. Raises ModelError."""
        self._use(self.ports.local_models.open(found))

    async def see_as(self, user: str, expert: str = "") -> None:
        """Begin a new session in which everything is as the user may see it, through an expert if named.

        Without a user it is the administrator's, who sees everything. Nothing of the session before goes
        into it: no conversation, no change of settings, nothing loaded. Raises ToolsightError and changes
        nothing if the policy does not know them, or while a message is being answered.
        """
        sight = self.access.sight_as(user, expert)
        if self.state.busy:
            raise ToolsightError("a message is being answered", hint="Wait for its end, or stop it with esc.")
        async with self._switching:
            await self._connections.leave(sight)
            await self._end_parts()
            self.access.use(sight)
            self._renew()
            await self._connections.renew()

    async def _end_parts(self) -> None:
        self._check.close()
        self._inertia.close()
        self.retrieval.close()
        self.marketplace.close()
        await self._retention.aclose()

    def _renew(self) -> None:
        """Replace everything that remembers a session by something that remembers nothing."""
        self._past_sessions.append(self.session_id)
        self._open_session(f"{self._past_sessions[0]}-{len(self._past_sessions) + 1}")
        self.policy.renew(self.access.settings)
        self._see()
        self._wires.clear()
        if self._live.toolset not in self.configuration.toolsets:
            self._live.toolset = ""
        self._live.retrieval = self._new_retrieval(self.configuration, self.settings)
        self._make_parts()
        self._start_session()
        self._begin()

    def _see(self) -> None:
        """Let everything work with what the sight leaves."""
        live = self._live
        live.sight, live.settings = self.access.sight, self.policy.settings
        live.configuration = self.access.configuration(self._whole)

    async def read_policy_again(self) -> None:
        """Read the policy's file again: grants that went are gone at once. If it cannot be read, it stays."""
        try:
            has_changed = await asyncio.to_thread(self.access.read_again)
        except ToolsightError as error:
            self._session.emit(unreadable(error, self._live.sight))
            return
        if not has_changed:
            return
        async with self._switching:
            self._session.emit(AccessChanged(self.access.user, self.access.expert))
            self._see()
            self._session.redactor = redactor_of(self._whole, self.access.sight)
            self._connections.narrow()
            self.policy.restrict_again()
            self._rebuild()
            await self._connections.look_again()
            self._rebuild()

    def milestone(self, name: str, *, by: Actor = "user") -> None:
        """Mark a milestone as reached; preconditions may depend on it."""
        self._session.emit(MilestoneReached(name, by))

    def _use(self, model: ChatModel) -> None:
        self._live.model = model
        self._session.emit(ModelSwitched(model.name, model.label, model.window, model.api_base))
        self._background.run(self.accounting.use_model(self._connections.tools, self._rebuild))

    def _on_index(self, session: Session, index: IndexState) -> None:
        session.emit(IndexChanged(index))
        self._check.run()

    def _on_settings(self, changed: Sequence[str]) -> None:
        self._live.settings = settings = self.policy.settings
        self._session.emit(SettingsChanged(self.policy.profile, asdict(settings), tuple(changed)))
        if any(path.startswith("record.") for path in changed):
            self._retention.run_now()
        if "discovery.embedding_model" in changed:
            self.retrieval.close()
            self._live.retrieval = self._new_retrieval(self.configuration, settings)
        else:
            self.retrieval.use_settings(settings.discovery)
        self.marketplace.use_settings(settings, changed)
        self._inertia.follow()
        self._rebuild()
        if any(map(is_about_client, changed)):
            self._background.run(self._connections.declare_again())

    def _client_for(self, spec: ServerSpec) -> SessionClient:
        client = declared(self.settings.client, spec)
        folders = self.configuration.folders_for(spec)
        return SessionClient(spec.name, client, folders, self.ports.elicitor, lambda e: self._session.emit(e))

    def _new_retrieval(self, configuration: Configuration, settings: Settings) -> Retrieval:
        return retrieval_of(
            configuration,
            settings,
            self.ports,
            partial(self._on_index, self._session),
            self._cases,
            self._calm,
            session=self.session_id,
            permits=self._permits,
            whose=lambda: Whose(self._inertia.persona, self.settings.inertia.half_life_days),
            sight=self.access.sight,
        )

    def _permits(self, tool: Tool) -> bool:
        toolset = self.configuration.toolset(self._live.toolset)
        return toolset is None or toolset.permits(tool)

    async def _calm(self) -> None:
        await self._connections.calm()

    def _measure(self) -> None:
        self._binder.measure(self._chat.loop.messages)

    def _on_servers(self) -> None:
        servers = self._connections
        offered = servers.tools, servers.away, servers.summaries, servers.instructions
        # A server that fails has often no part in the catalog.
        is_first = not self._offered and not self.state.ready_servers
        if offered == self._offered or is_first:
            self._check.run()
        else:
            self._rebuild()
            self._offered = offered

    def _rebuild(self) -> None:
        setup, before = self.setup, self.state
        away = self._connections.away
        self._binder.rebuild(setup.connected, setup.summaries, away, instructions=setup.instructions)
        now = self.state
        self._chat.redundancy.forget((before.tools.keys() | before.held) - now.tools.keys() - now.held.keys())
        self._check.run()
        self._measure()
