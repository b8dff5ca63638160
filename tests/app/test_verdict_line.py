"""Whether discovery pays is judged once for all pages, and again when what decides it changes."""

from collections.abc import Callable

import pytest

from inspector.app.base_screen import VerdictLine
from inspector.session import verdict
from inspector.session.verdict import Verdict, judge
from inspector.session.view import SessionView
from tests.support.app import app_rig, goes, until


async def test_pages_share_one_verdict_and_a_changed_setting_asks_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def counting(session: SessionView, stopped: Callable[[], bool]) -> Verdict | None:
        asked.append(session.settings.binding.delivery)
        return judge(session, stopped)

    monkeypatch.setattr(verdict, "judge", counting)
    async with app_rig(at_home=True) as (pilot, rig):

        def says() -> bool:
            return "iscovery" in str(pilot.app.screen.query_one(VerdictLine).render())

        await until(pilot, says)
        await goes(pilot, "budget")
        await until(pilot, says)
        assert asked == ["append"]
        rig.bench.change_setting("binding.delivery", "call_tool")
        await until(pilot, lambda: len(asked) == 2)
        assert asked[-1] == "call_tool"
