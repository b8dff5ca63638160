"""The workbench: one session over one configuration, and everything a screen or a command can do with it."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, Self

from inspector.domain.catalog import Catalog
from inspector.domain.configuration import Configuration
from inspector.domain.evaluation import EvalCase
from inspector.domain.events import (
    Actor,
    IndexChanged,
    MilestoneReached,
    ModelSwitched,
    Record,
    SearchPerformed,
    SessionStarted,
    SettingsChanged,
    TurnEnded,
)
from inspector.domain.jsonvalue import JsonObject
from inspector.domain.message import ModelRequest, ToolResult
from inspector.domain.ranking import SearchReport, SearchRequest
from inspector.domain.redaction import Redactor
from inspector.domain.session import SessionState
from inspector.domain.settings import Settings
from inspector.engine.background import Background
from inspector.engine.connections import Connections
from inspector.engine.discovery.retrieval import Retrieval
from inspector.engine.loop.assembly import Chat
from inspector.engine.loop.binding.binder import Binder
from inspector.engine.loop.binding.precondition import OwnPredicate, Preconditions
from inspector.engine.policy import Policy
from inspector.engine.ports import (
    Approver,
    ChatModel,
    Clock,
    Connector,
    Embedder,
    EventStore,
    PriceList,
    ServerMemory,
    TokenCounter,
    VectorStore,
)
from inspector.engine.session import Listener, Session
from inspector.engine.tokens.cost.what_if import Setup
from inspector.engine.tokens.count.accounting import Accounting


def _no_predicates(_path: str, _digest: str) -> Mapping[str, OwnPredicate]:
    return {}


@dataclass(frozen=True, slots=True)
class Ports:
    """The adapters a workbench runs on. `model_for` raises ModelError for a name that is none.

    `embedder_for` takes the name of an embedding model; None leaves searches to words. `predicates_from`
    takes a Python file and the digest that was consented to; it raises ConfigError.
    """

    connector: Connector
    store: EventStore
    memory: ServerMemory
    clock: Clock
    approver: Approver
    model_for: Callable[[str], ChatModel]
    counter_for: Callable[[str], TokenCounter]
    embedder_for: Callable[[str], Embedder | None]
    vectors: VectorStore
    prices: PriceList
    predicates_from: Callable[[str, str], Mapping[str, OwnPredicate]] = _no_predicates


class Workbench:
    """`async with Workbench(...) as bench:` owns the connections; leaving it closes every one of them."""

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
    ) -> None:
        """`cases` are labelled requests; `profile` and `values` (knobs by path) go over the file's.

        Raises ToolsightError.
        """
        self.configuration = configuration
        self.policy = Policy(configuration, profile=profile, values=values, on_change=self._on_settings)
        self.ports = ports
        self._toolset = toolset
        self._cases = tuple(cases)
        self._model = ports.model_for(model)
        self.accounting = Accounting(
            ports.counter_for, ports.prices, lambda: self._model, lambda: self.settings
        )
        self._background = Background()
        self._session = Session(session_id, ports.store, ports.clock, _redactor(configuration))
        self.retrieval = self._new_retrieval()
        self._binder = Binder(
            self._session,
            lambda: self.configuration,
            ports.clock,
            lambda: self.settings,
            lambda: self.retrieval,
            self.accounting,
        )
        self._connections = Connections(
            configuration.servers,
            ports.connector,
            ports.memory,
            ports.clock,
            emit=self._session.emit,
            count_tokens=self.accounting.count,
            on_tools=self._rebuild,
        )
        self._chat = Chat(
            self._session,
            lambda: self.settings,
            ports.clock,
            self._connections,
            ports.approver,
            self._binder,
            model=lambda: self._model,
            retrieval=lambda: self.retrieval,
        )

    async def __aenter__(self) -> Self:
        self.configuration.toolset(self._toolset)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.retrieval.cancel_embedding()
        await self.retrieval.settled()
        try:
            await self._background.settled()
        finally:
            await self._connections.aclose()

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
    def settings(self) -> Settings:
        """What is in force: from the next model call on, whatever is changed here."""
        return self.policy.settings

    @property
    def setup(self) -> Setup:
        """What decides a first model call, but for the tokenizer."""
        connected, summaries = self._connections.tools, self._connections.summaries
        return Setup(connected, self.configuration, self.settings, self._toolset, summaries)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Have every record as it is made, on the event loop, after the state has changed."""
        return self._session.subscribe(listener)

    def records(self, kinds: Sequence[str] = ()) -> list[Record]:
        """This session's stream so far, from the store."""
        return self.ports.store.read(self.session_id, kinds=kinds)

    def next_request(self) -> ModelRequest:
        """Exactly what the model would be sent now, but for the next user message."""
        return self._binder.request(self._chat.loop.messages)

    def connect(self) -> None:
        """With consent: start servers and tokenizer in the background, run predicates. Raises ConfigError."""
        self._binder.preconditions = _preconditions(self.configuration, self.ports, lambda: self.settings)
        self._session.emit(_started(self.configuration, self.policy, self._toolset, self._model))
        self._session.forget_others(self.settings.record)
        self._connections.start()
        self._background.run(asyncio.to_thread(self.accounting.warm))

    async def wait_connected(self) -> None:
        """Return when every server is ready or has failed."""
        await self._connections.settled()

    async def settled(self) -> None:
        """Return when everything is counted that was to be counted again."""
        await self._background.settled()

    async def reconnect(self, server: str) -> None:
        """Close a server's connection, if any, and open it again."""
        await self._connections.reconnect(server)

    async def stop(self, server: str) -> None:
        """Close a server's connection, or give up opening it."""
        await self._connections.stop(server)

    def search(self, request: SearchRequest) -> SearchReport:
        """Search as a person: every score, nothing loaded."""
        answer = self.retrieval.look(request, bound=self.state.bound_ids, unmet=self._binder.unmet())
        self._session.emit(SearchPerformed(answer.report, answer.text, by="user"))
        return answer.report

    async def call(self, tool_id: str, arguments: JsonObject) -> ToolResult:
        """Call a permitted tool as a person. Raises ToolsightError."""
        tool = self.catalog.require(tool_id)
        call_id = f"user-{self.ports.clock.monotonic():.6f}"
        return await self._chat.dispatcher.perform(call_id, tool, arguments, by="user")

    def load(self, tool_id: str) -> None:
        """Bind a deferred or evicted tool by hand."""
        tool = self.catalog.require(tool_id)
        if not self.state.tools[tool.id].binding.is_bound:
            self._chat.iteration.clear(tool.id)
            self._binder.context.bind(tool, "by hand")
            self._measure()

    def evict(self, tool_id: str) -> None:
        """Unbind a loaded tool by hand; a pinned one stays."""
        self._binder.context.evict(tool_id, "hand", "by hand")
        self._measure()

    async def chat(self, text: str) -> TurnEnded:
        """Run the discovery loop for one user message. Cancel the task to cancel the turn."""
        return await self._chat.loop.run(text)

    def switch_toolset(self, name: str) -> None:
        """Restrict the catalog; "" lifts the restriction. Raises ConfigError."""
        self.configuration.toolset(name)
        self._toolset = name
        self._chat.redundancy.clear()
        self._rebuild()

    def switch_model(self, name: str) -> None:
        """Answer with another model from the next call on. Raises ModelError."""
        self._model = self.ports.model_for(name)
        self._session.emit(ModelSwitched(self._model.name, self._model.label, self._model.window))
        self._background.run(self.accounting.use_model(self._connections.tools, self._rebuild))

    def milestone(self, name: str, *, by: Actor = "user") -> None:
        """Tell that a point of the workflow is reached; preconditions may have waited for it."""
        self._session.emit(MilestoneReached(name, by))

    def _on_settings(self, changed: Sequence[str]) -> None:
        self._session.emit(SettingsChanged(self.policy.profile, asdict(self.settings), tuple(changed)))
        if "discovery.embedding_model" in changed:
            self.retrieval.cancel_embedding()
            self.retrieval = self._new_retrieval()
        else:
            self.retrieval.use_settings(self.settings.discovery)
        self._rebuild()

    def _new_retrieval(self) -> Retrieval:
        return _retrieval(self.configuration, self.settings, self.ports, self._session, self._cases)

    def _measure(self) -> None:
        self._binder.measure(self._chat.loop.messages)

    def _rebuild(self) -> None:
        setup = self.setup
        self._binder.rebuild(setup.connected, setup.toolset, setup.summaries)
        self._measure()


