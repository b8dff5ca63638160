"""Whether a search answers depends on what is asked, not on how, nor on what else is said."""

import itertools

import pytest
from hypothesis import given, strategies as st

from inspector.core.settings import DiscoverySettings
from inspector.search.query import MAX_STEPS
from inspector.search.rankers.catalog_rankers import CatalogRankers
from inspector.search.rankers.hybrid import MAX_CLAUSES, NAMED
from inspector.search.semantics import Semantics
from tests.support.memory_vectors import MemoryVectors
from tests.support.office import office
from tests.support.retrieval import CountingEmbedder, rankers_of, semantic_index

TOOLS = tuple(tool for server in office().values() for tool in server.tools)
HYBRID = rankers_of(TOOLS).hybrid
# Some that a tool of the office serves, some that none does.
REQUESTS = (
    "refund a late order",
    "list messages about an order",
    "invite people to an event",
    "tune the piano in the hall",
    "delete every order of last year",
    "translate a poem into Finnish",
)
COURTESIES = (
    "could you please {} for me, thanks a lot, it is urgent",
    "Hello! Would you mind helping? I want you to {} when you have a moment. Many thanks!",
    "hi there, {} if possible",
    "Good morning, I would like to {} as soon as possible. Have a great day!",
)
STATEMENTS = (
    "I had coffee with my sister",
    "It has been raining for days, and everybody complains",
    "We sent so many messages about that order last week",
    "My boss refunds nobody",
)


def probability(query: str) -> float:
    found = HYBRID.rank(query).probability
    assert found is not None
    # Vectors of several texts are compared at once, which rounds the last digits otherwise.
    return round(found, 6)


@pytest.mark.parametrize(("request_", "courtesy"), itertools.product(REQUESTS, COURTESIES))
def test_a_courtesy_never_makes_an_answer_likelier(request_: str, courtesy: str) -> None:
    said = courtesy.format(request_)
    assert probability(said) <= probability(request_)


@given(st.sampled_from(REQUESTS), st.lists(st.sampled_from(STATEMENTS), max_size=12), st.integers(0, 12))
def test_padding_of_any_length_changes_nothing(request_: str, padding: list[str], place: int) -> None:
    sentences = [*padding[:place], request_, *padding[place:]]
    assert probability(". ".join(sentences)) == probability(request_)


@given(st.lists(st.sampled_from(REQUESTS), min_size=2, max_size=4, unique=True))
def test_two_requests_are_as_likely_to_be_answered_as_the_likelier_one(requests: list[str]) -> None:
    assert probability(". ".join(requests)) == max(map(probability, requests))


@given(st.permutations(REQUESTS))
def test_the_order_of_clauses_changes_nothing(requests: list[str]) -> None:
    assert probability(". ".join(requests)) == probability(". ".join(REQUESTS))


def test_a_name_counts_only_where_all_its_words_are_asked_for_together() -> None:
    name = next(tool.name for tool in TOOLS if "_" in tool.name)
    words = name.replace("_", " ")
    together, apart = f"the {words} thing", ". ".join(f"the {word} thing" for word in words.split())
    assert probability(together) >= NAMED
    assert probability(apart) < probability(together)


def test_of_very_many_clauses_those_that_share_words_with_tools_are_judged() -> None:
    noise = [f"paint the {word} fence" for word in ("red", "old", "tall", "long", "wet", "dry", "new", "low")]
    many = [f"{sentence} {number}x" for number in ("one", "two", "three") for sentence in noise]
    assert len(many) > MAX_CLAUSES
    assert probability(". ".join([*many, "refund a late order"])) >= probability("refund a late order")


def test_of_a_very_long_message_only_so_many_texts_are_embedded() -> None:
    embedder = CountingEmbedder()
    index = semantic_index(TOOLS, Semantics(embedder, MemoryVectors()))
    hybrid = CatalogRankers(index, DiscoverySettings()).hybrid
    hybrid.rank("list orders")
    embedder.texts.clear()
    sentences = (f"paint fence number {'abcdefghij'[n % 10] * (n // 10 + 1)}" for n in range(60))
    hybrid.rank(". ".join(sentences))
    assert len(embedder.texts) <= 2 + MAX_STEPS + MAX_CLAUSES
