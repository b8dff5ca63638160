"""The phrasebook: what it makes of requests, that it explains itself, and what it was made from."""

import math
import re
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, strategies as st

from inspector.cli.composition import make_static_embedder
from inspector.cli.location import fixtures_path
from inspector.core.ranking import Part, Score, Signal
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.search.answer.evalset import read_cases
from inspector.search.index import packaged_model
from inspector.search.index.phrasebook import TABLES, Phrase, phrase_vectors, phrases
from inspector.search.index.semantics import Semantics
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.catalog_rankers import CatalogRankers
from tests.support.memory_vectors import MemoryEmbedder, MemoryVectors
from tests.support.office import office

TOOLS = (
    *(tool for server in office().values() for tool in server.tools),
    Tool("browser", "navigate", "Navigate to a URL", {"type": "object"}),
    Tool("memory", "add_observations", "Add an observation to an entity", {"type": "object"}),
)
WORD = re.compile(r"\w+")
NEAR = 0.7


class PackagedName(MemoryEmbedder):
    """Vectors that cost nothing under the packaged model's name, so that its phrasebook is read."""

    name = packaged_model.NAME

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector of 384 dimensions per text."""
        return [[value / math.sqrt(6) for value in vector] * 6 for vector in super().embed(texts)]


def ranker(*, model: bool) -> CatalogRankers:
    semantics = Semantics(PackagedName(), MemoryVectors(), make_static_embedder())
    index = ToolIndex(TOOLS, semantics=semantics)
    if model:
        semantics.embed(index.texts())
        index = index.with_new_vectors()
    return CatalogRankers(index, DiscoverySettings())


RANKERS = {model: ranker(model=model) for model in (False, True)}


@pytest.mark.parametrize("model", [False, True])
@given(text=st.one_of(st.sampled_from([p.request for p in phrases()[::500]]), st.text(max_size=60)))
def test_the_parts_add_up_with_the_phrase_among_them(model: bool, text: str) -> None:
    ranking = RANKERS[model].hybrid.rank(text)
    scores = [ranking.explain(position) for position in range(len(TOOLS))]
    assert all(score.adds_up() for score in scores)


def phrase_of(score: Score) -> Part:
    return next(part for part in score.parts if part.signal is Signal.PHRASE)


def test_an_explanation_says_which_phrase_a_request_is_read_like_and_what_that_adds() -> None:
    ranking = RANKERS[False].hybrid.rank("head over to bbc.co.uk")
    parts = [phrase_of(ranking.explain(position)) for position in range(len(TOOLS))]
    (read,) = {part.term for part in parts}
    assert re.fullmatch(r".+ → .+", read)
    assert max(part.value for part in parts) > 0 > min(part.value for part in parts)


def test_other_rankers_read_requests_as_they_are() -> None:
    for name in ("dense", "z-fusion", "vscode", "two-stage"):
        ranking = RANKERS[True].plain(name).rank("head over to bbc.co.uk")
        parts = [part for position in range(len(TOOLS)) for part in ranking.explain(position).parts]
        assert Signal.PHRASE not in {part.signal for part in parts}


def test_a_phrase_is_read_as_its_own_meaning_more_than_as_it_was() -> None:
    static = make_static_embedder()
    assert static is not None
    book, known = phrase_vectors(static.name), phrases()[::97]
    assert book is not None
    said, meant = (
        static.embed(texts) for texts in zip(*((p.request, p.meaning) for p in known), strict=True)
    )
    read = np.array([book.read(vector) for vector in said])
    assert np.linalg.norm(read, axis=1) == pytest.approx(np.ones(len(known)), abs=1e-5)
    closer = np.einsum("ij,ij->i", read, meant) > np.einsum("ij,ij->i", said, meant)
    assert closer.mean() > 0.9


@given(st.lists(st.floats(-1, 1, width=32), min_size=256, max_size=256))
def test_every_vector_is_read_as_a_unit_vector_or_stays_nothing(values: list[float]) -> None:
    book = phrase_vectors(packaged_model.STATIC_NAME)
    assert book is not None
    vector = np.array(values, np.float32)
    length = math.sqrt(float(vector @ vector))
    read = book.read(vector / length if length > 1e-3 else np.zeros(256, np.float32))
    assert float(np.linalg.norm(read)) == pytest.approx(1.0 if length > 1e-3 else 0.0, abs=1e-4)


def test_tables_have_a_row_a_phrase_and_belong_to_the_models_that_are_used() -> None:
    static = make_static_embedder()
    assert static is not None
    assert set(TABLES) == {packaged_model.NAME, static.name}
    for model, dimensions in ((packaged_model.NAME, 384), (static.name, 256)):
        book = phrase_vectors(model)
        assert book is not None
        assert (len(book.keys), len(book.meanings)) == (len(phrases()), len(phrases()))
        assert book.mapping.shape == (dimensions, dimensions)
    assert phrase_vectors("another model") is None


def words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.lower()))


def requests() -> Iterator[tuple[str, frozenset[str]]]:
    for path in (fixtures_path() / "evalsets").glob("*.jsonl"):
        yield from ((path.name, words(case.query)) for case in read_cases(path))


def test_no_phrase_is_an_evaluation_request_or_near_one() -> None:
    known = [words(phrase.request) for phrase in phrases()]
    by_word: dict[str, list[int]] = {}
    for number, found in enumerate(known):
        for word in found:
            by_word.setdefault(word, []).append(number)
    leaks = set()
    for name, asked in requests():
        # What shares more than NEAR of all words has one of the rarest of them.
        rarest = sorted(asked, key=lambda word: len(by_word.get(word, ())))
        for word in rarest[: len(asked) - int(NEAR * len(asked))]:
            near = (n for n in by_word.get(word, ()) if is_near(asked, known[n]))
            leaks |= {(name, phrases()[number]) for number in near}
    assert leaks == set()


def is_near(asked: frozenset[str], known: frozenset[str]) -> bool:
    return len(asked & known) > NEAR * len(asked | known)


def test_phrases_are_told_apart_by_their_requests() -> None:
    said = [tuple(WORD.findall(phrase.request.lower())) for phrase in phrases()]
    assert len(set(said)) == len(said) > 10_000
    assert all(isinstance(phrase, Phrase) and phrase.meaning.strip() for phrase in phrases())
