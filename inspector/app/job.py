"""One long task of a page, in a thread or as a coroutine, and what the header says of it."""

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar


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
    """One long task. `progress` is (done, total); `title` is what the header calls it, at first its name."""

    def __init__(self, name: str, deliver: Callable[["Job", Callable[[], None]], object]) -> None:
        self.name = self.title = name
        self.progress = (0, 0)
        self.is_stopped = False
        self.cancel: Callable[[], object] = lambda: None
        """Ends a coroutine at once; a thread has to look whether it is `stopped`."""
        self._deliver = deliver

    def tell(self, act: Callable[[], None]) -> None:
        """Run `act` on the event loop, unless a newer job has started; callable from any thread."""
        self._deliver(self, act)

    def report(self, done: int, total: int) -> None:
        """Report progress; callable from any thread."""
        self.progress = (done, total)

    def stopped(self) -> bool:
        """Whether the job should end as soon as it can."""
        return self.is_stopped


Work = Callable[[Job], Coroutine[Any, Any, T]] | Callable[[Job], T]
Done = Callable[[T], None]
Failed = Callable[[Exception], None]


def run(job: Job, work: Callable[[Job], T], done: Done[T], failed: Failed) -> None:
    """Run the work of a job in its thread."""
    try:
        result = work(job)
    # Whatever it is: a page that waits for its job has to hear that it ended.
    except Exception as error:
        job.tell(partial(failed, error))
    else:
        job.tell(partial(done, result))


async def run_here(job: Job, work: Callable[[Job], Awaitable[T]], done: Done[T], failed: Failed) -> None:
    """Run the work of a job on the event loop."""
    try:
        result = await work(job)
    except Exception as error:
        job.tell(partial(failed, error))
    else:
        job.tell(partial(done, result))
