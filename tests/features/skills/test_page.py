"""The page of skills, driven by keys."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from inspector.config.configuration import Configuration
from inspector.core.error import ConfigError
from inspector.core.server import ServerSpec
from inspector.features.skills.feature import SKILLS
from inspector.features.skills.inventory import Inventory, configured
from tests.features.skills.test_command import write
from tests.support.app import app_rig, goes, seen, until
from tests.support.canned import skills


@asynccontextmanager
async def page(
    *answers: Inventory | Exception, size: tuple[int, int] = (140, 50)
) -> AsyncGenerator[Pilot[None], None]:
    left = list(answers)

    def read() -> Inventory:
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async with app_rig(size=size, beside=lambda _: {SKILLS: read}) as (pilot, _):
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


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 60)])
async def test_skills_of_one_name_and_those_of_every_folder_show_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for place in ("shop/.agents", "bank/.agents", "shop/.claude", ".claude"):
        write(tmp_path / place / "skills", "deploy")
    write(tmp_path / "bank/.agents/skills", "transfer")
    folders = [
        ServerSpec(name, listing=str(tmp_path / name), skills=True, trust_annotations=True)
        for name in ("shop", "bank")
    ]
    async with page(configured(Configuration("", tuple(folders)), None), size=size) as pilot:
        await until(pilot, lambda: "transfer" in seen(pilot))
        rows = [line.split("  ")[0].strip("▌▎ ") for line in seen(pilot).splitlines()]
        told = {
            "deploy shop/.agents",
            "deploy bank/.agents",
            "deploy .claude",
            "deploy ~/.claude",
            "transfer",
        }
        assert told <= set(rows)
        assert "bank/.agents/skills 2" in seen(pilot)


async def test_without_skills_it_says_where_to_put_one() -> None:
    none = Inventory((), (), {})
    async with page(none) as pilot:
        await until(pilot, lambda: "Most of them find .agents/skills/NAME/SKILL.md" in seen(pilot))
