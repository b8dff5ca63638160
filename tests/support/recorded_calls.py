"""The calls of earlier sessions, for what learns from them."""

import threading
from collections.abc import Iterable

from inspector.core.ports import PastCall


class Recorded:
    """The calls of earlier sessions; counts how often they are read, and in which thread."""

    def __init__(self, *past: PastCall) -> None:
        self.past = past
        self.reads = 0
        self.thread = ""

    def __call__(self) -> Iterable[PastCall]:
        self.reads += 1
        self.thread = threading.current_thread().name
        return self.past
