"""The probability that a tool fits, which decides whether a search answers at all."""

from dataclasses import replace

import numpy as np
import pytest

from inspector.core.tool import Tool
from inspector.search.rankers.hybrid import NAMED, WORDS_ALONE, FitModel, FitSignals, is_named
from inspector.search.rankers.ranker import LOOKED_AT, Ranking
from inspector.search.vocabulary import terms
from tests.support.retrieval import rankers_of

TOOLS = (
    Tool("tracker", "create_issue", "Open a ticket."),
    Tool("tracker", "close_issue", "Close an issue, with a comment about the reason."),
    Tool("wiki", "search", "Search pages."),
    *(Tool("lights", f"scene{number}", "Set the lamps of a room.") for number in range(8)),
)


def ranking(fit: list[float]) -> Ranking:
    values = np.arange(len(fit), 0, -1, dtype=float)
    return Ranking(values, np.ones(len(fit), bool), lambda _: pytest.fail("not asked"), np.array(fit))


def test_a_query_is_as_likely_to_be_answered_as_the_likeliest_of_the_first_tools() -> None:
    assert ranking([0.2, 0.6, 0.1]).probability == 0.6
    assert ranking([0.2] * LOOKED_AT + [0.9]).probability == 0.2
    assert ranking([]).probability is None


@pytest.mark.parametrize(
    ("coverage", "best_cosine", "mean_cosine", "words", "logit"),
    [
        (0.0, 0.0, 0.0, 0, -16.3 + 4.9 * 2.079442),
        (0.0, 0.0, 0.0, 8, -16.3 + 4.9 * 2.079442),
        (1.0, 0.6, 0.45, 10, -16.3 + 0.7 + 2.7 + 1.665 + 4.9 * 2.302585),
        (0.4, 0.5, 0.3, 12, -16.3 + 0.28 + 2.25 + 1.11 + 4.9 * 2.484907),
        (0.0, -0.1, -0.2, 200, -16.3 - 0.45 - 0.74 + 4.9 * 2.484907),
    ],
)
def test_the_probability_is_that_of_the_documented_logistic_model(
    coverage: float, best_cosine: float, mean_cosine: float, words: int, logit: float
) -> None:
    signals = FitSignals(np.array([coverage]), words, np.array([best_cosine]), np.array([mean_cosine]))
    assert logit_of(signals) == pytest.approx(logit, abs=1e-4)


def logit_of(signals: FitSignals) -> float:
    (probability,) = FitModel().probability(signals)
    return float(np.log(probability / (1 - probability)))


def test_without_the_models_vectors_words_and_static_vectors_judge() -> None:
    near, far = np.array([0.9]), np.array([0.1])
    right, wrong = (FitSignals(one, 4, static_cosine=one) for one in (near, far))
    assert WORDS_ALONE.probability(right)[0] > 0.5 > WORDS_ALONE.probability(wrong)[0]


def test_small_talk_a_statement_and_another_verb_make_every_tool_less_likely() -> None:
    one = np.array([0.5])
    plain = FitSignals(one, 5, one, one)
    changed = [
        replace(plain, small_talk=0.5),
        replace(plain, is_statement=True),
        replace(plain, conflict=np.array([True])),
        replace(plain, small_talk=-0.5, conflict=np.array([False])),
    ]
    differences = [logit_of(signals) - logit_of(plain) for signals in changed]
    assert differences == pytest.approx([-3.45, -0.5, -2.0, 3.45])


@pytest.mark.parametrize(
    ("name", "query", "named"),
    [
        ("create_issue", "Create an issue about the broken lamp", True),
        ("createIssue", "issues: create one", True),
        ("create_issue", "an issue about the broken lamp", False),
        ("search", "search the moon", False),
        ("", "anything", False),
    ],
)
def test_a_name_of_several_words_counts_when_all_of_them_are_asked_for(
    name: str, query: str, named: bool
) -> None:
    assert is_named(name, frozenset(terms(query))) is named


def test_a_tool_whose_name_is_in_the_request_is_never_refused() -> None:
    hybrid = rankers_of(TOOLS).get("hybrid")
    query = "create some issue about zebras, volcanoes, submarines and the price of tulips in Amsterdam"
    found = hybrid.rank(query)
    position = next(p for p, tool in enumerate(TOOLS) if tool.name == "create_issue")
    assert found.fit is not None
    assert found.fit[position] >= NAMED
    assert found.probability is not None
    assert found.probability >= NAMED
    unnamed = hybrid.rank(query.replace("issue", "thing")).fit
    assert unnamed is not None
    assert unnamed[position] < NAMED
