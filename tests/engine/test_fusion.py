"""The fused score is the weighted sum of standardised signals, with the weights that are documented."""

import numpy as np
import pytest
from numpy.typing import NDArray

from inspector.adapters.memory.vectors import MemoryEmbedder, MemoryVectors
from inspector.domain.settings import DiscoverySettings
from inspector.engine.discovery.document import SUMMARY
from inspector.engine.discovery.rankers.bm25 import Bm25Ranker
from inspector.engine.discovery.rankers.catalog_rankers import CatalogRankers
from inspector.engine.discovery.rankers.fusion import FusionRanker
from inspector.engine.discovery.semantics import Semantics
from tests.support.office import office
from tests.support.retrieval import semantic_index

TOOLS = tuple(tool for server in office().values() for tool in server.tools)
INDEX = semantic_index(TOOLS, Semantics(MemoryEmbedder(), MemoryVectors()))
QUERIES = ("where is my late order", "invite people to an event", "refund", "messages about an order")


def z(values: NDArray[np.float64]) -> NDArray[np.float64]:
    standardised: NDArray[np.float64] = (values - values.mean()) / values.std()
    return standardised


def cosines(query: str) -> NDArray[np.float64]:
    vector = INDEX.query_vector(query)
    assert vector is not None
    return INDEX.similarities(vector)


@pytest.mark.parametrize("query", QUERIES)
def test_a_score_is_21_hundredths_words_22_the_summary_and_57_the_best_passage(query: str) -> None:
    lexical = Bm25Ranker(INDEX)
    expected = (
        0.21 * z(lexical.rank(query).values)
        + 0.22 * z(cosines(query)[SUMMARY])
        + 0.57 * z(cosines(query).max(axis=0))
    )
    assert FusionRanker(INDEX, lexical).rank(query).values == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("query", QUERIES)
def test_the_reference_fusion_is_3_tenths_words_and_the_summary_whole(query: str) -> None:
    reference = CatalogRankers(INDEX, DiscoverySettings()).z_fusion()
    words = reference.evidence(query).lexical_ranking.values
    expected = 0.3 * z(words) + z(cosines(query)[SUMMARY])
    assert reference.rank(query).values == pytest.approx(expected, abs=1e-9)


def test_a_signal_that_is_the_same_for_every_tool_counts_for_nothing() -> None:
    query = "zeppelin"
    assert not Bm25Ranker(INDEX).rank(query).values.any()
    expected = 0.22 * z(cosines(query)[SUMMARY]) + 0.57 * z(cosines(query).max(axis=0))
    fused = FusionRanker(INDEX, Bm25Ranker(INDEX)).rank(query).values
    assert fused == pytest.approx(expected, abs=1e-9)
