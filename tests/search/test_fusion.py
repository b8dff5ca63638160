"""The default ranker: what its signals weigh, and how likely it is that any tool fits."""

import math
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace
from numpy.typing import NDArray

from inspector.core.ranking import Score, Signal
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.search.index.document import SUMMARY
from inspector.search.index.query import parse
from inspector.search.index.tool_index import ToolIndex
from inspector.search.index.vocabulary import terms
from inspector.search.ranker.bm25 import AS_WRITTEN, Bm25Ranker
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.fusion import WITHOUT_MODEL, FusionRanker, FusionWeights
from inspector.search.ranker.hybrid import NAMED, FitModel, FitSignals, is_named
from inspector.search.ranker.query_fusion import QueryFusion, ServerPrior
from inspector.search.ranker.ranker import LOOKED_AT, Ranking
from tests.support.office import office
from tests.support.retrieval import memory_semantics, rankers_of, semantic_index

TOOLS = tuple(tool for server in office().values() for tool in server.tools)
INDEX = semantic_index(TOOLS)
QUERIES = ("where is my late order", "invite people to an event", "refund", "messages about an order")
WEIGHTS, FIT = FusionWeights(), FitModel()
EXACTLY = 1e-12
ONE, STEPS, LITERAL = (
    "list late orders",
    "Refund the last order. Then send a message to the customer and list the events",
    "refund order #4711 as in notes/refund.md",
)


def z(values: NDArray[np.float64]) -> NDArray[np.float64]:
    standardised: NDArray[np.float64] = (values - values.mean()) / values.std()
    return standardised


def cosines(query: str) -> NDArray[np.float64]:
    vector = INDEX.query_vector(query)
    assert vector is not None
    return INDEX.similarities(vector)


def static_cosines(query: str) -> NDArray[np.float64]:
    assert INDEX.static is not None
    row: NDArray[np.float64] = INDEX.static_similarities_of(INDEX.static.embed([query]))[0]
    return row


def fusion(index: ToolIndex = INDEX) -> FusionRanker:
    return CatalogRankers(index, DiscoverySettings()).fusion


def of_meaning(query: str) -> NDArray[np.float64]:
    return (
        WEIGHTS.static * z(static_cosines(query))
        + WEIGHTS.summary * z(cosines(query)[SUMMARY])
        + WEIGHTS.best_passage * z(cosines(query).max(axis=0))
    )


def of_words(query: str, weights: FusionWeights) -> NDArray[np.float64]:
    words, written = (Bm25Ranker(INDEX, settings).rank(query).values for settings in (None, AS_WRITTEN))
    return weights.lexical * z(words) + weights.written * z(written)


@pytest.mark.parametrize("query", QUERIES[:2])
def test_a_score_is_the_weighted_sum_of_its_standardized_signals(query: str) -> None:
    expected = of_words(query, WEIGHTS) + of_meaning(query)
    assert fusion().rank(query).values == pytest.approx(expected, abs=1e-9)
    assert (WEIGHTS.total, WITHOUT_MODEL.total) == pytest.approx((1.0, 1.0))


@pytest.mark.parametrize("query", QUERIES[:2])
def test_until_the_model_has_embedded_the_tools_a_score_is_words_and_static_vectors(query: str) -> None:
    expected = of_words(query, WITHOUT_MODEL) + WITHOUT_MODEL.static * z(static_cosines(query))
    found = fusion(ToolIndex(TOOLS, semantics=memory_semantics())).rank(query)
    assert found.values == pytest.approx(expected, abs=1e-9)
    assert found.note == f"ranks by words alone: 0 of {len(TOOLS)} tools embedded"


def ranked(query: str) -> NDArray[np.float64]:
    whole = QueryFusion(INDEX, fusion(), ServerPrior(INDEX))
    return whole.ranking(whole.evidence(parse(query))).values


