"""One long task of a page, in a thread of its own, and what the header says of it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar


@dataclass(frozen=True, slots=True)
class Activity:
    """A measurement that runs: its title, and how far it is in steps; a `total` of 0 is not known yet."""

    title: str
    stop: Callable[[], object]
    done: int = 0
    total: int = 0

    @property
    def share(self) -> str:
        """How much is done: `34 %`, or `…` while that is not known."""
        return f"{self.done * 100 // self.total} %" if self.total else "…"


T = TypeVar("T")


class Job:
    """One long task in a thread. `progress` is (done, total)."""

    def __init__(self, deliver: Callable[["Job", Callable[[], None]], None]) -> None:
        self.progress = (0, 0)
        self.is_stopped = False
        self._deliver = deliver
        self._on_progress: Callable[[int, int], None] | None = None

    def listen(self, on_progress: Callable[[int, int], None]) -> None:
        """Call `on_progress` with every report, on the event loop."""
        self._on_progress = on_progress

    def tell(self, act: Callable[[], None]) -> None:
        """Run `act` on the event loop, unless a newer job has started; callable from any thread."""
        self._deliver(self, act)

    def report(self, done: int, total: int) -> None:
        """Report progress; callable from any thread."""
        self.progress = (done, total)
        if self._on_progress is not None:
            self.tell(partial(self._on_progress, done, total))

    def stopped(self) -> bool:
        """Whether the job should end as soon as it can."""
        return self.is_stopped


def run(
    job: Job, work: Callable[[Job], T], done: Callable[[T], None], failed: Callable[[Exception], None]
) -> None:
    """Run the work of a job in its thread."""
    try:
        result = work(job)
    # Whatever it is: a page that waits for its job has to hear that it ended.
    except Exception as error:
        job.tell(partial(failed, error))
    else:
        job.tell(partial(done, result))
