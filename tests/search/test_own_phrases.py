"""Phrases of a person's own: what they do to searches, when they count, and for whom."""

from collections.abc import Iterable, Mapping

import numpy as np
import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.cli.composition import make_static_embedder
from inspector.core.access import AccessPolicy, Grant, Scope, User
from inspector.core.ranking import SearchReport, SearchRequest, Signal
from inspector.core.settings import DiscoverySettings
from inspector.search.answer.retrieval import Retrieval
from inspector.search.index import packaged_model
from inspector.search.index.document import Vector
from inspector.search.index.phrasebook import Phrase, Phrases, phrase_vectors, phrases
from inspector.search.index.semantics import Semantics
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.catalog_rankers import CatalogRankers
from tests.search.test_phrasebook import TOOLS, PackagedName
from tests.support.fakes import ManualClock
from tests.support.memory_vectors import MemoryEmbedder, MemoryVectors
from tests.support.retrieval import embedded
from tests.support.workbench import Rig, configured, connected, shop_and_weather

SAID, MEANS = "squirrel it away in your noggin", "Add another observation to an entity"
OWN: Phrases = {"memory": {SAID: MEANS, "hop over there": "Navigate to a URL"}, "away": {"zap it": "Delete"}}
READ_LIKE = f"{SAID} → {MEANS}"


def index_of(phrases: Phrases, *, model: bool) -> ToolIndex:
    """An index with the static vectors that are shipped, and perhaps a model's that cost nothing."""
    if not model:
        return ToolIndex(TOOLS, static=make_static_embedder(), phrases=phrases)
    semantics = Semantics(PackagedName(), MemoryVectors(), make_static_embedder())
    return embedded(ToolIndex(TOOLS, semantics=semantics, phrases=phrases), semantics)


def static(text: str) -> Vector:
    found = INDEXES[False].static
    assert found is not None
    vector: Vector = found.embed([text])[0]
    return vector


def told(index: ToolIndex, *queries: str) -> list[str]:
    """Everything that the default ranker says of some queries, to the last bit."""
    ranker = CatalogRankers(index, DiscoverySettings()).hybrid
    rankings = [ranker.rank(query) for query in queries]
    return [repr(one.explain(place)) for one in rankings for place in range(len(index.tools))]


INDEXES = {model: index_of(OWN, model=model) for model in (False, True)}
RANKERS = {model: CatalogRankers(index, DiscoverySettings()) for model, index in INDEXES.items()}


@pytest.mark.parametrize("model", [False, True])
@given(text=st.one_of(st.sampled_from([SAID, f"{SAID}, Anna hates plums", "hop over"]), st.text(max_size=60)))
def test_the_parts_add_up_with_own_phrases(model: bool, text: str) -> None:
    ranking = RANKERS[model].hybrid.rank(text)
    assert all(ranking.explain(position).adds_up() for position in range(len(TOOLS)))


@pytest.mark.parametrize("model", [False, True])
def test_an_own_phrase_brings_its_tool_to_the_front_and_the_explanation_names_it(model: bool) -> None:
    def first(index: ToolIndex) -> tuple[str, set[str]]:
        ranking = CatalogRankers(index, DiscoverySettings()).hybrid.rank(SAID)
        best = ranking.explain(int(ranking.values.argmax()))
        return best.tool_id, {part.term for part in best.parts if part.signal is Signal.PHRASE}

    without, _read = first(index_of({}, model=model))
    assert without != "memory:add_observations"
    assert first(INDEXES[model]) == ("memory:add_observations", {READ_LIKE})


def test_shipped_phrases_are_read_as_without_own_ones() -> None:
    shipped = phrases()[::1_000]
    assert [INDEXES[False].phrasebook.like(None, static(phrase.request)) for phrase in shipped] == shipped


def test_words_alone_know_what_an_own_phrase_means() -> None:
    books = (index_of(phrases, model=False).phrasebook for phrases in ({}, OWN))
    shipped, own = (book.meant(static(SAID)) for book in books)
    assert own["observ"] > 0.5 > shipped.get("observ", 0.0)


def test_words_of_an_own_phrase_are_no_misspellings() -> None:
    class Speller(PackagedName):
        def words(self) -> tuple[str, ...]:
            """It knows a word that is nearly one of the phrase's."""
            return ("fuggint",)

    def read(phrases: Phrases) -> str:
        semantics = Semantics(Speller(), MemoryVectors())
        index = embedded(ToolIndex(TOOLS, semantics=semantics, phrases=phrases), semantics)
        (clause,) = CatalogRankers(index, DiscoverySettings()).hybrid.parsed("a fuggins").clauses
        return clause.text

    assert read({}) == "a fuggint"
    assert read({"memory": {"my fuggins": MEANS}}) == "a fuggins"


def test_phrases_do_not_count_until_the_model_has_both_sides() -> None:
    semantics = Semantics(PackagedName(), MemoryVectors())
    plain = embedded(ToolIndex(TOOLS, semantics=semantics), semantics)
    index = plain.updated(TOOLS, phrases=OWN)
    before = told(plain, SAID)
    assert told(index, SAID) == before
    semantics.embed({key: text for key, text in index.texts().items() if text == SAID})
    assert told(index.with_new_vectors(), SAID) == before
    assert READ_LIKE in str(told(embedded(index, semantics), SAID))


