"""Builds the parts of a session from its configuration and the ports."""

import asyncio
from collections import Counter
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field, to_builtins

from inspector.access.restriction import read_policy
from inspector.config.configuration import Configuration
from inspector.config.predicate import load_predicates
from inspector.config.server_change import ConfigurationEditor
from inspector.core.access import EVERYTHING, AccessPolicy, Sight
from inspector.core.error import ToolsightError
from inspector.core.events import Origin, SessionStarted
from inspector.core.inertia import InertiaGraph
from inspector.core.ports import (
    Approver,
    CallHistory,
    ChatModel,
    Clock,
    EventStore,
    OwnPredicate,
    PastCall,
    ServerMemory,
    TokenCounter,
    Viewer,
)
from inspector.core.redaction import SECRETS, Redactor
from inspector.core.settings import Settings
from inspector.core.stream import Session
from inspector.core.tool import Tool
from inspector.loop.binder import Binder
from inspector.loop.breaker import BreakerStore, MemoryBreakers
from inspector.loop.discovery_loop import Chat
from inspector.loop.gate import Preconditions
from inspector.loop.inertia import Inertia
from inspector.loop.model.local import LocalModelServers
from inspector.loop.session_breakers import Breakers
from inspector.loop.settings_check import SettingsCheck
from inspector.mcp.connections import Connections
from inspector.mcp.elicitation import Relay
from inspector.mcp.port import Connector, Elicitor, Heard, Nobody, Wire
from inspector.search.answer.retrieval import Live
from inspector.session.server_change import ServerChanges, ServerSource, StoredTools
from inspector.store.call_history import Retention
from inspector.tokens.accounting import Accounting, LitellmPrices

if TYPE_CHECKING:
    from inspector.mcp.client.connector import McpConnector
    from inspector.search.index.semantics import Embedder, StaticEmbedder, VectorStore


class Background:
    """Runs tasks and keeps a reference to each until it is done."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Start the work and return at once."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def settled(self) -> None:
        """Wait for all tasks; raises the first error."""
        await asyncio.gather(*self._tasks)


class Ports(Struct, frozen=True):
    """The adapters that a workbench uses. `model_for` raises ModelError for an unknown name.

    `embedder_for` takes the name of an embedding model; if it returns None, searches use words alone.
    `static` is what they use beside words until the model's vectors are there. `policy_from`
    takes a file that says who may see which tools, and raises ConfigError.
    `wire` is None if the connections leave no trace of what was exchanged, `sign_ins` where nobody can sign
    in to servers, `history` if nothing can be learned of earlier sessions. `stored_tools` are those that
    are known without a connection. `editor` changes the files of configurations; `source_for` gives each
    session the servers that could be added to it, which are not searched while servers connect.
    """

    connector: Connector
    store: EventStore
    memory: ServerMemory
    clock: Clock
    approver: Approver
    model_for: Callable[[str], ChatModel]
    counter_for: Callable[[str], TokenCounter]
    embedder_for: Callable[[str], "Embedder | None"]
    vectors: "VectorStore"
    prices: LitellmPrices
    local_models: LocalModelServers = LocalModelServers(())
    wire: Wire | None = None
    sign_ins: "McpConnector | None" = None
    static: "StaticEmbedder | None" = None
    elicitor: Elicitor = Nobody()
    heard: Heard | None = None
    relay: Relay | None = None
    history: CallHistory | None = None
    breakers: BreakerStore = field(default_factory=MemoryBreakers)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    stored_tools: StoredTools | None = None
    editor: ConfigurationEditor = ConfigurationEditor({})
    source_for: Callable[[Live, Callable[[], bool]], ServerSource] = lambda _live, _is_connecting: (
        ServerSource()
    )
    policy_from: Callable[[str], AccessPolicy] = read_policy


Past = Callable[[], Iterable[PastCall]]


def past_calls(history: CallHistory | None, sight: Sight, *, but: str) -> Past:
    """Reads the calls of earlier sessions that count as uses of tools.

    Those of all sessions but this one are for who sees everything: others may have called what may not be
    seen. For a user count only the user's own.
    """
    if history is not None and sight.is_whole:
        return partial(history.successful_calls, but=but)
    if history is not None and sight.user:
        return partial(history.successful_calls, but=but, viewer=Viewer(sight.user, sight.expert))
    return tuple


def judged(
    ports: Ports, settings: Settings, patterns: tuple[str, ...], tools: Sequence[Tool]
) -> tuple[str, ...]:
    """The patterns to be judged; not those for stored tools, where these are searched."""
    if ports.stored_tools is None or not settings.discovery.registry:
        return patterns
    return ports.stored_tools.unmatched(patterns, [tool.id for tool in tools])


def started(
    live: Live, profile: str, trusted: Collection[str] = (), origin: Origin | None = None
) -> SessionStarted:
    """The first event of a session; `trusted` names servers that are trusted besides the file's."""
    model, specs = live.model, live.configuration.servers
    return SessionStarted(
        config=live.configuration.source,
        servers=tuple(spec.name for spec in specs),
        toolset=live.toolset,
        model=model.name,
        model_label=model.label,
        window=model.window,
        api_base=model.api_base,
        settings=to_builtins(live.settings),
        profile=profile,
        trusted=tuple(spec.name for spec in specs if spec.trust_annotations or spec.name in trusted),
        user=live.sight.user,
        expert=live.sight.expert,
        restricted=not live.sight.is_whole,
        origin=origin,
    )


