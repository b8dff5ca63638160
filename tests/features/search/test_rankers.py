"""The rankers pane: a tool's rank under every ranker."""

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from inspector.app.dialogs.detail import DetailScreen
from inspector.app.place import WhyNotPage
from inspector.core.ranking import SearchRequest
from inspector.features.search import rankers_pane as content
from inspector.search.answer.standing import standings_under
from inspector.search.ranker.ranker_list import INFO, RANKERS
from tests.support.app import app_rig, arrives, said, until
from tests.support.hostile import with_hostile_text
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.office import office
from tests.support.retrieval import rankers_of, ranks_of
from tests.widgets.hostile import dangerous
from widgets import RecordList, TextView

QUERY = "send the customer of a late order a message"
TOOLS = tuple(tool for server in office().values() for tool in server.tools)
CATALOG = rankers_of(TOOLS)
CANCEL = "shop:cancel_order"


def _ranked(name: str) -> content.Ranked:
    return content.Ranked(standings_under(CATALOG, QUERY, name), tuple(tool.id for tool in TOOLS))


@pytest.mark.parametrize("name", [name for name in RANKERS if not INFO[name].slow])
def test_a_row_has_the_rank_of_the_tool_and_what_the_ranker_finds_first(name: str) -> None:
    (row,) = content.rows((name,), {name: _ranked(name)}, CANCEL, "hybrid")
    standing = ranks_of(CATALOG, QUERY, CANCEL, (name,))[name]
    mark, label, rank, first = map(str, row.cells)
    assert (mark, label) == ("▸" if name == "hybrid" else "", INFO[name].stands_for)
    assert rank == (str(standing.rank) if standing.kept else "–")
    best = standings_under(CATALOG, QUERY, name).kept(1)
    assert first == (TOOLS[best[0]].id if best else "nothing")


def test_the_best_rank_of_a_tool_is_bold_and_what_is_to_come_has_a_place() -> None:
    found = {name: _ranked(name) for name in ("hybrid", "bm25", "dense")}
    rows = content.rows(RANKERS, found, "mail:send_message", "hybrid")
    assert [str(row.cells[2]) for row in rows].count("…") == len(RANKERS) - 3
    ranks = {row.key: _ranked(row.key).rank("mail:send_message") for row in rows if row.key in found}
    best = min(rank for rank in ranks.values() if rank is not None)
    bold = {row.key for row in rows if "bold" in {span.style for span in getattr(row.cells[2], "spans", ())}}
    assert bold == {name for name, rank in ranks.items() if rank == best}


@with_hostile_text
def test_hostile_text_does_no_harm(text: str) -> None:
    ranked = _ranked("hybrid")
    noted = replace(ranked.standings.ranking, note=text)
    ranked.standings.ranking = noted
    for drawn in (
        content.facts(text, text, RANKERS, {"hybrid": ranked}),
        content.notes({"hybrid": ranked}),
    ):
        assert not dangerous(drawn.plain.replace("\n", ""))


def _list(pilot: Pilot[None]) -> RecordList:
    return pilot.app.screen.query_one("#rankers-list", RecordList)


def _is_complete(pilot: Pilot[None]) -> bool:
    return bool(_list(pilot).records) and not any(str(row.cells[2]) == "…" for row in _list(pilot).records)


async def test_every_ranker_ranks_the_persons_tool_and_enter_shows_the_formula() -> None:
    async with app_rig(servers=office(), embedder=MemoryEmbedder(), size=(80, 24)) as (pilot, rig):
        await arrives(pilot, WhyNotPage(CANCEL, SearchRequest(QUERY)))
        await pilot.press("c")
        await until(pilot, lambda: _is_complete(pilot))
        assert [row.key for row in _list(pilot).records] == list(RANKERS)
        standings = ranks_of(rig.bench.retrieval.rankers, QUERY, CANCEL, RANKERS)
        expected = [str(standing.rank) if standing.kept else "–" for standing in standings.values()]
        assert [str(row.cells[2]) for row in _list(pilot).records] == expected
        assert CANCEL in said(pilot, "#rankers-facts")
        await until(pilot, lambda: _list(pilot).has_focus_within)
        await pilot.press("down", "enter")
        assert isinstance(pilot.app.screen, DetailScreen)
        assert INFO["bm25"].formula in pilot.app.screen.query_one(TextView).text
