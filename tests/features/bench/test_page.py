"""The bench page, and its requests, driven by keys."""

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from textual.pilot import Pilot

from inspector.access.reach import EvalCase
from inspector.core.tool import Tool
from inspector.features.bench.bench_text import progress, status
from inspector.features.bench.page import BenchRequestScreen, BenchScreen
from inspector.features.search.page import SearchScreen
from tests.support.app import app_rig, goes, said, until
from tests.support.hostile import KINDS
from tests.support.memory_servers import MemoryServer
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.office import office
from tests.widgets.hostile import dangerous
from tests.widgets.screen import lines
from widgets import PlainInput, RecordList


class HeldEmbedder(MemoryEmbedder):
    """Answers only while it is not held, so that a test can look at a run that is under way."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.free.set()
        self.asked = threading.Event()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked.set()
        assert self.free.wait(30)
        return super().embed(texts)

    def hold(self) -> None:
        self.asked.clear()
        self.free.clear()


def _list(pilot: Pilot[None]) -> RecordList:
    return pilot.app.screen.query_one(RecordList)


async def opened(pilot: Pilot[None]) -> None:
    await goes(pilot, "bench")
    await until(pilot, lambda: isinstance(pilot.app.screen, BenchScreen))
    await until(pilot, lambda: "requests over" in said(pilot, "#bench-facts"))


async def ran(pilot: Pilot[None]) -> None:
    await opened(pilot)
    await pilot.press("r")
    await until(pilot, lambda: "rankers measured" in said(pilot, "#bench-status"))


@pytest.mark.slow
async def test_hostile_tools_and_requests_do_no_harm() -> None:
    tools = [Tool("bad", f"tool_{kind}", text) for kind, text in KINDS.items()]
    cases = [
        EvalCase(kind, text, ((frozenset({f"bad:tool_{kind}"}),)), kind=text) for kind, text in KINDS.items()
    ]
    async with app_rig(servers={"bad": MemoryServer(tools)}, embedder=MemoryEmbedder()) as (pilot, rig):
        rig.bench.retrieval._cases = lambda: tuple(cases)
        await ran(pilot)
        for name in ("hybrid", "prd-bm25"):
            _list(pilot).move_to(name)
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, BenchRequestScreen))
            for _ in range(len(_list(pilot).records)):
                assert not dangerous("".join(lines(pilot.app)))
                await pilot.press("down")
            await pilot.press("escape")
            assert not dangerous("".join(lines(pilot.app)))


async def test_what_was_measured_is_no_search_is_listed_exported_and_marked_once_tools_have_changed(
    tmp_path: Path,
) -> None:
    async with app_rig(servers=office(), embedder=MemoryEmbedder()) as (pilot, rig):
        await ran(pilot)
        assert rig.store.read("s", kinds=("search",)) == []
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, BenchRequestScreen))
        assert "with room for improvement" in said(pilot, "#requests-title")
        await pilot.press("escape")
        _list(pilot).move_to("fuzzy")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, BenchRequestScreen))
        assert "compared with hybrid" in said(pilot, "#requests-title")
        await until(pilot, lambda: "needs" in said(pilot, "#request-detail"))
        await pilot.press("escape")
        await pilot.press("x")
        await until(pilot, lambda: isinstance(pilot.app.focused, PlainInput))
        pilot.app.screen.query_one(PlainInput).value = str(tmp_path / "bench.html")
        await pilot.press("enter")
        await until(pilot, (tmp_path / "bench.html").exists)
        await until(pilot, lambda: isinstance(pilot.app.screen, BenchScreen))
        rig.servers["shop"].change([Tool("shop", "lend_book", "Lend a book.")])
        await until(pilot, lambda: "have changed" in said(pilot, "#bench-status"))
        await until(pilot, lambda: "over 7 tools" in said(pilot, "#bench-facts"))
    text = (tmp_path / "bench.html").read_text()
    assert all(name in text for name in ("hybrid", "fuzzy", "nDCG@10"))


def test_the_status_says_what_goes_on_or_what_to_do() -> None:
    assert "r measures the 6 chosen rankers." in status(6, ()).plain
    assert "No ranker is chosen" in status(0, ()).plain
    assert progress("", is_stopping=False).plain.startswith("Starting")
    assert "Stopping after this request" in progress("dense 3/6", is_stopping=True).plain


async def test_a_request_on_its_page_leads_in_one_key_to_why_its_tool_is_not_first() -> None:
    async with app_rig(servers=office(), embedder=MemoryEmbedder()) as (pilot, _):
        await ran(pilot)
        _list(pilot).move_to("fuzzy")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, BenchRequestScreen))
        chosen = next(one for one in _list(pilot).records if "false yes" not in str(one.cells[1]))
        _list(pilot).move_to(chosen.key)
        await pilot.press("w")
        await until(pilot, lambda: isinstance(pilot.app.screen, SearchScreen))
        search = pilot.app.screen
        assert isinstance(search, SearchScreen)
        assert search.request.query == chosen.copy
        assert search.own_tool
