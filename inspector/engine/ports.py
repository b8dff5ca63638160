"""What the engine needs from outside, as protocols. Adapters implement them; `adapters.memory` fakes each."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from inspector.domain.budget import Tokenizer
from inspector.domain.error import ServerExited
from inspector.domain.events import Decision as Decision, Record
from inspector.domain.jsonvalue import JsonObject
from inspector.domain.message import ModelChunk, ModelRequest, ToolResult
from inspector.domain.price import Prices
from inspector.domain.server import Era, ServerInfo, ServerSpec, SkippedTool
from inspector.domain.tool import Tool


@dataclass(frozen=True, slots=True)
class ToolListing:
    """A server's tools: the usable ones, and those left out with the reason."""

    tools: tuple[Tool, ...]
    skipped: tuple[SkippedTool, ...] = ()


class ServerLink(Protocol):
    """An open connection to one server. Any task may call it; its owner task alone closes it."""

    @property
    def info(self) -> ServerInfo: ...

    async def list_tools(self) -> ToolListing:
        """All pages. Raises ProtocolError where paging never ends, ServerExited when the server is gone."""

    async def call(self, tool: str, arguments: JsonObject, *, timeout: float) -> ToolResult:
        """Call a tool by its own name. `timeout` is in seconds. A tool error is a value, not an exception.

        Raises CallTimeout, ServerExited, ProtocolError.
        """

    async def wait_closed(self) -> ServerExited:
        """Return, when the other side is gone, why (never, while the connection lives)."""

    def stderr_tail(self) -> str:
        """The last lines the server's process wrote to stderr; empty for HTTP."""


class Connector(Protocol):
    """Opens connections. Entering raises ConnectError (with the stderr tail) when that fails.

    That is ConnectTimeout after the spec's `connect_timeout`; a cancelled entry leaves nothing running.
    """

    def connect(
        self, spec: ServerSpec, *, era: Era | None, on_tools_changed: Callable[[], None]
    ) -> AbstractAsyncContextManager[ServerLink]:
        """`era` is the one that worked last time, if any; `on_tools_changed` only sets a flag."""


class ChatModel(Protocol):
    """A language model, or a stand-in that says so."""

    @property
    def name(self) -> str:
        """The name it was asked for by, e.g. `openai/gpt-5`."""

    @property
    def label(self) -> str:
        """What people see; a stand-in says that it is not an LLM."""

    @property
    def window(self) -> int:
        """The context window in tokens."""

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        """Text deltas as they come, then exactly one ModelReply. Raises ModelError."""


class TokenCounter(Protocol):
    """Counts tokens for one model."""

    @property
    def tokenizer(self) -> Tokenizer: ...

    def count(self, text: str) -> int: ...

    def lengths(self, text: str) -> Sequence[int]:
        """The bytes of each token, in order: so many that they add up to the text as UTF-8.

        A lone surrogate counts as the question mark that is sent in its place.
        """


class PriceList(Protocol):
    """What models cost."""

    def prices(self, model: str) -> Prices | None:
        """Those of a model by its litellm name; None where the list has none. Never asks a network."""


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def name(self) -> str: ...

    def prepare(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        """Load the model, and download it before where that is needed: minutes, in any thread.

        `progress` is told the bytes so far and about how many there are. Raises ModelError.
        """

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One unit vector a text, in order. Raises ModelError."""


class VectorStore(Protocol):
    """Vectors made before, by model and content hash: float32, little-endian. Each method raises StoreError.

    May be called from any thread.
    """

    def vectors(self, model: str, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """Those of the keys that are kept."""

    def keep_vectors(self, model: str, vectors: Mapping[bytes, bytes]) -> None: ...


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The tools a server had when it was last connected, and what it said of itself in one line.

    `at` is seconds since 1970, UTC.
    """

    tools: tuple[Tool, ...]
    at: float
    summary: str = ""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A stored session in one line. Times are seconds since 1970, UTC."""

    id: str
    started_at: float
    ended_at: float
    config: str
    model: str
    events: int
    searches: int
    calls: int


class EventStore(Protocol):
    """Keeps the streams. Each method raises StoreError."""

    def append(self, record: Record) -> None:
        """Written, and safe from a killed process, when it returns."""

    def read(self, session: str, *, kinds: Sequence[str] = (), limit: int | None = None) -> list[Record]:
        """A session's records in order; `limit` keeps the newest."""

    def sessions(self) -> list[SessionSummary]:
        """Newest first."""

    def forget(self, sessions: Sequence[str]) -> None:
        """Delete these sessions with all their records; ids that there are not are none."""


class ServerMemory(Protocol):
    """What is remembered of servers and configurations between sessions."""

    def era(self, fingerprint: str) -> Era | None: ...

    def remember_era(self, fingerprint: str, era: Era) -> None: ...

    def is_approved(self, fingerprint: str) -> bool: ...

    def approve(self, fingerprint: str, source: str) -> None: ...

    def snapshot(self, fingerprint: str) -> Snapshot | None:
        """The tools that a server of that fingerprint had last; None where none are kept."""

    def remember_tools(self, fingerprint: str, snapshot: Snapshot) -> None: ...


class Clock(Protocol):
    """`now` is seconds since 1970, UTC; `monotonic` is for durations."""

    def now(self) -> float: ...

    def monotonic(self) -> float: ...


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A call that may change something and needs a yes first."""

    tool: Tool
    arguments: JsonObject
    why: str


class Approver(Protocol):
    """Asks a person; may take as long as they do."""

    async def ask(self, request: ApprovalRequest) -> Decision: ...


OwnPredicate = Callable[..., bool]
"""Called as `own(facts, *args, **kwargs)`; only True and False are answers."""


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
