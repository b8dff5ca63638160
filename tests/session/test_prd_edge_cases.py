"""The PRD's edge cases (section 5) and the ways to ask (section 2.3), on whole sessions."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import pytest

from inspector.config.configuration import Configuration
from inspector.core.access import ServerRule, Toolset
from inspector.core.fold import fold
from inspector.core.ranking import SearchRequest
from inspector.core.session import Binding
from inspector.core.tool import Tool
from inspector.session.workbench import Workbench
from tests.support.fakes import Step, calls, says, searches
from tests.support.memory_servers import MemoryServer
from tests.support.office import office
from tests.support.workbench import CITY, READS, Rig, configured, connected, names

START = ["search_tools", "calc__evaluate"]
FORECAST = Tool("weather", "get_forecast", "Forecast for a city.", CITY, READS)
MOON = Tool("weather", "get_moon", "Phase of the moon.", annotations=READS)


@asynccontextmanager
async def conversation(*steps: Step, **options: Any) -> AsyncGenerator[Rig, None]:
    """The office under the profile `prd`, after one message of the user."""
    async with connected(*steps, says("done"), profile="prd", **{"servers": office(), **options}) as rig:
        ended = await rig.bench.chat("Please.")
        assert (ended.outcome, ended.text) == ("answered", "done")
        assert fold(rig.bench.records()) == rig.bench.state
        yield rig


async def change(bench: Workbench, server: MemoryServer, tools: Sequence[Tool]) -> None:
    """Have a server list other tools, and wait for the catalog that is built of them."""
    seen = asyncio.Event()
    stop = bench.subscribe(lambda record: seen.set() if record.kind == "catalog" else None)
    server.change(tools)
    async with asyncio.timeout(5):
        await seen.wait()
    stop()


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


class TestWaysToAsk:
    """PRD section 2.3: what each combination of parameters does."""

    async def test_a_server_with_a_query_searches_only_there(self) -> None:
        async with conversation(searches(server_name="mail", query="late order")) as rig:
            assert rig.loaded == ["mail:search_messages"]

    async def test_a_server_with_names_loads_only_its_own(self) -> None:
        async with conversation(
            searches(server_name="shop", tool_names=["get_order", "send_message"])
        ) as rig:
            assert rig.loaded == ["shop:get_order"]
            assert "'send_message'" in rig.results[0]

    async def test_names_go_before_the_query(self) -> None:
        async with conversation(searches(query="refund an order", tool_names=["list_folders"])) as rig:
            assert rig.loaded == ["mail:list_folders"]

    async def test_the_query_is_the_fallback_when_every_name_misses(self) -> None:
        async with conversation(searches(query="refund", tool_names=["give_money_back", "pay_out"])) as rig:
            text = rig.results[0]
            assert rig.loaded == ["shop:refund_order"]
            assert "Unknown tool 'give_money_back'." in text
            assert "Unknown tool 'pay_out'." in text

    async def test_when_some_names_miss_the_others_load_and_the_missing_are_named(self) -> None:
        async with conversation(searches(query="refund", tool_names=["create_event", "list_folder"])) as rig:
            text = rig.results[0]
            assert rig.loaded == ["calendar:create_event"]
            assert "Unknown tool 'list_folder'. Closest matches: mail:list_folders" in text

    async def test_all_three_look_the_names_up_on_that_server_then_search_it(self) -> None:
        asked = searches(server_name="mail", tool_names=["get_order"], query="folders of a mailbox")
        async with conversation(asked, values={"discovery.max_search_results": 1}) as rig:
            assert rig.loaded == ["mail:list_folders"]

    @pytest.mark.parametrize(
        "arguments", [{}, {"query": " "}, {"query": None, "tool_names": []}, {"tool_names": [""]}]
    )
    async def test_nothing_at_all_is_told_what_to_provide(self, arguments: dict[str, Any]) -> None:
        async with conversation(calls(("search_tools", arguments))) as rig:
            assert rig.results == ["Provide at least one of query, server_name or tool_names."]

    async def test_a_tool_that_is_bound_from_the_start_is_not_called_unknown(self) -> None:
        async with conversation(searches(tool_names=["evaluate"])) as rig:
            assert rig.results[0].startswith("1 tool already loaded, call it directly:\n\n- calc:evaluate")
            assert rig.loaded == []


class TestCatalogRefresh:
    """What a server lists changes while the session runs."""

    async def test_index_and_manifest_are_rebuilt_and_loaded_tools_stay(self) -> None:
        async with conversation(searches(query="forecast"), servers=None) as rig:
            await change(rig.bench, rig.servers["weather"], [FORECAST, MOON])
            assert "weather (2 tools): get_forecast, get_moon" in rig.bench.state.manifest
            assert rig.loaded == ["weather:get_forecast"]
            rig.model.steps += [searches(query="phase"), says("done")]
            await rig.bench.chat("And the moon?")
            assert names(rig.model.requests[-1]) == [*START, "weather__get_forecast", "weather__get_moon"]

    async def test_a_loaded_tool_that_vanished_is_evicted_and_a_call_of_it_is_answered(self) -> None:
        async with conversation(searches(query="forecast"), servers=None) as rig:
            await change(rig.bench, rig.servers["weather"], [MOON])
            assert [(event.tool, event.cause) for event in rig.events("evict")] == [
                ("weather:get_forecast", "gone")
            ]
            assert rig.loaded == []
            assert rig.bench.search(SearchRequest("forecast")).results == ()
            rig.model.steps += [calls(("weather__get_forecast", {"city": "Oslo"})), says("done")]
            await rig.bench.chat("Once more.")
            assert "There is no tool 'weather__get_forecast'." in rig.results[-1]
            assert rig.servers["weather"].calls == []
            assert fold(rig.bench.records()) == rig.bench.state

    async def test_a_tool_that_vanished_and_came_back_waits_for_a_search(self) -> None:
        async with conversation(searches(query="forecast"), servers=None) as rig:
            await change(rig.bench, rig.servers["weather"], [MOON])
            await change(rig.bench, rig.servers["weather"], [MOON, FORECAST])
            assert rig.bench.state.tools["weather:get_forecast"].binding is Binding.DEFERRED
            rig.model.steps += [searches(query="forecast"), says("done")]
            await rig.bench.chat("Once more.")
            assert rig.loaded == ["weather:get_forecast"]

    async def test_a_loaded_tool_that_changed_is_sent_as_it_is_now(self) -> None:
        async with conversation(searches(query="forecast"), servers=None) as rig:
            changed = replace(FORECAST, description="Forecast for a city, for ten days.")
            await change(rig.bench, rig.servers["weather"], [changed])
            assert rig.loaded == ["weather:get_forecast"]
            sent = rig.bench.next_request().tools[-1]["function"]
            assert sent["description"] == "Forecast for a city, for ten days."

    async def test_a_list_that_changes_between_two_steps_of_one_turn_is_in_the_next_call(self) -> None:
        async with connected(searches(query="forecast"), profile="prd") as rig:

            async def grow(*_: object) -> Any:
                await change(rig.bench, rig.servers["weather"], [FORECAST, MOON])
                return await answer(*_)  # type: ignore[arg-type]

            answer = rig.servers["weather"].answer
            rig.servers["weather"].answer = grow
            rig.model.steps += [calls(("weather__get_forecast", {"city": "Oslo"})), says("done")]
            await rig.bench.chat("Forecast?")
            assert "get_moon" in rig.model.requests[-1].tools[0]["function"]["description"]
            assert names(rig.model.requests[-1]) == [*START, "weather__get_forecast"]


class TestToolsets:
    """A toolset filters before anything is deferred, listed or indexed."""

    @staticmethod
    def configuration() -> Configuration:
        without = Toolset("no_shop", "", {"mail": ServerRule(), "calc": ServerRule()})
        partly = Toolset("partly", "", {"shop": ServerRule(exclude=frozenset({"refund_order"}))})
        return replace(configured(office()), toolsets={"no_shop": without, "partly": partly})

    async def test_a_server_that_is_excluded_is_never_seen(self) -> None:
        steps = (searches(query="orders"), searches(server_name="shop"), calls(("shop__list_orders", {})))
        async with conversation(*steps, configuration=self.configuration(), toolset="no_shop") as rig:
            by_query, by_server, by_call = rig.results
            assert "shop" not in rig.bench.state.manifest
            assert "shop:" not in by_query
            assert by_server == "Unknown server 'shop'. Valid servers: mail, calc."
            assert "There is no tool 'shop__list_orders'" in by_call
            assert "shop:" not in by_call
            assert rig.received == 0

    async def test_of_a_server_that_is_partly_excluded_only_the_permitted_tools_are_found(self) -> None:
        steps = (searches(query="refund an order"), searches(tool_names=["refund_order"]))
        async with conversation(*steps, configuration=self.configuration(), toolset="partly") as rig:
            assert "- shop (4 tools): list_orders, get_order, cancel_order, track_parcel" in (
                rig.bench.state.manifest
            )
            assert "shop:refund_order" not in rig.bench.state.tools
            assert all("shop:refund_order" not in text for text in rig.results)


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
