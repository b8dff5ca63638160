"""Makes a session of what crosses a tap, for each client, and stores it while it runs."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path

from msgspec import Struct, field

from inspector.cli.composition import bulk_counter_for, new_session_id
from inspector.cli.location import database_path, tap_notes_path
from inspector.cli.options import Options
from inspector.cli.stores import open_store
from inspector.clients.client import client_name
from inspector.config.configuration import target
from inspector.config.reader import server_name
from inspector.core.error import FailureKind, StoreError
from inspector.core.events import (
    CallFinished,
    CallStarted,
    Event,
    Failed,
    MessagePassed,
    Origin,
    Record,
    ServerConnecting,
    ServerStopped,
    SessionStarted,
)
from inspector.core.number import byte_size, count
from inspector.core.ports import EventStore, TokenCounter
from inspector.core.redaction import SECRETS, clean, learn_environment
from inspector.core.server import ServerSpec
from inspector.features.agents.known_tools import KnownTools
from inspector.features.agents.tap.pump import BEGUN, END, HEADER, SECRET, TO_SERVER
from inspector.features.agents.tap.searching import query_of, search
from inspector.features.agents.transcript import AgentTool
from inspector.mcp.frame import beginning
from inspector.mcp.pace import CutLine, Lines
from inspector.schema.json_value import JsonObject, as_object, compact, read_object
from inspector.store.server_memory import TapNotes

UNKNOWN_CLIENT = "client"
_LONGEST_TEXT = 20_000
_MOST_PENDING = 1_000
_CLIENT_INFO = "io.modelcontextprotocol/clientInfo"


class Tapped(Struct, frozen=True):
    """What is tapped: the session's id, the server's name and command, and the client's folder."""

    session: str
    server: str
    command: str
    folder: str


class _Request(Struct):
    method: str
    at: float
    params: JsonObject


class TappedMessages(Struct, eq=False):
    """Makes events of what a client and its server exchange. `_counter_for` takes the client's name."""

    _tapped: Tapped
    _counter_for: Callable[[str], TokenCounter]
    _pending: dict[tuple[bool, str], _Request] = {}
    _listed: dict[str, AgentTool] = {}
    _offered: frozenset[str] = frozenset()
    _known: KnownTools | None = None
    _count: Callable[[str], int] = len
    _agent: str = ""

    def line(self, line: bytes | CutLine, at: float, *, sent: bool) -> Iterator[Event]:
        """The events of one line that the client sent, or else the server."""
        data, size = (line.head, line.size) if isinstance(line, CutLine) else (line, len(line))
        if not data.strip():
            return
        text = data.decode("utf-8", "replace").rstrip("\r")
        found = read_object(text)
        yield from self.started(found)
        pair = (not sent if _is_reply(found) else sent, compact(found.get("id")))
        asked = self._pending.pop(pair, None) if _is_reply(found) else None
        method = asked.method if asked is not None else found.get("method")
        took = (at - asked.at) * 1000 if asked is not None else None
        id_ = pair[1] if "id" in found else ""
        method = method if isinstance(method, str) else ""
        server = self._tapped.server
        yield MessagePassed(server, sent, method, id_, size, beginning(text, _LONGEST_TEXT), took)
        if asked is not None and sent is False:
            yield from self._answered(asked, found, pair[1], at)
        elif id_ and method and not _is_reply(found):
            yield from self._asked(pair, _Request(method, at, as_object(found.get("params"))))

    def started(self, found: JsonObject) -> Iterator[Event]:
        """The session begins with its first message, which says who the client is."""
        if self._known is not None:
            return
        params = as_object(found.get("params"))
        info = as_object(params.get("clientInfo") or as_object(params.get("_meta")).get(_CLIENT_INFO))
        self._agent, version = client_name(str(info.get("name") or UNKNOWN_CLIENT)), info.get("version")
        counter, tapped = self._counter_for(self._agent), self._tapped
        self._known, self._count = KnownTools(self._agent, counter.count), counter.count
        origin = Origin(self._agent, str(version or ""), tapped.session, file=f"tap {tapped.folder}")
        yield SessionStarted(tapped.server, (tapped.server,), "", "", "", 0, origin=origin)
        yield ServerConnecting(tapped.server, tapped.command)

    def _asked(self, pair: tuple[bool, str], request: _Request) -> Iterator[Event]:
        if len(self._pending) >= _MOST_PENDING:
            del self._pending[next(iter(self._pending))]
        self._pending[pair] = request
        if pair[0] and request.method == "tools/call" and not query_of(request.params):
            yield CallStarted(pair[1], self._tool(request), as_object(request.params.get("arguments")))

    def _answered(self, asked: _Request, found: JsonObject, id_: str, at: float) -> Iterator[Event]:
        assert self._known is not None
        result = as_object(found.get("result"))
        if asked.method == "tools/call":
            ended, query = self._call(asked, found, id_, at), query_of(asked.params)
            told = ended.text, self._tapped.server, self._agent, self._listed, "" if ended.ok else ended.text
            yield search(query, *told) if query else ended
        elif asked.method in ("initialize", "server/discover"):
            self._known.announce(self._tapped.server, str(result.get("instructions") or ""))
        elif asked.method == "tools/list" and isinstance(result.get("tools"), list):
            yield from self._page(asked, result)

    def _page(self, asked: _Request, result: JsonObject) -> Iterator[Event]:
        """One page of tools; the last one makes it the list of the server."""
        assert self._known is not None
        if not asked.params.get("cursor"):
            self._listed = {}
        server = self._tapped.server
        for tool in map(as_object, result["tools"]):
            name = str(tool.get("name") or "")
            definition = {
                "description": tool.get("description") or "",
                "parameters": as_object(tool.get("inputSchema")),
            }
            self._listed[f"{server}:{name}"] = AgentTool(name, server, definition=definition)
        if not result.get("nextCursor"):
            self._known.withdraw(self._offered - self._listed.keys())
            self._known.offer(self._listed.values(), deferred=False)
            self._offered = frozenset(self._listed)
            yield from self._known.news()

    def _call(self, asked: _Request, found: JsonObject, id_: str, at: float) -> CallFinished:
        result, error = as_object(found.get("result")), as_object(found.get("error"))
        blocks = result.get("content")
        parts = list(map(as_object, blocks)) if isinstance(blocks, list) else []
        said = [str(part.get("text") or f"[{part.get('type')}]") for part in parts]
        # A call that runs as a task is answered with the task, and has no content.
        text = "\n".join(said) if said else compact(result) if result else ""
        text = str(error.get("message") or "an error") if error else text
        ok = not error and result.get("isError") is not True
        structured = result.get("structuredContent")
        return CallFinished(
            id_,
            self._tool(asked),
            ok,
            text,
            (at - asked.at) * 1000,
            structured if isinstance(structured, dict) else None,
            None if ok else FailureKind.TOOL,
            tokens=self._count(compact(as_object(asked.params.get("arguments")))) + self._count(text),
        )

    def _tool(self, request: _Request) -> str:
        return f"{self._tapped.server}:{request.params.get('name') or ''}"

    def end(self) -> Iterator[Event]:
        """The events at the end; none if there was no message."""
        if self._known is not None:
            yield ServerStopped(self._tapped.server)


