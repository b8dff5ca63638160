"""The PRD's edge cases (section 5) and the ways to ask (section 2.3), on whole sessions."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

from inspector.config.configuration import Configuration
from inspector.core.fold import fold
from tests.support.office import office
from tests.support.told_model import Step, calls, says, searches
from tests.support.workbench import Rig, configured, connected, names


@asynccontextmanager
async def conversation(*steps: Step, **options: Any) -> AsyncGenerator[Rig, None]:
    """The office under the profile `prd`, after one message of the user."""
    async with connected(*steps, says("done"), profile="prd", **{"servers": office(), **options}) as rig:
        ended = await rig.bench.chat("Please.")
        assert (ended.outcome, ended.text) == ("answered", "done")
        assert fold(rig.bench.records()) == rig.bench.state
        yield rig


async def test_a_search_without_a_match_says_so_and_suggests_another_query() -> None:
    async with conversation(searches(query="zzyzx")) as rig:
        assert rig.results[0].startswith("No matching tools found. Try a different query")
        assert rig.loaded == []


async def test_a_search_of_what_is_loaded_answers_already_loaded() -> None:
    async with conversation(searches(server_name="mail"), searches(server_name="mail")) as rig:
        first, again = rig.results
        assert "3 tools already loaded" in again
        assert "now loaded" in first
        assert "now loaded" not in again
        assert len(rig.loaded) == 3


async def test_an_unknown_server_is_answered_with_the_valid_ones() -> None:
    async with conversation(searches(server_name="shpo", query="orders")) as rig:
        assert rig.results == ["Unknown server 'shpo'. Valid servers: shop, mail, calendar, calc."]
        assert rig.loaded == []


async def test_without_deferred_servers_there_is_no_meta_tool_and_everything_is_bound() -> None:
    specs = tuple(replace(spec, defer_loading=False) for spec in configured(office()).servers)
    async with conversation(
        calls(("shop__list_orders", {"customer": "Ada"})), configuration=Configuration("test.json", specs)
    ) as rig:
        assert "search_tools" not in names(rig.model.requests[0])
        assert len(names(rig.model.requests[0])) == 11
        assert rig.servers["shop"].calls == [("list_orders", {"customer": "Ada"})]
        assert rig.bench.state.manifest == ""


async def test_a_cancelled_turn_leaves_what_was_found_loaded() -> None:
    async with connected(searches(query="forecast"), profile="prd") as rig:
        hanging = asyncio.Event()

        async def hang(*_: object) -> Any:
            hanging.set()
            await asyncio.Event().wait()

        rig.servers["weather"].answer = hang
        rig.model.steps.append(calls(("weather__get_forecast", {"city": "Oslo"})))
        turn = asyncio.create_task(rig.bench.chat("Forecast?"))
        await hanging.wait()
        turn.cancel()
        with suppress(asyncio.CancelledError):
            await turn
        assert rig.loaded == ["weather:get_forecast"]
        assert not rig.bench.state.busy
