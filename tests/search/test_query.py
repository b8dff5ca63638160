"""How a query is read: its clauses and steps, its literals, its misspelt words."""

import pytest
from hypothesis import given, strategies as st

from inspector.search.index.literal import typed
from inspector.search.index.query import MAX_STEPS, clauses, parse, steps
from inspector.search.index.semantics import Spelling

ASKED = st.sampled_from(
    ["list all open orders", "refund the last payment", "archive old mails", "turn off the hall lamp"]
)
COURTESIES = st.sampled_from(
    [
        "could you please {} for me, thanks a lot, it is urgent",
        "Hello there! {}, if you don't mind.",
        "hi, I would like you to {} as soon as possible",
        "Please {}. Many thanks in advance and have a great day!",
        "can you help me to {}?",
        "{}, thank you so much",
        "Good morning! I need to {} when you have a moment.",
    ]
)


def texts(query: str) -> set[str]:
    return {clause.text for clause in parse(query).clauses}


@given(ASKED, COURTESIES)
def test_a_courtesy_leaves_nothing_behind(asked: str, courtesy: str) -> None:
    assert texts(courtesy.format(asked)) == {asked} | (
        {"I hope you are well"} if "hope" in courtesy else set[str]()
    )


@pytest.mark.parametrize(
    "said",
    [
        "Honestly, nobody ever reads those minutes",
        "The lift is broken again",
        "Cities are loud, villages are dull",
        "You always cheer me up",
        "What a week this was",
        "Trains in my country haven't been on time since the war",
    ],
)
def test_a_subject_and_its_verb_ask_for_nothing(said: str) -> None:
    assert [clause.is_statement for clause in clauses(said)] == [True]


@pytest.mark.parametrize(
    "asked",
    [
        "My disk is full, delete the oldest backup",
        "Our edits are done - publish the site",
        "orders that are still open",
        "which of the flats are empty",
        "weather radar map",
        "Shut the door, it is cold",
        "invoices of March",
        "Don't forget to lock the garage",
    ],
)
def test_an_imperative_or_a_few_words_without_a_verb_ask(asked: str) -> None:
    assert [clause.is_statement for clause in clauses(asked)] == [False]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("list orders and mails", ("list orders and mails",)),
        (
            "find the order, then refund it and send a receipt",
            ("find the order", "refund it", "send a receipt"),
        ),
        ("Resize logo.png. After that, upload it!", ("Resize logo.png", "upload it")),
        ("Look up Dr. Smith, e.g. by name", ("Look up Dr. Smith, e.g. by name",)),
        ("I'm moving. Find a van; book two helpers", ("Find a van", "book two helpers")),
    ],
)
def test_a_step_begins_with_a_sentence_or_another_verb(query: str, found: tuple[str, ...]) -> None:
    assert steps(query) == found


@given(st.integers(min_value=2, max_value=40))
def test_a_long_query_keeps_every_word_in_at_most_so_many_steps(count: int) -> None:
    query = ". ".join(f"list thing{'abcdefghij'[i % 10] * (i // 10 + 1)}" for i in range(count))
    parsed = parse(query)
    assert 2 <= len(parsed.steps) <= MAX_STEPS
    assert all(any(word in step for step in parsed.steps) for word in query.replace(".", "").split())


@pytest.mark.parametrize("query", ["", "??", "how to", "thanks a lot!", "the", "\ud800"])
def test_a_query_without_content_is_judged_as_it_is(query: str) -> None:
    assert texts(query) == {query}


@pytest.mark.parametrize(
    ("query", "without"),
    [
        ("read notes/2024/plan.md", "read markdown file"),
        ("put offer-2044.pdf into the “Sales” folder", "put pdf file into the folder"),
        ("open C:\\data\\table.xlsx", "open spreadsheet file"),
        ("list everything in /var/log/", "list everything in folder"),
        ("summarize https://example.com/a?b=1#c please", "summarize url please"),
        ("write to jo@example.co.uk now", "write to email now"),
        ('search for "blue whale" in the wiki', "search for in the wiki"),
        ("add `x = 1` to 'main.py'", "add to python file"),
        ("close #42 and T-1001, pay pi_3Nx", "close and , pay"),
        ("find 550e8400-e29b-41d4-a716-446655440000", "find"),
        ("what happened on 2026-11-22 at 10:30?", "what happened on date at time ?"),
        ("go to example.com", "go to url"),
        ("sum B2:B40, not C12", "sum cell range , not cell"),
        ("pay $45.50 or 20 euros at 5pm", "pay amount or amount at time"),
        ("logs in S3 for Q3", "logs in S3 for Q3"),
        ("servers in us-east-1", "servers in us-east-1"),
    ],
)
def test_a_literal_leaves_its_kind_or_nothing(query: str, without: str) -> None:
    assert typed(query) == without


@pytest.mark.parametrize("name", ["Neo4j", "S3", "oauth2", "3D", "B2B", "k8s", "don't", "rock 'n' roll"])
def test_a_name_with_a_digit_or_an_apostrophe_is_no_literal(name: str) -> None:
    assert typed(f"ask about {name} today") == f"ask about {name} today"


@given(st.text(max_size=300))
def test_any_text_is_read_and_what_is_left_is_read_the_same_again(text: str) -> None:
    without = typed(text)
    assert "  " not in without
    assert parse(text).wordings[0] == text


COMMON = (
    "turn",
    "lights",
    "light",
    "cancel",
    "order",
    "home",
    "page",
    "weather",
    "tomorrow",
    "the",
    "off",
    "homage",
    "attended",
    "commander",
)
CATALOG = frozenset({"thermostat", "refund", "ordex"})
SPELLING = Spelling(COMMON)


def read(text: str) -> str:
    return SPELLING.corrected(text, CATALOG.__contains__, lambda: CATALOG)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("turn off the lihgts", "turn off the lights"),
        ("cancle the ordr", "cancel the order"),
        ("refnud the order", "refund the order"),
        ("the wether tommorow", "the weather tomorrow"),
        ("themrostatt off", "thermostat off"),
    ],
)
def test_a_typing_error_is_read_as_the_nearest_known_word(written: str, meant: str) -> None:
    assert read(written) == meant


@pytest.mark.parametrize(
    "text",
    [
        "mail Ligts about it",
        "open the homepage",
        "ask ordex",
        "turned lighted ordering",
        "one attendee more",
        "coriander",
        "see ordr@shop.com, /var/ordr and ordr.md",
        "plumber",
    ],
)
def test_names_known_words_joined_words_and_values_stay(text: str) -> None:
    assert read(text) == text


def test_of_equally_near_words_the_one_of_the_catalog_is_meant() -> None:
    own = frozenset({"card"})
    assert Spelling(("cart",)).corrected("show the carz", own.__contains__, lambda: own) == "show the card"


def test_the_catalog_is_asked_for_words_that_the_model_lacks_and_read_for_misspelt_ones() -> None:
    def unread() -> frozenset[str]:
        raise AssertionError("nothing is unknown here")

    def unasked(word: str) -> bool:
        raise AssertionError(word)

    assert SPELLING.corrected("turn off the lights", unasked, unread) == "turn off the lights"
    text = "turn off the ordex"
    assert SPELLING.corrected(text, CATALOG.__contains__, unread) == text
