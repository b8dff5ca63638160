"""What a session uses of the outside: models, counters, people, time, and what is kept between sessions."""

import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from inspector.core.budget import Tokenizer
from inspector.core.definition import DefinitionChange
from inspector.core.events import Decision as Decision, Record
from inspector.core.message import ModelChunk, ModelRequest
from inspector.core.number import count
from inspector.core.server import ConsentItem, Era, RunFile, SkippedTool
from inspector.core.tool import Tool
from inspector.schema.json_value import JsonObject
from inspector.schema.schema import ModelFeatures

DAY = 24 * 60 * 60.0


class SessionAge(Struct, frozen=True):
    """A recorded session; `ended_at` is the time of its last event, in seconds since 1970, UTC."""

    id: str
    ended_at: float


OWN_PERSONA = "toolsight"
"""The persona of Toolsight's own sessions without a toolset or a name of its own."""


class TaskCalls(Struct, frozen=True):
    """The tools called for one message of the user in order, each with its time in seconds since 1970."""

    persona: str
    calls: tuple[tuple[str, float], ...]


class PastCall(Struct, frozen=True):
    """A call of a tool that succeeded. `at` is in seconds since 1970, UTC.

    `persona` is whose habits the session showed then.
    """

    tool: str
    at: float
    persona: str = OWN_PERSONA


class Viewer(Struct, frozen=True):
    """Whose past calls count: the user's, through the same expert or through none; never an empty user's."""

    user: str
    expert: str = ""

    def has(self, user: str, expert: str) -> bool:
        """Whether a session that was recorded so is one of the viewer's."""
        return bool(self.user) and user == self.user and expert in ("", self.expert)


class Snapshot(Struct, frozen=True):
    """The tools a server had when it was last connected, and its one-line summary.

    `at` is in seconds since 1970, UTC.
    """

    tools: tuple[Tool, ...]
    at: float
    summary: str = ""


class SessionSummary(Struct, frozen=True):
    """An overview of a stored session. Times are in seconds since 1970, UTC.

    `agent` is the one whose transcript it was imported from, "" for a session of Toolsight's own. `user` and
    `expert` say whose sight it was restricted to, "" if to nobody's. `question` is how the person's first
    message begins, "" before there is one. One that `is_running` is being written, by whatever program.
    """

    id: str
    started_at: float
    ended_at: float
    config: str
    model: str
    events: int
    searches: int
    calls: int
    agent: str = ""
    user: str = ""
    expert: str = ""
    question: str = ""
    is_running: bool = False


class StoreVersion(Struct, frozen=True):
    """Differs once another program has stored an event, or has begun or ended a session.

    `changes` is for comparison alone; `agent_at` is when an agent did something last, in seconds since 1970.
    """

    changes: object = None
    agent_at: float = 0.0


class EventStore(Protocol):
    """Stores the event streams. Each method raises StoreError.

    A session counts as being written from its first `append` until `release`, or until its program ends.
    """

    def append(self, record: Record) -> None:
        """Store a record durably: once this returns, it survives a killed process."""

    def append_all(self, records: Sequence[Record]) -> None:
        """Store records of one session as durably, all of them or none."""

    def cut(self, session: str, after: int) -> None:
        """Delete the session's records with a higher number than `after`; after 0, the session itself."""

    def read(self, session: str, *, kinds: Sequence[str] = (), limit: int | None = None) -> list[Record]:
        """A session's records in order; `limit` returns only the newest."""

    def between(self, session: str, after: int, until: int) -> list[Record]:
        """The session's records in order with a number above `after` and up to `until`."""

    def stream(self, session: str, kinds: Sequence[str] = (), *, outline: bool = False) -> Iterator[Record]:
        """The records that `read` returns, read in parts: a long session need not fit into memory.

        Of an `outline`, scores may lack their parts, which take most of the time.
        """

    def sessions(self) -> list[SessionSummary]:
        """All sessions, newest first."""

    def version(self) -> StoreVersion:
        """What to compare with later, to learn whether to read again; cheap, however much is stored."""

    def ages(self) -> list[SessionAge]:
        """The age of every session that was recorded here; cheap, however many events there are.

        An imported session has none: its events may be older than what is kept of those recorded here.
        """

    def forget(self, sessions: Sequence[str]) -> tuple[str, ...]:
        """Delete these sessions with all their records, and return those that were deleted.

        A session that is being written, by whatever program, is left alone; unknown ids are ignored.
        """

    def is_written(self, session: str) -> bool:
        """Whether another program is writing the session, or that is unknown."""

    def release(self, session: str) -> None:
        """Say that this program writes the session no more."""


