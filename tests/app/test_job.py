"""Jobs of a page: in a thread, reported on the event loop, and only the newest of a name counts."""

import asyncio
import gc
import weakref
from threading import Event

from textual.app import App
from textual.pilot import Pilot

from inspector.app.context import InContext, Job
from inspector.core.error import ToolsightError
from tests.support.app import until


class Page(InContext):
    """Keeps what its jobs came to."""

    def __init__(self) -> None:
        super().__init__()
        self.results: list[str] = []
        self.problems: list[str] = []

    def keep(self, result: str) -> None:
        self.results.append(result)

    def start(self, text: str, wait: Event | None = None) -> Job:
        def work(job: Job) -> str:
            job.report(1, 2)
            if wait is not None:
                wait.wait(5)
            if text == "bad":
                raise ToolsightError("it broke")
            return f"{text}, stopped" if job.stopped() else text

        return self.run_job(
            "work",
            work,
            self.keep,
            failed=lambda error: self.problems.append(str(error)),
        )


class Host(App[None]):
    def compose(self) -> list[Page]:
        return [Page()]


def page(pilot: Pilot[None]) -> Page:
    return pilot.app.query_one(Page)


async def test_a_job_tells_its_progress_and_its_result() -> None:
    async with Host().run_test() as pilot:
        job = page(pilot).start("one")
        await until(pilot, lambda: page(pilot).results == ["one"])
        assert job.progress == (1, 2)


async def test_a_newer_job_drops_what_the_older_one_still_says() -> None:
    gate = Event()
    async with Host().run_test() as pilot:
        older = page(pilot).start("old", gate)
        page(pilot).start("new")
        await until(pilot, lambda: page(pilot).results == ["new"])
        gate.set()
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        assert older.is_stopped
        assert page(pilot).results == ["new"]


async def test_a_stopped_job_still_delivers_what_it_has_and_a_dropped_one_does_not() -> None:
    for stop, results in (("stop_job", ["it, stopped"]), ("drop_job", [])):
        gate = Event()
        async with Host().run_test() as pilot:
            page(pilot).start("it", gate)
            getattr(page(pilot), stop)("work")
            gate.set()
            await pilot.app.workers.wait_for_complete()
            await pilot.pause()
            assert page(pilot).results == results


async def test_an_expected_error_goes_to_the_page() -> None:
    async with Host().run_test() as pilot:
        page(pilot).start("bad")
        await until(pilot, lambda: page(pilot).problems == ["it broke"])


async def test_a_dropped_coroutine_ends_at_once_and_says_nothing_more() -> None:
    ends: list[str] = []

    async def work(job: Job) -> str:
        job.tell(lambda: ends.append("told"))
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ends.append("cancelled")
            raise
        return "done"

    async with Host().run_test() as pilot:
        page(pilot).run_job("work", work, page(pilot).keep)
        await until(pilot, lambda: ends == ["told"])
        page(pilot).drop_job("work")
        await until(pilot, lambda: ends == ["told", "cancelled"])
        assert page(pilot).results == []


async def test_a_dropped_coroutine_keeps_nothing_of_its_work_alive_though_its_error_lives_on() -> None:
    class World:
        """What the work needs."""

    worlds: list[weakref.ref[World]] = []

    async def play(world: World) -> None:
        worlds.append(weakref.ref(world))
        await asyncio.sleep(60)

    async def work(_job: Job) -> str:
        await play(World())
        return "done"

    async with Host().run_test() as pilot:
        page(pilot).run_job("work", work, page(pilot).keep)
        await until(pilot, lambda: len(worlds) == 1)
        [worker] = pilot.app.workers
        page(pilot).drop_job("work")
        await until(pilot, lambda: worker.is_finished)
        gc.collect()
        assert worker.error is not None
        assert worlds[0]() is None