def with_siblings(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The scores, each with a tenth of the mean of its server's three best."""
    best: dict[str, list[float]] = {}
    for tool, value in zip(TOOLS, values, strict=True):
        best.setdefault(tool.server, []).append(float(value))
    three = {server: sorted(found, reverse=True)[:3] for server, found in best.items()}
    return values + [0.1 * math.fsum(three[t.server]) / len(three[t.server]) for t in TOOLS]


@pytest.mark.parametrize("query", [QUERIES[0], ONE])
def test_a_plain_query_scores_as_its_fusion_with_a_tenth_of_the_servers_three_best(query: str) -> None:
    assert (parse(query).wordings, parse(query).steps) == ((query,), ())
    assert ranked(query) == pytest.approx(with_siblings(fusion().rank(query).values), abs=1e-9)


def test_the_wording_without_literals_counts_half() -> None:
    with_them, without = parse(LITERAL).wordings
    assert (with_them, without) == (LITERAL, "refund order as in markdown file")
    expected = (fusion().rank(with_them).values + fusion().rank(without).values) / 2
    assert ranked(LITERAL) == pytest.approx(with_siblings(expected), abs=EXACTLY)


def test_the_best_of_three_steps_counts_3_tenths() -> None:
    steps = parse(STEPS).steps
    assert steps == ("Refund the last order", "Then send a message to the customer", "list the events")
    best = np.max([fusion().rank(step).values for step in steps], axis=0)
    expected = 0.7 * fusion().rank(STEPS).values + 0.3 * best
    assert ranked(STEPS) == pytest.approx(with_siblings(expected), abs=EXACTLY)


@given(st.sampled_from([*QUERIES, ONE, STEPS, LITERAL, f"{LITERAL}, then {STEPS}"]))
def test_the_parts_name_step_siblings_and_every_signal_and_add_up(query: str) -> None:
    whole = QueryFusion(INDEX, fusion(), ServerPrior(INDEX))
    ranking = whole.ranking(whole.evidence(parse(query)))
    for position in range(len(TOOLS)):
        score = ranking.explain(position)
        assert score.adds_up()
        terms = [part.term for part in score.parts if part.signal is Signal.SEMANTIC]
        assert [term.partition(":")[0] for term in terms] == ["static vectors", "summary", "best"]
        assert_cosines_explain_their_parts(score)
        step = [part for part in score.parts if part.signal is Signal.STEP]
        assert len(step) == bool(parse(query).steps)
        for part in step:
            assert part.term == parse(query).steps[int(part.inputs["step"]) - 1]
            assert part.value == pytest.approx(part.inputs["share"] * part.inputs["score"])
        siblings = [part for part in score.parts if part.term == "siblings that fit"]
        assert [part.signal for part in siblings] == [Signal.SERVER]


def test_both_wordings_of_a_query_are_explained_by_reading_a_tool_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read, parts = Mock(), Bm25Ranker.parts
    monkeypatch.setattr(Bm25Ranker, "parts", lambda *given: (read(), parts(*given))[1])
    ranking = CatalogRankers(INDEX, DiscoverySettings()).hybrid.rank(LITERAL)
    assert len(parse(LITERAL).wordings) == 2
    ranking.explain(0)
    assert read.call_count == len((None, AS_WRITTEN))


def assert_cosines_explain_their_parts(score: Score) -> None:
    """Over both wordings too; the whole query counts what its best step leaves."""
    share = math.fsum(part.inputs["share"] for part in score.parts if part.signal is Signal.STEP)
    for part in (part for part in score.parts if part.signal is Signal.SEMANTIC):
        known = part.inputs
        expected = (1 - share) * known["weight"] * known["cosine"] / known["deviation"]
        assert part.value == pytest.approx(expected)


TOOLS_FIT = (
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
    ("coverage", "best_cosine", "mean_cosine", "words", "counted"),
    [
        (0.0, 0.0, 0.0, 0, 8),
        (0.0, 0.0, 0.0, 8, 8),
        (1.0, 0.6, 0.45, 10, 10),
        (0.4, 0.5, 0.3, 12, 12),
        (0.0, -0.1, -0.2, 200, 12),
    ],
)
def test_the_probability_is_that_of_the_documented_logistic_model(
    coverage: float, best_cosine: float, mean_cosine: float, words: int, counted: int
) -> None:
    signals = FitSignals(np.array([coverage]), words, np.array([best_cosine]), np.array([mean_cosine]))
    of_tool = (FIT.coverage * coverage, FIT.best_cosine * best_cosine, FIT.mean_cosine * mean_cosine)
    expected = FIT.intercept + math.fsum(of_tool) + FIT.length * math.log(counted)
    assert logit_of(signals) == pytest.approx(expected, abs=1e-4)


def logit_of(signals: FitSignals) -> float:
    return float(FIT.odds(signals)[0])


def test_small_talk_and_another_verb_make_every_tool_less_likely() -> None:
    one = np.array([0.5])
    plain = FitSignals(one, 5, one, one)
    changed = [
        replace(plain, small_talk=0.5),
        replace(plain, conflict=np.array([True])),
        replace(plain, small_talk=-0.5, conflict=np.array([False])),
    ]
    differences = [logit_of(signals) - logit_of(plain) for signals in changed]
    assert differences == pytest.approx([FIT.small_talk / 2, FIT.conflict, -FIT.small_talk / 2])
    assert max(FIT.small_talk, FIT.conflict) < 0


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
    hybrid = rankers_of(TOOLS_FIT).get("hybrid")
    query = "create some issue about zebras, volcanoes, submarines and the price of tulips in Amsterdam"
    found = hybrid.rank(query)
    position = next(p for p, tool in enumerate(TOOLS_FIT) if tool.name == "create_issue")
    assert found.fit is not None
    assert found.fit[position] >= NAMED
    assert found.probability is not None
    assert found.probability >= NAMED
    unnamed = hybrid.rank(query.replace("issue", "thing")).fit
    assert unnamed is not None
    assert unnamed[position] < NAMED
