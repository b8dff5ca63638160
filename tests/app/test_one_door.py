"""Whatever can be changed goes through a command and is an event; a replay can change nothing."""

from textual.pilot import Pilot
from textual.widgets import Input

from inspector.app.place import WhyNotPage
from inspector.core.ranking import SearchRequest
from inspector.features.search.page import SearchScreen
from tests.support.app import app_rig, arrives, goes, until
from tests.support.fakes import says
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.office import office
from tests.support.workbench import Rig
from widgets import RecordList


async def _searched(pilot: Pilot[None]) -> None:
    await goes(pilot, "search")
    await until(pilot, lambda: isinstance(pilot.app.screen, SearchScreen))
    pilot.app.screen.query_one("#query", Input).focus()
    await pilot.press(*"refund", "enter")


async def _chose_the_next_ranker(pilot: Pilot[None]) -> None:
    listed = pilot.app.screen.query_one("#rankers-list", RecordList)
    await pilot.press("u")
    await until(pilot, lambda: listed.has_focus_within and bool(listed.records))
    await pilot.press("down", "u")
    await pilot.pause()


def _changes(rig: Rig) -> list[tuple[str, ...]]:
    return [event.changed for event in rig.events("settings")]


async def test_a_ranker_chosen_on_the_search_page_is_an_event_and_outlives_another_setting() -> None:
    async with app_rig(servers=office(), embedder=MemoryEmbedder()) as (pilot, rig):
        await _searched(pilot)
        await _chose_the_next_ranker(pilot)
        assert ("discovery.ranker",) in _changes(rig)
        assert rig.bench.settings.discovery.ranker == "bm25"
        rig.bench.policy.set("binding.capacity", 3)
        assert rig.bench.retrieval.ranker_name == "bm25"


async def test_choosing_a_ranker_in_a_replay_leaves_the_live_session_as_it_was() -> None:
    async with app_rig(says("Done."), servers=office(), embedder=MemoryEmbedder()) as (pilot, rig):
        await rig.bench.chat("hello")
        await goes(pilot, "timeline")
        await until(pilot, lambda: rig.bench.state.model_calls == 1)
        await pilot.press("home", "enter")
        await until(pilot, lambda: pilot.app.replay.is_replay)  # type: ignore[attr-defined]
        count = len(rig.bench.records())
        await arrives(pilot, WhyNotPage("shop:get_order", SearchRequest("refund")))
        await _chose_the_next_ranker(pilot)
        assert rig.bench.settings.discovery.ranker == "hybrid"
        assert rig.bench.retrieval.ranker_name == "hybrid"
        assert len(rig.bench.records()) == count