class ToolOutcomes(Struct, frozen=True):
    """A tool's calls that ended, how many of them failed, and when the last ended in seconds since 1970."""

    calls: int = 0
    failed: int = 0
    last: float = 0.0


class CallHistory(Protocol):
    """What tools were called in the recorded sessions, Toolsight's own and imported ones."""

    def successful_calls(self, *, but: str = "", viewer: Viewer | None = None) -> Iterator[PastCall]:
        """The calls of every session but that one that succeeded.

        With a `viewer`, only those of the sessions recorded of that viewer. The newest session comes first,
        read when the iterator gets there. Raises StoreError.
        """

    def tasks(self, *, but: str = "") -> Iterator[TaskCalls]:
        """What models called for each message of the user in every session but that one.

        Calls that failed count too, rejected ones do not: they were no calls. The newest session comes
        first, read when the iterator gets there. Raises StoreError.
        """


class ServerMemory(Protocol):
    """What Toolsight remembers about servers and configurations between sessions."""

    def era(self, fingerprint: str) -> Era | None: ...

    def remember_era(self, fingerprint: str, era: Era) -> None: ...

    def approved(self, ids: Collection[str]) -> Mapping[str, tuple[RunFile, ...]]:
        """Those of the consent items that a person approved, each with its files as they were then."""

    def approve(self, items: Collection[ConsentItem], source: str) -> None:
        """Store a person's approval of all of these; `source` names the file, for people who look."""

    def first_version(self, id: str, version: str) -> str:  # noqa: A002 - as consent items call it
        """The version that a server called itself by when it was connected first after its approval.

        That is this one if there was none, and for a server that needs no approval.
        """

    def snapshot(self, fingerprint: str) -> Snapshot | None:
        """The last known tools of the server with that fingerprint, or None."""

    def remember_tools(self, fingerprint: str, snapshot: Snapshot) -> Snapshot | None:
        """Keep the tools, in place of any earlier ones; return the earlier ones if they are others."""


OWN_ADDRESS = "hosted_vllm/"
"""litellm's provider for an OpenAI-compatible address that needs no key, and gets none of OpenAI's."""


class LocalModel(Struct, frozen=True):
    """A model of a local server: litellm's name for it, and the server's address.

    `window` is in tokens, None if the server does not report it.
    """

    name: str
    api_base: str
    server: str
    window: int | None = None

    @property
    def about(self) -> str:
        """Its server and what that reports of it."""
        window = f"window {count(self.window, 'token')}" if self.window else ""
        return ", ".join(filter(None, (self.server, window)))


class ToolListing(Struct, frozen=True):
    """A server's usable tools, and the skipped tools and pages with the reason."""

    tools: tuple[Tool, ...]
    skipped: tuple[SkippedTool, ...] = ()


class ChatModel(Protocol):
    """A language model, or a stand-in that identifies itself as one."""

    @property
    def name(self) -> str:
        """The name by which it was requested, e.g. `openai/gpt-5`."""

    @property
    def label(self) -> str:
        """The name shown to people; a stand-in says that it is not an LLM."""

    @property
    def api_base(self) -> str:
        """The configured address; "" for its provider's own."""

    @property
    def window(self) -> int:
        """The context window in tokens."""

    @property
    def features(self) -> ModelFeatures:
        """What its provider takes beyond a plain request."""

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        """Yield text deltas as they arrive, then exactly one ModelReply. Raises ModelError."""


class TokenCounter(Protocol):
    """Counts tokens for one model."""

    @property
    def tokenizer(self) -> Tokenizer: ...

    def count(self, text: str) -> int: ...

    def lengths(self, text: str) -> Sequence[int]:
        """The number of bytes of each token, in order; they add up to the text's length in UTF-8.

        A lone surrogate counts as the question mark sent in its place.
        """


class Clock(Protocol):
    """`now` is in seconds since 1970, UTC; `monotonic` measures durations."""

    def now(self) -> float: ...

    def monotonic(self) -> float: ...


class ApprovalRequest(Struct, frozen=True):
    """A call that may make changes and needs approval first.

    `changes` is what differs from the definition that was approved before. `offers_trust` says that
    `Decision.SERVER` is an answer too: nothing but the server's claim speaks for the call being harmless, and
    nothing speaks against it.
    """

    tool: Tool
    arguments: JsonObject
    why: str
    changes: tuple[DefinitionChange, ...] = ()
    offers_trust: bool = False


class Approver(Protocol):
    """Asks the user, and waits as long as the answer takes."""

    async def ask(self, request: ApprovalRequest) -> Decision: ...


OwnPredicate = Callable[..., bool]
"""Called as `own(facts, *args, **kwargs)`; must return True or False."""


class SystemClock:
    """Wall time for records, monotonic time for durations; both in seconds."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()
