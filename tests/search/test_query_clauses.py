"""A query's clauses and steps: what is asked for, whatever is said around it."""

import pytest
from hypothesis import given, strategies as st

from inspector.search.query import MAX_STEPS, clauses, parse, steps

ASKED = st.sampled_from(
    ["list all open orders", "refund the last payment", "archive old mails", "turn off the hall lamp"]
)
SAID = st.sampled_from(
    ["I had coffee with my sister", "It has been raining for days", "My boss is in a mood", "We got lost"]
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


@given(st.lists(st.one_of(ASKED, SAID), min_size=1, max_size=6), st.randoms())
def test_the_order_of_sentences_changes_no_clause(sentences: list[str], source: object) -> None:
    turned = sorted(sentences, key=lambda text: hash((text, id(source))))
    assert texts(". ".join(sentences)) == texts(". ".join(turned))


@given(ASKED, st.lists(SAID, max_size=20))
def test_statements_around_a_request_are_not_judged(asked: str, said: list[str]) -> None:
    assert texts(". ".join([*said, asked, *said])) == {asked}


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


@given(SAID)
def test_a_statement_alone_is_judged_as_one(said: str) -> None:
    assert [clause.is_statement for clause in parse(said).clauses] == [True]


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


def test_a_query_of_one_step_has_none() -> None:
    assert parse("list all orders").steps == ()
    assert parse("I am curious. List all orders").steps == ()


@given(st.integers(min_value=2, max_value=40))
def test_a_long_query_keeps_every_word_in_at_most_so_many_steps(count: int) -> None:
    query = ". ".join(f"list thing{'abcdefghij'[i % 10] * (i // 10 + 1)}" for i in range(count))
    parsed = parse(query)
    assert 2 <= len(parsed.steps) <= MAX_STEPS
    assert all(any(word in step for step in parsed.steps) for word in query.replace(".", "").split())


@pytest.mark.parametrize("query", ["", "??", "how to", "thanks a lot!", "the", "\ud800"])
def test_a_query_without_content_is_judged_as_it_is(query: str) -> None:
    assert texts(query) == {query}


@given(st.text(max_size=400))
def test_any_text_has_clauses(text: str) -> None:
    assert parse(text).clauses
    assert all(clause.text for clause in clauses(text))
