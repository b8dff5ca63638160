"""What imports need of a transcript; the readers of files implement it."""

from collections.abc import Callable, Iterator
from typing import Protocol

from inspector.domain.transcript import Entry, Tally


class Transcript(Protocol):
    """What a real agent wrote while it worked, in a file of its own that nothing changes."""

    @property
    def tally(self) -> Tally:
        """How much was read so far, and what of it was not understood."""
        ...

    def entries(self, progress: Callable[[int, int], None], stopped: Callable[[], bool]) -> Iterator[Entry]:
        """What the transcript says, in its order, without holding all of it.

        `progress` gets the bytes read so far and all there are. Ends early once `stopped`. Raises
        ConfigError if the file cannot be read.
        """
