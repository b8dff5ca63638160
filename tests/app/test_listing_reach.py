"""When a server lists its tools again, what is known of the other servers stays as it was."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from inspector.core.tool import Tool
from inspector.features.tools import catalog_rows, panel
from inspector.loop import settings_check
from inspector.loop.unmatched_pattern import Checked
from tests.support.app import until
from tests.support.memory_servers import MemoryServer
from tests.support.tools_page import names, says, tools_page
from tests.support.workbench import connected, happens, shop_and_weather

ALERTS = Tool("weather", "get_alerts", "Alerts for a city.")


class Calls:
    """Counts calls by what they were about."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.about = Counter[str]()
        self._patch = monkeypatch

    def of(self, owner: Any, name: str, about: Callable[..., str] = lambda *_: "") -> None:
        """Count the calls of a function by what `about` says of their arguments."""
        real = getattr(owner, name)

        def counting(*arguments: Any, **named: Any) -> Any:
            self.about[about(*arguments)] += 1
            return real(*arguments, **named)

        self._patch.setattr(owner, name, counting)


def adds(server: MemoryServer, tool: Tool) -> None:
    server.change([*server.tools, tool])


async def test_a_listing_of_one_server_makes_and_judges_nothing_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    servers = shop_and_weather()
    async with tools_page("shop", servers=servers) as (pilot, _):
        await says(pilot, "works in")
        calls = Calls(monkeypatch)
        calls.of(catalog_rows, "_tool_row", lambda state, *_: state.server)
        calls.of(catalog_rows, "_server_row", lambda server, _: server.name)
        calls.of(panel, "server_facts", lambda server, *_: server.name)
        calls.of(panel, "deliveries_in", lambda _, server, *__: server)
        adds(servers["weather"], ALERTS)
        await until(pilot, lambda: ALERTS.id in names(pilot))
        assert calls.about == {"weather": 2}


async def test_settings_are_checked_again_only_for_other_settings_or_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checks = Counter[frozenset[str]]()

    def check(checked: Checked) -> Iterator[Any]:
        checks[checked.tools] += 1
        yield from ()

    monkeypatch.setattr(settings_check, "CHECKS", (check,))
    servers = shop_and_weather()
    async with connected(servers=servers) as rig:
        before = checks.total()
        first, *others = servers["weather"].tools
        servers["weather"].change([Tool("weather", first.name, "Other words."), *others])
        await happens(rig.bench, "tools")
        await rig.bench.settled()
        assert checks.total() == before
        adds(servers["weather"], ALERTS)
        await happens(rig.bench, "tools")
        await rig.bench.settled()
        assert checks.total() == before + 1
        rig.bench.change_setting("binding.capacity", 7)
        assert checks.total() == before + 2