def redactor_of(configuration: Configuration, sight: Sight = EVERYTHING) -> Redactor:
    """Redacts everything this process knows to be secret, including what the configuration passes to servers.

    A restricted user gets no names of secrets: each begins with the name of a server.
    """
    for spec in configuration.servers:
        SECRETS.learn(spec.secrets)
    return Redactor(SECRETS, named=sight.is_whole)


def preconditions_of(live: Live) -> Preconditions:
    """The preconditions of the settings, with the user's own predicates. Raises ConfigError."""
    own: Mapping[str, OwnPredicate] = {}
    configuration = live.configuration
    if configuration.predicates:
        own = load_predicates(Path(configuration.predicates), configuration.predicates_digest)
    preconditions = Preconditions(live, own)
    preconditions.check()
    return preconditions


def _seeds(path: str) -> Mapping[str, InertiaGraph]:
    # It imports pydantic and yaml, which most sessions do not need.
    from inspector.loop.flow import load_seeds

    return load_seeds(Path(path))


class SessionParts:
    """The parts of one session. Another one, on the same connections, gets others."""

    def __init__(
        self,
        session: Session,
        live: Live,
        ports: Ports,
        connections: Connections,
        accounting: Accounting,
        *,
        configure: Callable[[Configuration], None],
        rebuild: Callable[[], None],
    ) -> None:
        """`configure` lets the session go on with other servers, `rebuild` builds its catalog anew."""
        self._live = live
        self.retention = Retention(session, ports.store, ports.clock, live)
        self.binder = Binder(session, live, ports.clock, accounting)
        self.check = SettingsCheck(session, live)
        self.server_source = ports.source_for(live, lambda: bool(connections.connecting))
        self.server_changes = ServerChanges(
            session, live, connections, ports.editor, ports.memory, configure=configure, rebuild=rebuild
        )
        self.breakers = Breakers(session, ports.breakers, ports.clock, live)
        # From other sessions learns only who sees everything.
        history = ports.history if live.sight.is_whole else None
        self.inertia = Inertia(
            session,
            live,
            ports.clock,
            self.binder,
            self.breakers,
            tasks=partial(history.tasks, but=session.id) if history is not None else None,
            seeds=_seeds,
        )
        self.chat = Chat(
            session,
            live,
            clock=ports.clock,
            approver=ports.approver,
            binder=self.binder,
            servers=connections,
            inertia=self.inertia,
            breakers=self.breakers,
            sleep=ports.sleep,
            further=self.server_source.after,
        )
        # What the servers offered when the catalog was built for them.
        self.offered: tuple[object, ...] = ()

    def begin(self, background: Background) -> None:
        """Start what goes on in the background; who may not see other sessions deletes none."""
        if self._live.sight.is_whole:
            self.retention.start()
        self.inertia.follow()
        background.run(self.server_source.prepare())

    def close(self) -> None:
        """Begin nothing more."""
        self.check.close()
        self.inertia.close()
        self._live.retrieval.close()
        self.server_source.close()

    async def aclose(self) -> None:
        """Wait for what still changes the store."""
        await self.retention.aclose()


class Handover:
    """What takes its time runs before or after another session begins, and never across it.

    Everything of a session works on one configuration and one sight: what began under one must not go on
    under another.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._running: Counter[str] = Counter()
        self._is_under_way = False

    @contextmanager
    def running(self, what: str) -> Iterator[None]:
        """Something runs for the session; `what` says it in words, for who has to wait for its end.

        Raises ToolsightError while another session begins: what was meant for one is not done in another.
        """
        if self._is_under_way:
            raise ToolsightError("another session is starting", hint="Try again once it has started.")
        self._running[what] += 1
        try:
            yield
        finally:
            self._running[what] -= 1

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Change what sessions run on; nothing else changes it meanwhile, and no session begins."""
        async with self._lock:
            yield

    @asynccontextmanager
    async def under_way(self) -> AsyncIterator[None]:
        """Begin another session. Raises ToolsightError if something runs for this one."""
        async with self._lock:
            for what in +self._running:
                raise ToolsightError(what, hint="Wait until it ends, or stop it with esc.")
            self._is_under_way = True
            try:
                yield
            finally:
                self._is_under_way = False

    async def over(self) -> None:
        """Wait until no other session begins, and nothing is changed that sessions run on."""
        async with self._lock:
            pass
