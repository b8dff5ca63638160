"""A search as the conversation shows it: its results one a line, and what came of them."""

import pytest
from hypothesis import given, settings, strategies as st
from rich.cells import cell_len

from inspector.core.conversation import Item, ItemKind
from inspector.core.ranking import Hit, Outcome, Score, SearchReport, SearchRequest
from inspector.features.chat.conversation import search_block
from inspector.features.marketplace.marketplace import suggestion
from tests.support.hostile import with_hostile_text
from tests.support.marketplace import CURRENCY
from tests.widgets.hostile import dangerous

FOUND = (
    ("shop:list_orders", 0.9, Outcome.LOADED),
    ("shop:mark_shipped", 0.72, Outcome.LOADED),
    ("shop:cancel_order", 0.5, Outcome.ALREADY_LOADED),
)


def item(
    *found: tuple[str, float, Outcome],
    error: str = "",
    scored: int = 84,
    query: str = "late orders",
    note: str = "",
) -> Item:
    hits = tuple(Hit(rank, Score(tool, value), how) for rank, (tool, value, how) in enumerate(found, 1))
    report = SearchReport(SearchRequest(query), "bm25", hits, error=error, scored=scored, note=note)
    loaded = {tool: 100 + rank for rank, (tool, _, how) in enumerate(found) if how is Outcome.LOADED}
    called = frozenset(tool for tool, _, _ in found[:1])
    return Item(
        1,
        ItemKind.SEARCH,
        title=report.request.label(),
        report=report,
        milliseconds=4,
        loaded=loaded,
        called=called,
    )


def lines(*found: tuple[str, float, Outcome], width: int = 76, results: int = 5) -> list[str]:
    return search_block(item(*found), width, results).plain.splitlines()


def test_every_result_has_its_rank_its_bar_and_what_came_of_it() -> None:
    first, second, third = lines(*FOUND)[1:]
    assert first.split() == [
        "1",
        "shop:list_orders",
        "██████████",
        "now",
        "loaded",
        "+100",
        "tokens",
        "✓",
        "called",
    ]
    assert second.split() == ["2", "shop:mark_shipped", "████████", "now", "loaded", "+101"]
    assert third.split()[3:] == ["already", "loaded"]


@pytest.mark.parametrize(
    ("searched", "said"), [(item(), "nothing found"), (item(error="no index"), "no index")]
)
def test_a_search_without_results_says_why(searched: Item, said: str) -> None:
    assert said in search_block(searched).plain


def test_a_search_says_what_its_ranker_had_to_do_without() -> None:
    note = "ranks by words alone: no embedding model is in use"
    assert search_block(item(*FOUND, note=note)).plain.splitlines()[-1] == f"  {note}"
    narrow = search_block(item(*FOUND, note=note), 40).plain.splitlines()[-1]
    assert cell_len(narrow) <= 40


_HITS = st.tuples(
    st.text("abc_:", min_size=1, max_size=60),
    st.floats(0, 1),
    st.sampled_from([Outcome.LOADED, Outcome.FOUND]),
)


@given(st.lists(_HITS, min_size=1, max_size=8), st.integers(48, 160))
@settings(deadline=None)
def test_no_result_takes_more_than_its_line(found: list[tuple[str, float, Outcome]], width: int) -> None:
    assert all(cell_len(line) <= width for line in lines(*found, width=width)[1:])


@with_hostile_text
def test_a_name_or_a_query_cannot_harm_the_terminal(text: str) -> None:
    drawn = search_block(item((text, 1.0, Outcome.LOADED), query=text)).plain
    assert not dangerous(drawn.replace("\n", ""))


def test_plugins_of_the_marketplace_stand_below_the_tools_within_the_width() -> None:
    score = Score("currency:convert_currency", 1.0)
    one = suggestion(CURRENCY, 0.93, "convert_currency", score)
    report = SearchReport(SearchRequest("exchange rate"), "hybrid")
    asked = Item(1, ItemKind.SEARCH, title="“exchange rate”", report=report, suggested=(one,))
    for width in (40, 76, 120):
        head, nothing, title, line = str(search_block(asked, width)).split("\n")
        assert head.startswith("⌕")
        assert nothing.strip() == "nothing found"
        assert "in the marketplace, not installed"[: width - 6] in title
        assert "currency" in line
        assert "93 %" in line
        assert len(title) <= width
        assert len(line) <= width
