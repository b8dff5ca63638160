"""Replays any moment of the running session or of a recorded one."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from threading import Lock
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from textual.actions import SkipAction

from inspector.app.stream import LIVE, ReplayedState, Stream, View
from inspector.config.configuration import Configuration
from inspector.core.access import AccessPolicy, Sight
from inspector.core.budget import Prices, ToolCost
from inspector.core.error import ConfigError
from inspector.core.events import ModelRequested, Record
from inspector.core.message import ModelRequest
from inspector.core.ports import SessionSummary, StoreVersion
from inspector.core.prompt_cache import CacheTerms
from inspector.core.session import SessionState
from inspector.core.settings import Settings
from inspector.core.tool import Catalog, Tool
from inspector.loop.model.local import LocalModelServers
from inspector.mcp.frame import WireLog
from inspector.mcp.reading import Offers
from inspector.search.answer.retrieval import Retrieval
from inspector.session.server_change import ServerSource
from inspector.session.setup import Setup
from inspector.session.timeline import COST_KINDS, KINDS
from inspector.session.view import SessionView, TokenView
from inspector.session.workbench import Workbench
from inspector.tokens.delivery import APPEND, DefinitionLoader, system_text, tools_array
from inspector.tokens.measure import BudgetMeter

_NEWEST = 2**63 - 1
_REFUSAL = "a replay is read-only"
_HINT = "“back to now” on the second line returns to the running session; so does n in the timeline."
_NOT_RECORDED = "(definition not recorded, and the tool's server is not connected now)"


class ReplayRefusal(ConfigError, SkipAction):
    """A replay cannot be changed; an action that does not catch this is skipped."""


class Replay:
    """The moment that every page shows: the newest one of the running session, or a chosen past one.

    `session` reads that moment. During a replay there are no commands.
    """

    def __init__(self, bench: Workbench, show: Callable[[View], None]) -> None:
        """Start recording; create this before the session's first record."""
        self._bench = bench
        self._show = show
        self._newest = View()
        # New records of the running session that its stream does not have yet.
        self._new: list[Record] = []
        self._live = self._stream(bench.session_id)
        self._replayed: ReplayedSession | None = None
        self.stream = self._live
        self.column = 0
        self._lock = Lock()
        # The last run that was kept to be replayed, and is in no database.
        self._kept: Sequence[Record] = ()
        self._stop = bench.subscribe(self._new.append)

    def close(self) -> None:
        """Stop following."""
        self._stop()

    def renew(self) -> None:
        """Forget every session that was shown: another one runs, of which this is the record."""
        running = self._bench.session_id
        with self._lock:
            self._new[:] = [record for record in self._new if record.session == running]
            self._live = self._stream(running)
        self.stream, self.column, self._replayed = self._live, 0, None
        self._newest = View()

    @property
    def is_replay(self) -> bool:
        return self._replayed is not None

    def is_recorded(self, stream: Stream) -> bool:
        """Whether the stream is not that of the running session."""
        return stream is not self._live

    @property
    def session(self) -> SessionView:
        """The session at the shown moment."""
        return self._bench if self._replayed is None else self._replayed

    @property
    def commands(self) -> "Workbench":
        """The commands of the running session. Raises ReplayRefusal during a replay."""
        if self._replayed is not None:
            raise ReplayRefusal(_REFUSAL, hint=_HINT)
        return self._bench

    def follow(self, view: View) -> None:
        """Take the newest view, and show it unless a replay is shown."""
        self._newest = view
        if self._replayed is None:
            self._show(view)

    @property
    def backlog(self) -> int:
        """The number of records that the running session's timeline does not have yet."""
        return len(self._new)

    def catch_up(self) -> Stream:
        """Return the running session's stream with every record so far; callable from any thread."""
        with self._lock:
            fresh = self._new[:]
            self._live.extend(fresh)
            del self._new[: len(fresh)]
        return self._live

    def sessions(self) -> list[SessionSummary]:
        """Return the recorded sessions, newest first. Raises StoreError."""
        return self._bench.recorded_sessions()

    def version(self) -> StoreVersion:
        """Return what tells whether `sessions` returns others than before. Raises StoreError."""
        return self._bench.ports.store.version()

    def recorded(self, session_id: str, kinds: Sequence[str]) -> list[Record]:
        """Return a recorded session's records of these kinds. Raises StoreError."""
        return self._bench.recorded(session_id, kinds)

    def keep(self, records: Sequence[Record]) -> None:
        """Have `read` find the session of these records, until others are kept."""
        self._kept = records

    def read(self, session_id: str) -> Stream:
        """Read a recorded session. Raises StoreError."""
        if session_id == self._bench.session_id:
            return self.catch_up()
        if kept := [one for one in self._kept if one.session == session_id]:
            return Stream(session_id, lambda after, until: [r for r in kept if after < r.seq <= until], kept)
        is_live = self._bench.is_recorded_elsewhere(session_id)
        newest = self._bench.recorded(session_id, limit=1)
        shown = self._bench.recorded_stream(session_id, (*KINDS, *COST_KINDS))
        stream = self._stream(session_id, shown, newest[0].seq if newest else 0)
        stream.is_live = is_live
        return stream

    def news(self, stream: Stream) -> tuple[Sequence[Record], bool]:
        """What another program has recorded since, and whether it goes on. Raises StoreError."""
        # Asked first: whoever has ended then has written everything.
        is_live = self._bench.is_recorded_elsewhere(stream.session_id)
        return self._bench.recorded_between(stream.session_id, stream.last, _NEWEST), is_live

    def _stream(self, session_id: str, records: Iterable[Record] = (), last: int = 0) -> Stream:
        return Stream(session_id, partial(self._bench.recorded_between, session_id), records, last)

    def moment(self, stream: Stream, column: int) -> View:
        """Return the view at a timeline column, marked as a replay."""
        seq, calls = stream.seq_of(column), len(stream.timeline.calls)
        label = f"call {column} of {calls}" if column <= calls else f"end of {calls} calls"
        label = LIVE if stream.is_live and column > calls else label
        source = stream.session_id if self.is_recorded(stream) else ""
        # Whatever was running then can be neither awaited nor stopped.
        state = replace(stream.state(seq), busy=False)
        return View(ReplayedState.of(state, label, source), stream.feed(seq))

    def show(self, stream: Stream, column: int, view: View) -> None:
        """Show a moment on every page, until `live` is called."""
        self.stream, self.column = stream, column
        self._replayed = ReplayedSession(self._bench, stream, stream.seq_of(column), view.state)
        self._show(view)

    def live(self) -> None:
        """Show the running session again."""
        self.stream, self._replayed = self._live, None
        self._show(self._newest)