def _started(configuration: Configuration, policy: Policy, toolset: str, model: ChatModel) -> SessionStarted:
    return SessionStarted(
        config=configuration.source,
        servers=tuple(spec.name for spec in configuration.servers),
        toolset=toolset,
        model=model.name,
        model_label=model.label,
        window=model.window,
        settings=asdict(policy.settings),
        profile=policy.profile,
    )


def _redactor(configuration: Configuration) -> Redactor:
    """Everything that a configuration hands to its servers may be a secret."""
    secrets = {
        f"{spec.name}.{name}": value
        for spec in configuration.servers
        for name, value in (*spec.env.items(), *spec.headers.items())
    }
    return Redactor(secrets)


def _retrieval(
    configuration: Configuration,
    settings: Settings,
    ports: Ports,
    session: Session,
    cases: Sequence[EvalCase],
) -> Retrieval:
    """The session's search, which tells the session how far its index is."""
    model = settings.discovery.embedding_model
    return Retrieval(
        settings.discovery,
        ports.clock,
        embedder=ports.embedder_for(model),
        vectors=ports.vectors,
        tags={spec.name: spec.tags for spec in configuration.servers},
        report=lambda index: session.emit(IndexChanged(index)),
        cases=cases,
    )


def _preconditions(
    configuration: Configuration, ports: Ports, settings: Callable[[], Settings]
) -> Preconditions:
    """The rules of the settings, with the predicates of the user's own file. Raises ConfigError."""
    own: Mapping[str, OwnPredicate] = {}
    if configuration.predicates:
        own = ports.predicates_from(configuration.predicates, configuration.predicates_digest)
    found = Preconditions(lambda: settings().access, own)
    found.check()
    return found
