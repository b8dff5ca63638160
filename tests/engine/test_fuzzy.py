"""The ToolSearchTool document: its formula, its output, and what the formula does to a search."""

from difflib import SequenceMatcher

import pytest
from hypothesis import given, strategies as st

from inspector.domain.tool import Tool
from inspector.engine.discovery.rankers.fuzzy import FuzzyRanker, tool_search
from inspector.engine.discovery.rankers.sequence_match import ratio

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
    assert len(tool_search(TOOLS, "xyzzy plugh frotz").metadata["matches"]) == len(TOOLS)


def test_what_shares_no_character_is_below_the_floor() -> None:
    assert not FuzzyRanker(TOOLS).rank("天気").kept.any()


def test_the_answer_is_a_ranked_list_with_hints_where_there_are_any() -> None:
    answer = tool_search([SEND, OPEN_URL], "fetch a specific URL", 3)
    first, second = (match["score"] for match in answer.metadata["matches"])
    assert answer.text == (
        "Best tools for 'fetch a specific URL' (ranked by relevance):\n"
        f"1. open_url (score={first:.4f}) — Fetch a URL and return a clean text excerpt.\n"
        "   ↳ when to use: Use this when you need exact content from a specific URL. "
        "Prefer this after search results identify a likely source.\n"
        f"2. send_message (score={second:.4f}) — Send a message to a person."
    )


def test_the_metadata_has_the_query_the_limit_the_candidates_and_the_matches() -> None:
    metadata = tool_search(TOOLS, "fetch a specific URL", 1).metadata
    assert {key: metadata[key] for key in ("query", "limit", "total_candidates")} == {
        "query": "fetch a specific URL",
        "limit": 1,
        "total_candidates": 3,
    }
    assert metadata["matches"] == [
        {
            "name": "open_url",
            "description": OPEN_URL.description,
            "prompt_instructions": OPEN_URL.title,
            "score": round(value(OPEN_URL, "fetch a specific URL"), 4),
        }
    ]


@pytest.mark.parametrize(("asked", "effective"), [(None, 5), (-3, 1), (0, 1), (7, 7), (10, 10), (99, 10)])
def test_the_limit_is_clamped(asked: int | None, effective: int) -> None:
    twelve = [Tool("s", "send_message", "Send a message.") for _ in range(12)]
    metadata = tool_search(twelve, "send a message", asked).metadata
    assert metadata["limit"] == effective == len(metadata["matches"])


def test_the_options_of_the_document_can_be_set() -> None:
    twelve = [Tool("s", "send_message") for _ in range(12)]
    assert len(tool_search(twelve, "send", max_limit=15, default_limit=8).metadata["matches"]) == 8
    assert len(tool_search(twelve, "send", 99, max_limit=11).metadata["matches"]) == 11
    plain, raised = (tool_search([SEND], "send", token_bonus=b).metadata["matches"][0] for b in (0.0, 0.5))
    assert raised["score"] == pytest.approx(plain["score"] + 0.5)


def test_tools_of_the_same_score_stay_in_their_order() -> None:
    twins = [Tool("b", "send", "Send it."), Tool("a", "send", "Send it."), Tool("c", "send", "Send it.")]
    assert FuzzyRanker(twins).rank("send").order() == [0, 1, 2]


def test_a_search_without_a_match_says_so() -> None:
    answer = tool_search(TOOLS, "天気")
    assert answer.text == "No matching tools for '天気'."
    assert answer.metadata["matches"] == []


@pytest.mark.parametrize("repaired", [False, True])
def test_of_a_book_only_the_beginning_is_compared(repaired: bool) -> None:
    book = Tool("s", "x", "ab" * 500_000)
    (part, *_) = FuzzyRanker([book], repaired=repaired).rank("ba" * 500_000).explain(0).parts
    assert part.inputs["haystack length"] == 2_000
