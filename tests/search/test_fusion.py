"""The fused score is the weighted sum of standardized signals, with the weights that are documented."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from inspector.core.ranking import Score, Signal
from inspector.core.settings import DiscoverySettings
from inspector.search.document import SUMMARY
from inspector.search.index import ToolIndex
from inspector.search.query import MANY_STEPS, parse
from inspector.search.rankers.bm25 import AS_WRITTEN, Bm25Ranker
from inspector.search.rankers.catalog_rankers import CatalogRankers
from inspector.search.rankers.fusion import FusionRanker, Standardised
from inspector.search.rankers.query_fusion import QueryFusion, ServerPrior
from inspector.search.semantics import Semantics
from tests.support.memory_vectors import MemoryVectors
from tests.support.office import office
from tests.support.retrieval import CountingEmbedder, memory_semantics, rankers_of, semantic_index

TOOLS = tuple(tool for server in office().values() for tool in server.tools)
INDEX = semantic_index(TOOLS)
QUERIES = ("where is my late order", "invite people to an event", "refund", "messages about an order")
# The last bits of cosines depend on how many texts are compared at once.
FLOAT32 = 1e-6
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
    found = INDEX.static_similarities(query)
    assert found is not None
    return found


def fusion(index: ToolIndex = INDEX) -> FusionRanker:
    return CatalogRankers(index, DiscoverySettings()).fusion


def of_meaning(query: str) -> NDArray[np.float64]:
    return (
        0.16 * z(static_cosines(query))
        + 0.18 * z(cosines(query)[SUMMARY])
        + 0.46 * z(cosines(query).max(axis=0))
    )


@pytest.mark.parametrize("query", QUERIES)
def test_a_score_is_a_fifth_words_16_hundredths_static_18_the_summary_and_46_the_best_passage(
    query: str,
) -> None:
    words = Bm25Ranker(INDEX).rank(query).values
    written = Bm25Ranker(INDEX, AS_WRITTEN).rank(query).values
    expected = 0.12 * z(words) + 0.08 * z(written) + of_meaning(query)
    assert fusion().rank(query).values == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("query", QUERIES)
def test_until_the_model_has_embedded_the_tools_a_score_is_words_and_static_vectors(query: str) -> None:
    words, written = (Bm25Ranker(INDEX, settings).rank(query).values for settings in (None, AS_WRITTEN))
    expected = 0.12 * z(words) + 0.08 * z(written) + 0.16 * z(static_cosines(query))
    found = fusion(ToolIndex(TOOLS, semantics=memory_semantics())).rank(query)
    assert found.values == pytest.approx(expected, abs=1e-9)
    assert found.note == f"words and static vectors: 0 of {len(TOOLS)} tools embedded"


@pytest.mark.parametrize("query", QUERIES)
def test_the_reference_fusion_is_3_tenths_words_and_the_summary_whole(query: str) -> None:
    reference = CatalogRankers(INDEX, DiscoverySettings()).z_fusion()
    (words,) = reference.evidence([query])[0].words
    expected = 0.3 * z(words.ranking.values) + z(cosines(query)[SUMMARY])
    assert reference.rank(query).values == pytest.approx(expected, abs=1e-9)


def test_a_signal_that_is_the_same_for_every_tool_counts_for_nothing() -> None:
    query = "zeppelin"
    for settings in (None, AS_WRITTEN):
        assert not Bm25Ranker(INDEX, settings).rank(query).values.any()
    assert fusion().rank(query).values == pytest.approx(of_meaning(query), abs=1e-9)


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


@pytest.mark.parametrize("query", [*QUERIES, ONE])
def test_a_plain_query_scores_as_its_fusion_with_a_tenth_of_the_servers_three_best(query: str) -> None:
    assert (parse(query).wordings, parse(query).steps) == ((query,), ())
    assert ranked(query) == pytest.approx(with_siblings(fusion().rank(query).values), abs=1e-9)


def test_the_wording_without_literals_counts_half() -> None:
    with_them, without = parse(LITERAL).wordings
    assert (with_them, without) == (LITERAL, "refund order as in markdown file")
    expected = (fusion().rank(with_them).values + fusion().rank(without).values) / 2
    assert ranked(LITERAL) == pytest.approx(with_siblings(expected), abs=FLOAT32)


def test_the_best_of_three_steps_counts_3_tenths() -> None:
    steps = parse(STEPS).steps
    assert steps == ("Refund the last order", "Then send a message to the customer", "list the events")
    best = np.max([fusion().rank(step).values for step in steps], axis=0)
    expected = 0.7 * fusion().rank(STEPS).values + 0.3 * best
    assert ranked(STEPS) == pytest.approx(with_siblings(expected), abs=FLOAT32)


def test_however_many_steps_there_are_the_best_counts_half_at_most() -> None:
    verbs = ("list", "open", "send", "refund", "move", "print")
    text = ". ".join(f"{verb.title()} the order" for verb in verbs)
    steps = parse(text).steps
    assert len(steps) == 6
    best = np.max([fusion().rank(step).values for step in steps], axis=0)
    (whole,) = fusion().evidence([text], {text: steps})
    expected = 0.5 * whole.values + 0.5 * best
    assert ranked(text) == pytest.approx(with_siblings(expected), abs=FLOAT32)


def test_the_meaning_of_many_steps_is_the_mean_of_theirs() -> None:
    texts = ["list orders", "refund a customer", "send a message"]
    known = INDEX.query_vectors(["all of it", *texts], {"all of it": texts})
    assert known is not None
    whole, *steps = (vector for vector in known if vector is not None)
    mean = np.mean(steps, axis=0)
    assert whole == pytest.approx(mean / np.linalg.norm(mean), abs=FLOAT32)


@pytest.mark.parametrize(("count", "embedded"), [(MANY_STEPS - 1, True), (MANY_STEPS, False)])
def test_a_query_of_many_steps_is_not_embedded_as_a_whole(count: int, embedded: bool) -> None:
    embedder = CountingEmbedder()
    index = semantic_index(TOOLS, Semantics(embedder, MemoryVectors()))
    rankers = CatalogRankers(index, DiscoverySettings())
    query = ". ".join(f"{verb} the order" for verb in ("list", "open", "send", "refund", "move")[:count])
    rankers.hybrid.rank(query)
    assert (query in embedder.texts) == embedded


def test_a_server_without_others_tells_no_tool_from_another() -> None:
    alone = [tool for tool in TOOLS if tool.server == TOOLS[0].server]
    rankers = rankers_of(alone)
    assert rankers.get("hybrid").rank(ONE).values.tolist() == rankers.fusion.rank(ONE).values.tolist()


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


def assert_cosines_explain_their_parts(score: Score) -> None:
    """Over both wordings too; the whole query counts what its best step leaves."""
    share = math.fsum(part.inputs["share"] for part in score.parts if part.signal is Signal.STEP)
    for part in (part for part in score.parts if part.signal is Signal.SEMANTIC):
        known = part.inputs
        expected = (1 - share) * known["weight"] * known["cosine"] / known["deviation"]
        assert part.value == pytest.approx(expected)


def test_words_alone_score_as_bm25_whatever_the_query_says() -> None:
    index = ToolIndex(TOOLS)
    whole = QueryFusion(index, fusion(index), ServerPrior(index))
    for query in (ONE, STEPS, LITERAL):
        found = whole.ranking(whole.evidence(parse(query))).values
        assert found.tolist() == Bm25Ranker(index).rank(query).values.tolist()


def test_small_talk_is_measured_with_examples_that_are_embedded_once() -> None:
    semantics = memory_semantics()
    semantics.prepare(lambda _done, _total: None, lambda: False)
    talk, request = (
        semantics.small_talk(semantics.query(text))
        for text in ("I am so tired today, what a long week", "list all open orders of a customer")
    )
    assert talk > request
    assert isinstance(semantics.anew(), Semantics)
    assert semantics.anew().small_talk(semantics.query("list all open orders of a customer")) == request


def test_a_signal_that_differs_by_rounding_alone_adds_nothing() -> None:
    cosine = np.float32(0.5)
    raw = np.array([cosine, cosine, np.nextafter(cosine, np.float32(1))], np.float64)
    assert not Standardised.of(raw, 1.0).values.any()
    assert Standardised.of(np.array([0.5, 0.5, 0.501]), 1.0).values.any()
