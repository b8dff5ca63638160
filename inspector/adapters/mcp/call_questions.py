"""How often a server asks a person while it works on tool calls."""

from collections.abc import Iterator
from contextlib import contextmanager

from inspector.domain.elicitation import QUESTIONS_A_CALL


class CallQuestions:
    """Counts the questions of the running calls together: older servers do not say whose they are."""

    def __init__(self) -> None:
        self._running = 0
        self._left = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """A call runs. What it does not use is for the others, until none runs."""
        self._running += 1
        self._left += QUESTIONS_A_CALL
        try:
            yield
        finally:
            self._running -= 1
            if not self._running:
                self._left = 0

    def is_excess(self) -> bool:
        """Count a question; whether it is one too many. Between calls none is: nothing waits for it."""
        if not self._running:
            return False
        self._left -= 1
        return self._left < 0
