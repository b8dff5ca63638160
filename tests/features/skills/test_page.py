"""The page of skills, driven by keys."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from inspector.core.error import ConfigError
from inspector.features.skills.feature import SKILLS
from inspector.features.skills.inventory import Inventory
from tests.support.app import app_rig, goes, seen, until
from tests.support.canned import skills


@asynccontextmanager
async def page(*answers: Inventory | Exception) -> AsyncGenerator[Pilot[None], None]:
    left = list(answers)

    def read() -> Inventory:
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async with app_rig(size=(140, 50), beside=lambda _: {SKILLS: read}) as (pilot, _):
        await goes(pilot, "skills")
        yield pilot


async def test_a_skill_shows_each_client_and_a_client_each_skill() -> None:
    async with page(skills()) as pilot:
        await until(pilot, lambda: "deploy in each client" in seen(pilot))
        assert "4 skills: .agents/skills 3, .claude/skills 1" in seen(pilot)
        assert "✕ gone   line 3; value with a colon needs quotes" in seen(pilot)
        await pilot.press("tab", *["down"] * 6)
        await until(pilot, lambda: "all skills in cline-cli" in seen(pilot))
        assert "2 of 2" not in seen(pilot)
        assert "the tool's description, names alone" in seen(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: "list tok" not in seen(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: "list tok" in seen(pilot))


async def test_files_that_cannot_be_read_can_be_read_again() -> None:
    gone = ConfigError("The folder is gone")
    # The first time is asked whether there are any.
    async with page(gone, gone, skills()) as pilot:
        await until(pilot, lambda: "The folder is gone" in seen(pilot))
        await pilot.press("r")
        await until(pilot, lambda: "release-notes" in seen(pilot))


async def test_without_skills_it_says_where_to_put_one() -> None:
    none = Inventory((), (), {})
    async with page(none) as pilot:
        await until(pilot, lambda: "Most of them find .agents/skills/NAME/SKILL.md" in seen(pilot))