def _is_reply(found: JsonObject) -> bool:
    return "method" not in found and ("result" in found or "error" in found)


MOST_SESSIONS = 64
"""Sessions that one tap records at once; beyond that, the one that was quiet longest ends."""
MOST_WAITING = 2_000
"""Events that may wait for a store that fails; beyond that they are dropped and counted."""
# Seconds until a store that failed is tried again.
_PAUSE = 1.0
_READ = 1_000_000


class Piece(Struct, frozen=True):
    """Bytes as they crossed the tap, in the direction `side`; before them, `lost` bytes were not copied.

    `at` is when the tap read them, in seconds since 1970, UTC. `session` tells the clients of a tap apart.
    """

    side: int
    at: float
    lost: int
    data: bytes
    session: int = 0


def pieces(source: int) -> Iterator[Sequence[Piece]]:
    """The pieces that were sent through a pipe until it ends: each time all that have come."""
    rest = b""
    while read := os.read(source, _READ):
        rest += read
        found, begin = [], 0
        while len(rest) >= begin + HEADER.size:
            side, session, at, lost, size = HEADER.unpack_from(rest, begin)
            data = rest[begin + HEADER.size : begin + HEADER.size + size]
            if len(data) < size:
                break
            found.append(Piece(side, at, lost, data, session))
            begin += HEADER.size + size
        rest = rest[begin:]
        if found:
            yield found


class _Side(Struct):
    """One direction. After a gap, what comes until the next end of a line is half of a message."""

    lines: Lines = field(default_factory=Lines)
    skips: bool = False

    def after(self, piece: Piece) -> Iterator[bytes | CutLine]:
        data = piece.data
        if piece.lost:
            self.lines, self.skips = Lines(), True
        if self.skips and b"\n" in data:
            data, self.skips = data.partition(b"\n")[2], False
        if not self.skips:
            yield from self.lines.feed(data)


