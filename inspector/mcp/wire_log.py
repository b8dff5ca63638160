"""What is exchanged with one server, read without the secrets in it."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from threading import Lock

from inspector.core.frame import Flaw, Frame, FrameKind, FrameLog
from inspector.core.redaction import Redactor
from inspector.schema.json_value import compact

_REPLIES = frozenset({FrameKind.RESULT, FrameKind.ERROR, FrameKind.INVALID})


@dataclass(frozen=True, slots=True)
class Beginning:
    """Where a session begins in a log that is older: after so many frames, with these requests unanswered.

    What answers one of them belongs to whoever sent it, and so do the flaws that were counted before.
    """

    after: int = 0
    unanswered: frozenset[str] = frozenset()
    flaws: tuple[Flaw, ...] = ()

    @classmethod
    def now(cls, log: FrameLog) -> "Beginning":
        """After everything that the log has."""
        unanswered, frames = set[str](), log.frames()
        for frame in frames:
            if frame.kind is FrameKind.REQUEST and frame.sent:
                unanswered.add(frame.id)
            elif frame.kind in _REPLIES and not frame.sent:
                unanswered.discard(frame.id)
        return cls(frames[-1].number if frames else 0, frozenset(unanswered), log.flaws())

    def own(self, frames: Iterable[Frame]) -> Iterator[Frame]:
        """The frames of the session."""
        unanswered = set(self.unanswered)
        for frame in frames:
            if frame.number <= self.after:
                continue
            if frame.sent:
                # A connection counts its requests anew.
                unanswered.discard(frame.id)
            elif frame.kind in _REPLIES and frame.id in unanswered:
                unanswered.discard(frame.id)
                continue
            yield frame


class WireLog:
    """The newest frames of a server. They are kept in memory alone, and no session has them in its record."""

    def __init__(self, log: FrameLog, redactor: Redactor, beginning: Beginning | None = None) -> None:
        """`redactor` knows the secrets of the configuration. What was before `beginning` is not read."""
        self._log = log
        self._redactor = redactor
        self._beginning = beginning or Beginning()
        self._clean: dict[int, Frame] = {}
        self._lock = Lock()

    @property
    def total(self) -> int:
        """How many frames there were so far, with those that are dropped."""
        return self._log.total - self._beginning.after

    def flaws(self) -> tuple[Flaw, ...]:
        """What was repaired or dropped since the beginning."""
        before = {(flaw.what, flaw.outcome): flaw.count for flaw in self._beginning.flaws}
        left = ((flaw, flaw.count - before.get((flaw.what, flaw.outcome), 0)) for flaw in self._log.flaws())
        return tuple(
            replace(flaw, what=self._redactor.text(flaw.what), count=count) for flaw, count in left if count
        )

    def frames(self) -> tuple[Frame, ...]:
        """The frames that are kept, oldest first. Takes time after much was exchanged; runs in any thread."""
        with self._lock:
            newest = tuple(self._beginning.own(self._log.frames()))
            clean = {frame.number: self._clean.get(frame.number) or self._redacted(frame) for frame in newest}
            self._clean = clean
        return tuple(clean.values())

    def _redacted(self, frame: Frame) -> Frame:
        clean = self._redactor.text
        number = frame.number - self._beginning.after
        return replace(
            frame, number=number, method=clean(frame.method), id=clean(frame.id), text=self._text(frame.text)
        )

    def _text(self, text: str) -> str:
        """The message as compact JSON; what is no JSON, or cut, is read as text."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return self._redactor.text(text)
        kept = self._redactor.value(value)
        return text if kept is value else compact(kept)
