"""The workbench: one session over one configuration, and everything a screen or a command can do with it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Self

from inspector.domain.budget import Budget, Tokenizer
from inspector.domain.catalog import Catalog
from inspector.domain.configuration import Configuration
from inspector.domain.evaluation import EvalCase
from inspector.domain.event import (
    BudgetMeasured,
    IndexChanged,
    ModelSwitched,
    Record,
    SearchPerformed,
    SessionStarted,
    ToolEvicted,
    ToolLoaded,
    TurnEnded,
)
from inspector.domain.jsonvalue import JsonObject
from inspector.domain.message import Message, ModelRequest, ToolResult
from inspector.domain.ranking import SearchReport, SearchRequest
from inspector.domain.redaction import Redactor
from inspector.domain.session import Binding, SessionState
from inspector.domain.settings import Settings
from inspector.engine.binding.bound import tools_array
from inspector.engine.binding.catalog import build_catalog
from inspector.engine.budget.measure import BudgetMeter
from inspector.engine.chat.assembly import Chat
from inspector.engine.connections import Connections
from inspector.engine.ports import (
    Approver,
    ChatModel,
    Clock,
    Connector,
    Embedder,
    EventStore,
    ServerMemory,
    TokenCounter,
    VectorStore,
)
from inspector.engine.retrieval.retrieval import Retrieval
from inspector.engine.session import Listener, Session


@dataclass(frozen=True, slots=True)
class Ports:
    """The adapters a workbench runs on. `model_for` raises ModelError for a name that is none.

    `embedder_for` takes the name of an embedding model; None leaves searches to words.
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
    ) -> None:
        """`cases` are labelled requests over the configuration's tools. Raises ToolsightError."""
        self.configuration = configuration
        self.catalog = Catalog()
        self._ports = ports
        self._toolset = toolset
        self._model = ports.model_for(model)
        self._meter = self._new_meter()
        self._static_tokens = 0
        self._warming: asyncio.Task[int] | None = None
        self._session = Session(session_id, ports.store, ports.clock, _redactor(configuration))
        self.retrieval = _retrieval(configuration, ports, self._session, cases)
        self._connections = Connections(
            configuration.servers,
            ports.connector,
            ports.memory,
            ports.clock,
            emit=self._session.emit,
            count_tokens=lambda tool: self._meter.tool(tool),
            on_tools=self._rebuild,
        )
        self._chat = Chat(
            self._session,
            configuration.settings,
            ports.clock,
            self._connections,
            ports.approver,
            model=lambda: self._model,
            catalog=lambda: self.catalog,
            retrieval=self.retrieval,
            request=self._request,
            measure=self._budget,
        )

    async def __aenter__(self) -> Self:
        self.configuration.toolset(self._toolset)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._warming is not None:
            await asyncio.wait([self._warming])
        self.retrieval.cancel_embedding()
        await self.retrieval.settled()
        await self._connections.aclose()

    @property
    def session_id(self) -> str:
        return self._session.id

    @property
    def state(self) -> SessionState:
        return self._session.state

    @property
    def settings(self) -> Settings:
        return self.configuration.settings

    @property
    def tokenizer(self) -> Tokenizer:
        return self._meter.tokenizer

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Have every record as it is made, on the event loop, after the state has changed."""
        return self._session.subscribe(listener)

    def records(self, kinds: Sequence[str] = ()) -> list[Record]:
        """This session's stream so far, from the store."""
        return self._ports.store.read(self.session_id, kinds=kinds)

    def next_request(self) -> ModelRequest:
        """Exactly what the model would be sent now, but for the next user message."""
        return self._request(self._chat.loop.messages)

    def tokens(self, text: str) -> int:
        """Tokens of any text, as the session's tokenizer counts."""
        return self._meter.text(text)

    def connect(self) -> None:
        """Open the record and start every server at once, in the background."""
        self._session.emit(
            SessionStarted(
                config=self.configuration.source,
                servers=tuple(spec.name for spec in self.configuration.servers),
                toolset=self._toolset,
                model=self._model.name,
                model_label=self._model.label,
                window=self._model.window,
                settings=asdict(self.settings),
            )
        )
        self._connections.start()
        # The tokenizer loads while the servers start, not when the first of them is ready.
        self._warming = asyncio.create_task(asyncio.to_thread(self._meter.text, "warm"))

    async def wait_connected(self) -> None:
        """Return when every server is ready or has failed."""
        await self._connections.settled()

    async def reconnect(self, server: str) -> None:
        """Close a server's connection, if any, and open it again."""
        await self._connections.reconnect(server)

    async def stop(self, server: str) -> None:
        """Close a server's connection, or give up opening it."""
        await self._connections.stop(server)

    def search(self, request: SearchRequest) -> SearchReport:
        """Search as a person: every score, nothing loaded."""
        answer = self.retrieval.look(request, bound=self.state.bound_ids)
        self._session.emit(SearchPerformed(answer.report, answer.text, by="user"))
        return answer.report

    async def call(self, tool_id: str, arguments: JsonObject) -> ToolResult:
        """Call a permitted tool as a person. Raises ToolsightError."""
        tool = self.catalog.require(tool_id)
        call_id = f"user-{self._ports.clock.monotonic():.6f}"
        return await self._chat.dispatcher.perform(call_id, tool, arguments, by="user")

    def load(self, tool_id: str) -> None:
        """Bind a deferred or evicted tool by hand."""
        tool = self.catalog.require(tool_id)
        if not self.state.tools[tool.id].binding.is_bound:
            self._chat.iteration.clear(tool.id)
            self._session.emit(ToolLoaded(tool.id, self._meter.tool(tool), "by hand"))
            self._measure()

    def evict(self, tool_id: str) -> None:
        """Unbind a loaded tool by hand; a pinned one stays."""
        known = self.state.tools.get(tool_id)
        if known is not None and known.binding is Binding.LOADED:
            self._session.emit(ToolEvicted(tool_id, "by hand"))
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
        self._model = self._ports.model_for(name)
        self._meter = self._new_meter()
        self._session.emit(ModelSwitched(self._model.name, self._model.label, self._model.window))
        self._rebuild()

    def _new_meter(self) -> BudgetMeter:
        counter = self._ports.counter_for(self._model.name)
        return BudgetMeter(counter, lambda: self._model.window, self.settings.budget)

    def _request(self, messages: tuple[Message, ...]) -> ModelRequest:
        return ModelRequest(
            system=self.settings.chat.system_prompt,
            messages=messages,
            tools=tools_array(self.catalog, self.state),
            max_output=self.settings.budget.output_reserve,
        )

    def _budget(self, request: ModelRequest) -> Budget:
        return self._meter.measure(request, self._static_tokens)

    def _measure(self) -> None:
        self._session.emit(BudgetMeasured(self._budget(self.next_request())))

    def _rebuild(self) -> None:
        connected = self._connections.tools
        servers = dict.fromkeys(tool.server for tool in connected)
        summaries = {server: self._connections.summary(server) for server in servers}
        built = build_catalog(connected, self.configuration, self._toolset, summaries, self._meter)
        self.catalog = built.catalog
        self._static_tokens = built.event.static_tokens
        self.retrieval.update(self.catalog.deferred, summaries)
        self._session.emit(built.event)
        self._measure()


def _redactor(configuration: Configuration) -> Redactor:
    """Everything that a configuration hands to its servers may be a secret."""
    secrets = {
        f"{spec.name}.{name}": value
        for spec in configuration.servers
        for name, value in (*spec.env.items(), *spec.headers.items())
    }
    return Redactor(secrets)


def _retrieval(
    configuration: Configuration, ports: Ports, session: Session, cases: Sequence[EvalCase]
) -> Retrieval:
    """The session's search, which tells the session how far its index is."""
    discovery = configuration.settings.discovery
    return Retrieval(
        discovery,
        ports.clock,
        embedder=ports.embedder_for(discovery.embedding_model),
        vectors=ports.vectors,
        tags={spec.name: spec.tags for spec in configuration.servers},
        report=lambda index: session.emit(IndexChanged(index)),
        cases=cases,
    )