@pytest.mark.parametrize("model", [False, True])
def test_an_index_updated_step_by_step_reads_requests_as_one_built_at_once(model: bool) -> None:
    others = [tool for tool in TOOLS if tool.server != "memory"]
    index = index_of(OWN, model=model)
    semantics = index.semantics
    away = index.updated(others)
    assert not away.own_phrases
    back = away.updated(TOOLS)
    if semantics is not None:
        back = embedded(back, semantics)
    assert told(back, SAID, "late orders") == told(INDEXES[model], SAID, "late orders")


@pytest.mark.parametrize("model", [False, True])
def test_phrases_of_a_server_that_is_away_leave_no_trace(model: bool) -> None:
    there, away = index_of({}, model=model), index_of({"away": {SAID: MEANS}}, model=model)
    assert there.texts() == away.texts()
    assert told(there, SAID, "late orders") == told(away, SAID, "late orders")


def test_a_phrase_that_vectors_have_no_words_for_is_left_out() -> None:
    shipped = phrase_vectors(packaged_model.STATIC_NAME)
    assert shipped is not None
    rows = np.eye(6, 256, dtype=np.float32).reshape(3, 2, 256)
    rows[0, 0] = rows[1, 1] = 0.0
    book = shipped.with_own([Phrase("", MEANS), Phrase(SAID, ""), Phrase(SAID, MEANS)], rows)
    assert (book.own, len(book.keys)) == ((Phrase(SAID, MEANS),), len(shipped.keys) + 1)
    assert book.near(rows[2, 0])[0][0] == Phrase(SAID, MEANS)


async def test_phrases_are_embedded_behind_the_searches_and_stored_as_tools_are() -> None:
    class Counting(PackagedName):
        def __init__(self) -> None:
            self.texts: list[str] = []

        def embed(self, texts: Iterable[str]) -> list[list[float]]:
            """Remember what was asked for."""
            self.texts += texts
            return super().embed(list(texts))

    vectors, asked = MemoryVectors(), []
    for _session in range(2):
        embedder = Counting()
        retrieval = Retrieval(
            DiscoverySettings(), ManualClock(), embedder=embedder, vectors=vectors, report=lambda _state: None
        )
        retrieval.update(TOOLS, {}, phrases=OWN)
        report = retrieval.search(SearchRequest(SAID), bound=()).report
        assert READ_LIKE not in repr(report)
        await retrieval.settled()
        assert READ_LIKE in repr(retrieval.search(SearchRequest(SAID), bound=()).report)
        asked.append({SAID, MEANS} & set(embedder.texts))
        retrieval.close()
    # The second one embeds the query alone.
    assert asked == [{SAID, MEANS}, {SAID}]


def asks(*patterns: str) -> AccessPolicy:
    return AccessPolicy({"ada": User("ada", "acme")}, (Grant(Scope.USER, "ada", "acme", patterns),), {})


async def read_like(*, toolset: str = "", policy: AccessPolicy | None = None) -> str:
    """What a session's search says of a request that is the shop's own phrase."""
    servers = shop_and_weather()
    configuration = configured(servers)
    specs = (replace(one, phrases=PHRASES.get(one.name, {})) for one in configuration.servers)
    values = {"access.policy": "policy.yaml", "access.user": "ada"} if policy else {}
    opening = connected(
        servers=servers,
        configuration=replace(configuration, servers=tuple(specs)),
        embedder=PackagedName(),
        policy=(lambda: policy) if policy else None,
        toolset=toolset,
        values=values,
    )
    async with opening as rig:
        await rig.bench.retrieval.settled()
        return terms_of(rig.bench.search(SearchRequest(SAID)))


PHRASES: Mapping[str, Mapping[str, str]] = {"shop": {SAID: "Refund an order"}}


def terms_of(report: SearchReport) -> str:
    parts = (part for hit in report.hits for part in hit.score.parts if part.signal is Signal.PHRASE)
    return next((part.term for part in parts), "")


async def test_a_session_reads_requests_by_the_phrases_of_its_servers() -> None:
    assert await read_like() == f"{SAID} → Refund an order"


async def test_phrases_are_not_for_who_may_not_see_all_that_they_could_name() -> None:
    assert SAID not in await read_like(toolset="sums")
    assert SAID in await read_like(policy=asks("shop:*", "calc:*"))
    for hidden in (("calc:*",), ("shop:list*", "calc:*")):
        assert SAID not in await read_like(policy=asks(*hidden))


async def test_phrases_of_a_server_that_stopped_do_not_count_until_it_is_back() -> None:
    servers = shop_and_weather()
    configuration = configured(servers)
    specs = tuple(replace(one, phrases=PHRASES.get(one.name, {})) for one in configuration.servers)
    opening = connected(
        servers=servers,
        configuration=replace(configuration, servers=specs),
        embedder=PackagedName(),
    )

    async def term(rig: Rig) -> str:
        await rig.bench.retrieval.settled()
        return terms_of(rig.bench.search(SearchRequest(SAID)))

    async with opening as rig:
        assert SAID in await term(rig)
        await rig.bench.stop("shop")
        assert SAID not in await term(rig)
        await rig.bench.reconnect("shop")
        assert SAID in await term(rig)


def test_another_model_reads_by_static_vectors_alone() -> None:
    semantics = Semantics(MemoryEmbedder(), MemoryVectors(), make_static_embedder())
    index = embedded(ToolIndex(TOOLS, semantics=semantics, phrases=OWN), semantics)
    assert READ_LIKE in str(told(index, SAID))
