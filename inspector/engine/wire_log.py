"""What is exchanged with one server, read without the secrets in it."""

import json
from dataclasses import replace
from threading import Lock

from inspector.domain.frame import Frame, FrameLog
from inspector.domain.jsonvalue import compact
from inspector.domain.redaction import Redactor


class WireLog:
    """The newest frames of a server. They are kept in memory alone, and no session has them in its record."""

    def __init__(self, log: FrameLog, redactor: Redactor) -> None:
        """`redactor` knows the secrets of the configuration."""
        self._log = log
        self._redactor = redactor
        self._clean: dict[int, Frame] = {}
        self._lock = Lock()

    @property
    def total(self) -> int:
        """How many frames there were so far, with those that are dropped."""
        return self._log.total

    def frames(self) -> tuple[Frame, ...]:
        """The frames that are kept, oldest first. Takes time after much was exchanged; runs in any thread."""
        with self._lock:
            newest = self._log.frames()
            clean = {frame.number: self._clean.get(frame.number) or self._redacted(frame) for frame in newest}
            self._clean = clean
        return tuple(clean.values())

    def _redacted(self, frame: Frame) -> Frame:
        clean = self._redactor.text
        return replace(frame, method=clean(frame.method), id=clean(frame.id), text=self._text(frame.text))

    def _text(self, text: str) -> str:
        """The message as compact JSON; what is no JSON, or cut, is read as text."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return self._redactor.text(text)
        kept = self._redactor.value(value)
        return text if kept is value else compact(kept)
