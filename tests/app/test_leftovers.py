"""The question what becomes of processes that an earlier run left."""

from textual.pilot import Pilot

from inspector.app.dialogs.approver import question_body
from inspector.core.leftover import Leftover, leftover_question
from tests.support.app import app_rig, seen, until
from tests.support.fakes import MemoryLeftovers
from tests.support.hostile import with_hostile_text
from tests.support.workbench import Rig
from tests.widgets.hostile import dangerous
from widgets import GuardedConfirm

GIT = Leftover("ab.1", "git", "python -m mcp_git", 1_772_438_400.0, (811, 812))
DAEMON = Leftover("ab.2", "browser", "chrome --headless", 1_772_438_460.0, (900,), detached=True)


async def asked(pilot: Pilot[None]) -> None:
    await until(pilot, lambda: isinstance(pilot.app.screen, GuardedConfirm))


async def connected(pilot: Pilot[None], rig: Rig) -> None:
    await until(pilot, lambda: bool(rig.bench.state.servers))


async def test_what_is_left_is_told_before_a_server_is_started() -> None:
    async with app_rig(settled=False, leftovers=MemoryLeftovers(GIT, DAEMON)) as (pilot, rig):
        await asked(pilot)
        shown = seen(pilot)
        assert "python -m mcp_git" in shown
        assert "811, 812" in shown
        assert "2026-03-02 08:00 UTC" in shown
        assert "900  (detached from its server)" in shown
        assert not rig.bench.state.servers


async def test_nothing_is_ended_without_a_deliberate_yes() -> None:
    left = MemoryLeftovers(GIT)
    async with app_rig(settled=False, leftovers=left) as (pilot, rig):
        await asked(pilot)
        await pilot.press("y", "e", "enter")
        await connected(pilot, rig)
    assert left.find() == (GIT,)


async def test_a_yes_ends_them_and_says_so() -> None:
    left = MemoryLeftovers(GIT, DAEMON)
    async with app_rig(settled=False, leftovers=left) as (pilot, rig):
        await asked(pilot)
        await pilot.press("left", "left", "enter")
        await connected(pilot, rig)
        await until(
            pilot, lambda: "left behind by 2 servers" in " ".join(n.message for n in pilot.app._notifications)
        )
    assert left.find() == ()


@with_hostile_text
def test_the_words_of_a_process_reach_the_question_as_plain_text(text: str) -> None:
    body = str(question_body(leftover_question([Leftover("ab.1", text, text, 0.0, (811,))])))
    assert not [letter for letter in dangerous(body) if letter != "\n"]
