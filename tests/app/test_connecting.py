"""What it takes to draw servers that connect."""

import pytest
from textual.screen import Screen

from inspector.core.tool import Tool
from tests.support.app import app_rig, ready
from tests.support.memory_servers import MemoryServer

SERVERS = 40


async def test_servers_that_connect_do_not_lay_out_the_page_each(monkeypatch: pytest.MonkeyPatch) -> None:
    layouts, names = 0, [f"server{number}" for number in range(SERVERS)]
    servers = {name: MemoryServer([Tool(name, "look", "Look it up.")]) for name in names}
    async with app_rig(at_home=True, servers=servers) as (pilot, rig):
        await pilot.pause()
        lay_out = Screen._refresh_layout

        def counted(*given: object, **more: object) -> None:
            nonlocal layouts
            layouts += 1
            lay_out(*given, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(Screen, "_refresh_layout", counted)
        for name in names[:10]:
            await rig.bench.reconnect(name)
            await ready(pilot, rig)
            await pilot.pause()
    # The verdict, which comes once, may have another height.
    assert layouts <= 3
