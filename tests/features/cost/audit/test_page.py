"""The page of the configurations on this machine, driven by keys."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from inspector.core.error import ConfigError
from inspector.features.cost.audit.result import Audit
from inspector.features.cost.feature import AUDIT
from tests.support.app import app_rig, goes, seen, until
from tests.support.canned import machine


@asynccontextmanager
async def page(audit: Callable[[], Audit] | None) -> AsyncGenerator[Pilot[None], None]:
    async with app_rig(size=(120, 40), beside=lambda _: {AUDIT: audit}) as (pilot, _):
        await goes(pilot, "machine")
        yield pilot


async def test_reading_that_fails_is_told_and_can_be_tried_again() -> None:
    answers: list[Exception | Audit] = [ConfigError("The home folder is gone"), machine()]

    def audit() -> Audit:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async with page(audit) as pilot:
        await until(pilot, lambda: "The home folder is gone" in seen(pilot))
        await pilot.press("r")
        await until(pilot, lambda: "Claude Code" in seen(pilot))