def _of_running(name: str) -> Any:
    """A part of a replayed session that is as in the running one now."""
    return property(lambda replayed: getattr(replayed._running, name))


class ReplayedSession:
    """A `SessionView` of a moment: state and records are the moment's, everything else the running session's.

    It holds the running session only as a view, so nothing can be changed through it.
    """

    configuration: Configuration = _of_running("configuration")
    settings: Settings = _of_running("settings")
    profile: str = _of_running("profile")
    session_values: Mapping[str, Any] = _of_running("session_values")
    sight: Sight = _of_running("sight")
    access_policy: AccessPolicy | None = _of_running("access_policy")
    setup: Setup = _of_running("setup")
    retrieval: Retrieval = _of_running("retrieval")
    local_models: LocalModelServers = _of_running("local_models")
    server_source: ServerSource = _of_running("server_source")

    def __init__(self, running: SessionView, stream: Stream, seq: int, state: SessionState) -> None:
        self._running = running
        self._stream = stream
        self._seq = seq
        self.state = state
        self.session_id = stream.session_id

    @cached_property
    def catalog(self) -> Catalog:
        """The catalog of the moment, with the definitions that were recorded."""
        return _catalog(self.state, self._running.catalog)

    @cached_property
    def accounting(self) -> TokenView:
        """Counts as the running session does, at the prices of the model of then."""
        return _PricesOfThen(self._running.accounting, self.state.model)

    def records(self, kinds: Sequence[str] = ()) -> list[Record]:
        """The records up to the moment, or those of the given kinds."""
        return [record for record in self._stream.until(self._seq) if not kinds or record.kind in kinds]

    def between(self, after: int, until: int) -> Sequence[Record]:
        """The records with a number above the first and up to the second one."""
        return self._stream.between(after, until)

    def stderr(self, server: str) -> str:
        """Return what the server had written to stderr as it failed; no more of it is in a record."""
        state = self.state.servers.get(server)
        return state.stderr_tail if state is not None else ""

    def wire(self, server: str) -> WireLog | None:  # noqa: ARG002
        """Return None: what crossed the wire is in no record."""
        return None

    def offers(self, server: str) -> Offers | None:  # noqa: ARG002
        """Return None: resources and prompts are in no record."""
        return None

    def next_request(self) -> ModelRequest:
        """Return what the model was sent, with the definitions of then."""
        now, state = self._running.next_request(), self.state
        chat = state.settings.get("chat")
        recorded = chat.get("system_prompt") if isinstance(chat, Mapping) else None
        prompt = recorded if isinstance(recorded, str) else self._running.settings.chat.system_prompt
        catalog = self.catalog
        loader = DefinitionLoader(catalog, self.accounting.meter.features.dialect)
        return ModelRequest(
            system=system_text(prompt, state),
            messages=(),
            tools=tools_array(catalog, state, self._delivery, loader),
            max_output=now.max_output,
        )

    @property
    def _delivery(self) -> str:
        """The delivery of the last model call, or append if none says."""
        requests = (record.event for record in reversed(self.records(("request",))))
        return next((event.delivery for event in requests if isinstance(event, ModelRequested)), "") or APPEND


class _PricesOfThen(Struct, eq=False):
    """A `TokenView` whose prices are by default those of another model than the running session's."""

    _running: TokenView
    _model: str

    @property
    def meter(self) -> BudgetMeter:
        return self._running.meter

    @property
    def terms(self) -> CacheTerms:
        return self._running.terms

    def cost(self, tool: Tool) -> ToolCost:
        """Tokens of one definition by part."""
        return self._running.cost(tool)

    def prices(self, model: str = "") -> Prices | None:
        """The prices of a model, by default that of the moment."""
        return self._running.prices(model or self._model)


def _catalog(state: SessionState, known: Catalog) -> Catalog:
    """Return the catalog of the moment.

    Records of older versions have no definitions: their tools are as they are now, if they are connected.
    """
    tools = []
    for tool_id in state.tools:
        server, _, name = tool_id.partition(":")
        recorded = state.recorded(tool_id) or known.get(tool_id)
        tools.append(recorded or Tool(server, name, _NOT_RECORDED))
    pinned = frozenset(state.pinned)
    deferred = frozenset(tool_id for tool_id in state.tools if tool_id not in pinned)
    return Catalog(tuple(tools), deferred, advises=state.advisory)