class TapRecorder:
    """Stores a tapped session as it runs. A store that fails gets the events later, or they are counted.

    `note` is told why it fails, and "" once it does not, whenever that changes.
    """

    def __init__(
        self,
        tapped: Tapped,
        store: EventStore,
        counter_for: Callable[[str], TokenCounter],
        note: Callable[[str], object] = len,
    ) -> None:
        self._session = tapped.session
        self._store = store
        self._conversation = TappedMessages(tapped, counter_for)
        self._sides = (_Side(), _Side())
        self._waiting: list[tuple[float, Event]] = []
        self._stored = self._dropped = 0
        self._again = self._at = 0.0
        self._server = tapped.server
        self._note = note
        self._noted: str | None = None

    def take(self, piece: Piece) -> None:
        """Make events of a piece; `flush` stores them."""
        self._at = piece.at
        self._take(piece.at, self._events(piece))

    def end(self) -> None:
        """Nothing more comes: store what is left."""
        self._take(self._at, self._conversation.end())
        self._again = 0.0
        self.flush()
        self._store.release(self._session)

    def _events(self, piece: Piece) -> Iterator[Event]:
        if piece.lost:
            yield Failed(self._server, f"{byte_size(piece.lost)} passed unrecorded: the recording lagged")
        if piece.side == BEGUN:
            return
        if piece.side == SECRET:
            name, _, value = piece.data.decode("latin-1").partition(":")
            SECRETS.learn(ServerSpec("", headers={name: value}).secrets)
            return
        for line in self._sides[piece.side].after(piece):
            yield from self._conversation.line(line, piece.at, sent=piece.side == TO_SERVER)

    def _take(self, at: float, events: Iterable[Event]) -> None:
        for event in events:
            if len(self._waiting) >= MOST_WAITING:
                self.flush()
            if len(self._waiting) < MOST_WAITING:
                self._waiting.append((at, clean(event)))
            else:
                self._dropped += 1

    def flush(self) -> None:
        """Store what waits, unless the store has just failed."""
        if not self._waiting or time.monotonic() < self._again:
            return
        waiting = list(self._waiting)
        if self._dropped:
            lost = f"{count(self._dropped, 'event')} not stored: the database failed"
            waiting.append((waiting[-1][0], Failed(self._server, lost)))
        records = [
            Record(self._session, self._stored + number, at, event)
            for number, (at, event) in enumerate(waiting, start=1)
        ]
        try:
            self._store.append_all(records)
        except (StoreError, OSError) as error:
            self._again = time.monotonic() + _PAUSE
            self._tell(str(error))
            return
        self._tell("")
        self._stored += len(records)
        self._waiting, self._dropped = [], 0

    def _tell(self, why: str) -> None:
        if why != self._noted:
            self._noted = why
            self._note(why)


def record_pieces(batches: Iterable[Sequence[Piece]], new: Callable[[bytes], TapRecorder]) -> None:
    """Record every session that crosses a tap, until the tap ends. `new` gets what a BEGUN piece says."""
    running: dict[int, TapRecorder] = {}
    for batch in batches:
        for piece in batch:
            recorder = running.pop(piece.session, None) or new(piece.data * (piece.side == BEGUN))
            if piece.side == END:
                recorder.end()
                continue
            running[piece.session] = recorder
            recorder.take(piece)
            if len(running) > MOST_SESSIONS:
                running.pop(next(iter(running))).end()
        for recorder in running.values():
            recorder.flush()
    for recorder in running.values():
        recorder.end()


def record(
    source: int, command: Sequence[str], *, name: str = "", database: str = "", secrets: Sequence[str] = ()
) -> None:
    """Record a tapped server in the database, until it ends. `secrets` names what its client passes to it."""
    # What a client's configuration passes to the server as a secret is one in its messages, too.
    learn_environment(os.environ)
    options = Options(database=Path(database).absolute() if database else None)
    put = partial(TapNotes(tap_notes_path()).put, database=str(database_path(options)))
    counter_for = cache(bulk_counter_for)
    failing = name or (server_name(command) if command else "tap")

    def new(opening: bytes) -> TapRecorder:
        told = read_object(opening)
        words = (str(told["url"]),) if told else command
        spec = _learned(str(told.get("name") or name) or server_name(words), words, secrets)
        tapped = Tapped(new_session_id(), spec.name, target(spec), str(told.get("folder") or Path.cwd()))
        return TapRecorder(tapped, store, counter_for, lambda why: put(spec.name, why=why))

    try:
        with open_store(options) as store:
            record_pieces(pieces(source), new)
    except Exception as error:
        put(failing, why=f"{type(error).__name__}: {error}")
        raise


def _learned(name: str, command: Sequence[str], secrets: Sequence[str]) -> ServerSpec:
    """The server as a configuration would have it, whose secrets are known from now on."""
    passed = {variable: os.environ[variable] for variable in secrets if variable in os.environ}
    is_address = "://" in command[0]
    spec = (
        ServerSpec(name, url=command[0], env=passed)
        if is_address
        else ServerSpec(name, command[0], tuple(command[1:]), passed)
    )
    SECRETS.learn(spec.secrets)
    return spec
