"""Stores what crosses a tap while it runs: a session for each client, in a process of its own."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from inspector.cli.composition import bulk_counter_for, new_session_id, open_store
from inspector.cli.location import database_path, tap_notes_path
from inspector.cli.options import Options
from inspector.config.configuration import target
from inspector.config.reader import server_name
from inspector.core.error import StoreError
from inspector.core.events import Event, Failed, MessagePassed, Record
from inspector.core.number import byte_size, count
from inspector.core.ports import EventStore, TokenCounter
from inspector.core.redaction import SECRETS, clean, learn_environment
from inspector.core.server import ServerSpec
from inspector.features.agents.tap.pump import END, HEADER, NOTE, REWRITTEN, SECRET, TO_SERVER
from inspector.features.agents.tap.tapped import Conversation, Tapped
from inspector.mcp.pace import CutLine, Lines
from inspector.store.tap_note import TapNotes

MOST_SESSIONS = 64
"""Sessions that one tap records at once; beyond that, the one that was quiet longest ends."""
MOST_WAITING = 2_000
"""Events that may wait for a store that fails; beyond that they are dropped and counted."""
# Seconds until a store that failed is tried again.
_PAUSE = 1.0
_READ = 1_000_000


@dataclass(frozen=True, slots=True)
class Piece:
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


@dataclass(slots=True)
class _Side:
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
        self._conversation = Conversation(tapped, counter_for)
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
        if piece.side == SECRET:
            name, _, value = piece.data.decode("latin-1").partition(":")
            SECRETS.learn(ServerSpec("", headers={name: value}).secrets)
            return
        if piece.side in (NOTE, REWRITTEN):
            said, server = piece.data.decode("utf-8", "replace"), self._server
            yield from self._conversation.started({})
            changed = MessagePassed(server, False, "rewritten by the tap", "", len(said), said)
            yield Failed(server, said) if piece.side == NOTE else changed
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


def record_pieces(batches: Iterable[Sequence[Piece]], new: Callable[[], TapRecorder]) -> None:
    """Record every session that crosses a tap, until the tap ends."""
    running: dict[int, TapRecorder] = {}
    for batch in batches:
        for piece in batch:
            recorder = running.pop(piece.session, None) or new()
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
    spec = _learned(name or server_name(command), command, secrets)
    options = Options(database=Path(database).absolute() if database else None)
    what = spec.name, target(spec), str(Path.cwd())
    note = partial(TapNotes(tap_notes_path()).put, spec.name, str(database_path(options)))
    counter_for = cache(bulk_counter_for)
    try:
        with open_store(options) as store:
            record_pieces(
                pieces(source), lambda: TapRecorder(Tapped(new_session_id(), *what), store, counter_for, note)
            )
    except Exception as error:
        note(f"{type(error).__name__}: {error}")
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
