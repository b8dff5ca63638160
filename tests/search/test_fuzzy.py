"""The ToolSearchTool document: its formula, its output, and what the formula does to a search."""

from difflib import SequenceMatcher

import pytest
from hypothesis import given, strategies as st

from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.search.rankers.fuzzy import FuzzyRanker, ratio
from tests.support.retrieval import rankers_of

OPEN_URL = Tool(
    "web",
    "open_url",
    "Fetch a URL and return a clean text excerpt.",
    title=(
        "Use this when you need exact content from a specific URL. "
        "Prefer this after search results identify a likely source."
    ),
)
SEND = Tool("mail", "send_message", "Send a message to a person.")
TOOLS = (OPEN_URL, SEND, Tool("calc", "evaluate", "Compute the value of an expression."))
letters = st.sampled_from("abcde ")


def value(tool: Tool, query: str, *, repaired: bool = False) -> float:
    return float(FuzzyRanker([tool], repaired=repaired).rank(query).values[0])


def hits(tool: Tool, query: str, *, repaired: bool = False) -> list[str]:
    score = FuzzyRanker([tool], repaired=repaired).rank(query).explain(0)
    return [part.term for part in score.parts[1:]]


@given(
    st.text(letters, max_size=40),
    st.one_of(st.text(letters, max_size=60), st.text(letters, min_size=195, max_size=320)),
    st.booleans(),
)
def test_the_ratio_is_that_of_difflib(a: str, b: str, autojunk: bool) -> None:
    assert ratio(a, b, autojunk) == SequenceMatcher(None, a, b, autojunk=autojunk).ratio()


@given(st.text(max_size=20), st.text(max_size=250), st.booleans())
def test_the_ratio_is_that_of_difflib_for_any_text(a: str, b: str, autojunk: bool) -> None:
    text = b + a * 3 + b
    assert ratio(a, text, autojunk) == SequenceMatcher(None, a, text, autojunk=autojunk).ratio()


def test_a_score_is_the_ratio_and_a_bonus_for_every_query_word_in_the_text() -> None:
    haystack = "send_message send a message to a person."
    expected = SequenceMatcher(None, "message a friend", haystack).ratio() + 0.12 * 2
    assert value(SEND, "Message a friend") == pytest.approx(expected)
    assert hits(SEND, "Message a friend") == ["message", "a"]


def test_bonus_and_floor_are_settings() -> None:
    settings = DiscoverySettings(token_bonus=0.5, fuzzy_floor=0.6)
    ranking = rankers_of(TOOLS, semantic=False, settings=settings).get("fuzzy").rank("message zzz")
    assert ranking.explain(1).parts[1].value == 0.5
    assert ranking.kept.tolist() == [False, True, False]


def test_a_query_word_that_is_there_twice_gets_its_bonus_twice() -> None:
    parts = FuzzyRanker([SEND]).rank("send send").explain(0).parts
    assert [(part.term, part.value) for part in parts[1:]] == [("send", 0.24)]


def test_the_score_in_the_document_cannot_come_from_its_formula() -> None:
    assert hits(OPEN_URL, "fetch a specific URL") == ["fetch", "a", "specific", "url"]
    assert value(OPEN_URL, "fetch a specific URL") > 4 * 0.12 > 0.4217


def test_a_long_text_matches_nothing_at_all_because_difflib_ignores_its_frequent_characters() -> None:
    tool = Tool("s", "report", "the note states that these " * 8)
    assert value(tool, "tenants") == 0.0
    assert value(tool, "tenants", repaired=True) > 0.0


def test_a_short_text_with_the_same_words_does_match() -> None:
    assert value(Tool("s", "report", "the note states that these"), "tenants") > 0.0


def test_words_hit_within_other_words_unless_repaired() -> None:
    tool = Tool("s", "download_data", "Windows domains.")
    assert hits(tool, "do a") == ["do", "a"]
    assert hits(tool, "do a", repaired=True) == []


def test_repaired_words_hit_however_the_name_is_written_and_whatever_stands_beside_them() -> None:
    tool = Tool("s", "downloadData", "Every domain.")
    assert hits(tool, "download every domain?") == ["download", "every"]
    assert hits(tool, "download every domain?", repaired=True) == ["download", "every", "domain"]


def test_nonsense_is_over_the_floor() -> None:
    assert FuzzyRanker(TOOLS).rank("xyzzy plugh frotz").kept.all()


def test_what_shares_no_character_is_below_the_floor() -> None:
    assert not FuzzyRanker(TOOLS).rank("天気").kept.any()


def test_tools_of_the_same_score_stay_in_their_order() -> None:
    twins = [Tool("b", "send", "Send it."), Tool("a", "send", "Send it."), Tool("c", "send", "Send it.")]
    assert FuzzyRanker(twins).rank("send").order() == [0, 1, 2]


@pytest.mark.parametrize("repaired", [False, True])
def test_of_a_book_only_the_beginning_is_compared(repaired: bool) -> None:
    book = Tool("s", "x", "ab" * 500_000)
    (part, *_) = FuzzyRanker([book], repaired=repaired).rank("ba" * 500_000).explain(0).parts
    assert part.inputs["haystack length"] == 2_000
