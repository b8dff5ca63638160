"""The bill of a score, and the rows of a search."""

import math
import re
from collections.abc import Collection, Iterable

import pytest
from hypothesis import example, given, strategies as st
from msgspec.structs import replace

from inspector.core.ranking import (
    Hit,
    IndexPhase,
    IndexState,
    Outcome,
    Part,
    Score,
    SearchReport,
    SearchRequest,
    Signal,
)
from inspector.core.tool import Tool
from inspector.features.search import results_pane as content, search_job as facts
from inspector.features.search.facts import signal_word
from inspector.features.search.results_pane import Own, own_line
from inspector.features.search.score_text import COLORS, WIDTH, bars, bill
from inspector.features.search.search_job import outcome
from inspector.search.index.vocabulary import as_written
from inspector.search.ranker.ranker_list import INFO, RANKERS
from tests.support.hostile import with_hostile_text
from tests.support.retrieval import rankers_of
from tests.widgets.hostile import dangerous
from widgets import Record

WORDS = ("order", "refund", "late", "mail", "city", "forecast", "the", "list")
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
catalogs = st.lists(st.tuples(sentences, sentences), min_size=1, max_size=8)
# Steps and literals too, which have lines of their own.
asked = st.lists(
    st.sampled_from([*WORDS, ", then send", "notes/late.md", "#4711"]), min_size=1, max_size=8
).map(" ".join)


def _report(catalog: list[tuple[str, str]], query: str, ranker_name: str = "hybrid") -> SearchReport:
    tools = [Tool("s", f"{name.replace(' ', '_')}_{at}", text) for at, (name, text) in enumerate(catalog)]
    ranker = rankers_of(tools).get(ranker_name)
    ranking = ranker.rank(query)
    hits = tuple(
        Hit(rank, ranking.explain(at), Outcome.FOUND if ranking.kept[at] else Outcome.BELOW_FLOOR)
        for rank, at in enumerate(ranking.order(), start=1)
    )
    return SearchReport(SearchRequest(query), ranker.name, hits, ranker.terms(query), scored=len(hits))


def _bill(report: SearchReport, hit: Hit) -> str:
    return bill(report, hit, outcome(hit, bound=False)).plain


def _adds(text: str) -> list[str]:
    """What the lines of a bill add, the total left out."""
    return re.findall(r"^\S.* [A-Z] \w.* (-?\d+\.\d{3}|-?\d{4,}\.\d{1,2})$", text, re.MULTILINE)


def _rounding(number: str) -> float:
    """By how much a number as written is wrong at most."""
    return float(0.6 * 10 ** -len(number.partition(".")[2]))


ALIKE = [
    ("order", "order refund refund late mail mail mail mail"),
    ("order", "order refund late mail mail mail"),
]


@given(catalogs, asked, st.sampled_from(RANKERS))
@example(ALIKE, "order refund late", "hybrid")
def test_the_lines_of_a_bill_add_up_to_the_score_and_are_never_wider_than_their_place(
    catalog: list[tuple[str, str]], query: str, ranker: str
) -> None:
    report = _report(catalog, query, ranker)
    for hit in report.hits:
        text = _bill(report, hit)
        adds = _adds(text)
        assert len(adds) == len(hit.score.parts)
        assert math.isclose(
            sum(map(float, adds)), hit.score.value, abs_tol=max(sum(map(_rounding, adds)), 0.0006)
        )
        table, total, _ = text.partition("✓ adds up")
        assert bool(total) == bool(hit.score.parts)
        assert not total or all(len(line) <= WIDTH for line in table.splitlines()[:-1])


@given(catalogs, sentences)
def test_every_term_is_either_on_the_bill_or_named_as_missing(
    catalog: list[tuple[str, str]], query: str
) -> None:
    report = _report(catalog, query, "bm25")
    for hit in report.hits:
        missing = _bill(report, hit).partition("not in this tool")[2].partition("\n")[0]
        asked = dict(zip(report.terms, as_written(query, report.terms), strict=True))
        named = {asked[part.term] for part in hit.score.parts}
        assert set(missing.replace(",", "").split()) | named == set(asked.values())


def test_a_bill_has_a_line_for_what_an_average_tool_gets_and_the_inputs_of_every_signal() -> None:
    report = _report([("refund order", "refund late order"), ("list mail", "list the mail")], "refund order")
    text = _bill(report, report.hits[0])
    assert re.search(r"^word +where +tf +df +idf +adds$", text, re.MULTILINE)
    assert re.search(r"^ +cosine +mean +weight +adds$", text, re.MULTILINE)
    assert re.search(r"^average tool +A average +-\d\.\d{3}$", text, re.MULTILINE)
    assert text.endswith(INFO["hybrid"].formula)


def test_a_bill_tells_which_step_fits_best_and_which_siblings() -> None:
    mail = Tool("mail", "send_message", "Send a message to anyone.")
    rankers = rankers_of([mail, *(Tool("shop", f"list_{what}", f"List {what}.") for what in WORDS)])
    query = "List the orders of notes/late.md, then send a message"
    ranker = rankers.get("hybrid")
    ranking = ranker.rank(query)
    hit = Hit(1, ranking.explain(0), Outcome.FOUND)
    text = _bill(SearchReport(SearchRequest(query), "hybrid", (hit,), ranker.terms(query)), hit)
    assert re.search(r"^step 2 of 2 +Q step +\d\.\d\d +0\.20 +-?\d\.\d{3}$", text, re.MULTILINE)
    assert re.search(r"^server top 3 +V server +\d\.\d\d +0\.10 +\d\.\d{3}$", text, re.MULTILINE)
    assert re.search(r"^a +W words ", text, re.MULTILINE)
    assert re.search(r"^word vectors +S meaning ", text, re.MULTILINE)
    assert "step 2 of 2: send a message" in text
    assert "✓ adds up" in text


def test_a_score_that_does_not_add_up_says_so() -> None:
    hit = Hit(1, Score("s:t", 2.0, (Part(Signal.NAME, "order", 1.0),)), Outcome.FOUND)
    report = SearchReport(SearchRequest("order"), "bm25", (hit,), ("order",))
    assert "✕ does not add up" in _bill(report, hit)


def _hit(rank: int, outcome: Outcome, value: float = 1.0) -> Hit:
    return Hit(rank, Score(f"s:t{rank}", value, (Part(Signal.NAME, "order", value),)), outcome)


def _rows(*outcomes: Outcome, bound: Collection[str] = (), scored: int = 0) -> tuple[Record, ...]:
    hits = tuple(_hit(rank, outcome) for rank, outcome in enumerate(outcomes, start=1))
    report = SearchReport(SearchRequest("order"), "bm25", hits, limit=2, scored=scored)
    return content.rows(report, bound)


def _told(rows: Iterable[Record]) -> list[str]:
    """The rank, the tool and the state of each row."""
    return [" ".join(filter(None, map(str, row.cells[:3]))) for row in rows]


def test_every_tool_stands_at_its_rank_and_has_its_state_in_its_row() -> None:
    rows = _rows(
        *(Outcome.UNLIKELY, Outcome.FOUND, Outcome.ALREADY_LOADED, Outcome.PRECONDITION, Outcome.OVER_LIMIT),
        bound={"s:t3"},
    )
    assert _told(rows) == [
        "1 s:t1 unlikely",
        "2 s:t2 found",
        "3 s:t3 ● bound before",
        "4 s:t4 not yet",
        "5 s:t5 over limit",
    ]
    assert [row.tone for row in rows] == ["muted", "", "", "muted", "muted"]


def test_a_line_separates_the_results_from_the_rest() -> None:
    rows = _rows(Outcome.FOUND, Outcome.FOUND, Outcome.OVER_LIMIT, Outcome.UNLIKELY)
    assert [row.key for row in rows[:4]] == ["s:t1", "s:t2", content.LINE, "s:t3"]
    assert [str(rows[at].cells[2]) for at in (3, 4)] == ["over limit", "unlikely"]


def test_there_is_no_line_where_it_would_not_be_true() -> None:
    for outcomes in (
        (Outcome.FOUND, Outcome.UNLIKELY, Outcome.FOUND, Outcome.OVER_LIMIT),
        (Outcome.FOUND, Outcome.FOUND),
        (Outcome.UNLIKELY, Outcome.BELOW_FLOOR),
    ):
        assert content.LINE not in [row.key for row in _rows(*outcomes)]


def test_the_list_says_which_ranks_it_leaves_out_and_why() -> None:
    rows = _rows(
        *(Outcome.OTHER_SERVER, Outcome.FOUND, Outcome.OTHER_TAG, Outcome.OTHER_SERVER, Outcome.FOUND),
        scored=716,
    )
    assert _told(rows) == [
        "… rank 1 other server",
        "2 s:t2 found",
        "… ranks 3–4 other tag, other server",
        "5 s:t5 found",
        "… ranks 6–716 not shown",
    ]


def test_a_rank_that_has_changed_stands_with_the_one_before() -> None:
    hits = tuple(_hit(rank, Outcome.FOUND) for rank in (1, 2, 3))
    report = SearchReport(SearchRequest("order"), "bm25", hits)
    before = {"s:t1": 1, "s:t2": 14, "s:gone": 3}
    assert [str(row.cells[2]) for row in content.rows(report, (), before)] == [
        "found",
        "found was 14",
        "found",
    ]


def _nothing() -> SearchReport:
    hits = (_hit(1, Outcome.NOTHING_FITS), _hit(2, Outcome.OVER_LIMIT))
    return SearchReport(
        SearchRequest("zebra"), "hybrid", hits, ("zebra",), probability=0.12, threshold=0.3, scored=2
    )


def test_a_search_that_finds_nothing_says_so_and_greys_what_came_closest() -> None:
    rows = content.rows(_nothing(), bound=())
    assert [row.key for row in rows] == ["s:t1", "s:t2"]
    assert {row.tone for row in rows} == {"muted"}
    assert str(rows[0].cells[2]) == "no tool fits"
    first, second = facts.facts(_nothing()).plain.splitlines()
    assert "nothing   confidence 12 %, needs 30 %" in first
    assert second == "⚠ no tool fits; a model would get none   l loads any tool"


def test_an_unsure_search_says_what_a_model_would_get_and_what_is_withheld() -> None:
    hits = (_hit(1, Outcome.WITHHELD), _hit(2, Outcome.FOUND), _hit(3, Outcome.FOUND))
    report = SearchReport(SearchRequest("order"), "hybrid", hits, probability=0.12, threshold=0.3)
    first, second, third = facts.facts(report).plain.splitlines()
    assert "closest   confidence 12 %, needs 30 %" in first
    assert second == "⚠ no tool clearly fits; a model would get the 2 closest   l loads any tool"
    assert third == "withheld, as the query does not clearly ask to destroy or end anything: s:t1"


def test_the_facts_tell_ranker_count_and_confidence() -> None:
    report = SearchReport(
        SearchRequest("order"),
        "hybrid",
        (_hit(1, Outcome.FOUND),),
        ("order",),
        latency_ms=6,
        scored=84,
        probability=0.72,
        threshold=0.3,
        note="ranks by words alone: 12 of 84 tools embedded",
    )
    first, second = facts.facts(report, IndexState(IndexPhase.EMBEDDING, "m", 48, 336)).plain.splitlines()
    assert first == "ours: hybrid   1 of 84 tools   found   confidence 72 %   6 ms   words order"
    assert second == "ranks by words alone: 12 of 84 tools embedded   embedding: 48 of 336 texts"
    assert "embedding" not in facts.facts(report, IndexState(IndexPhase.READY, "m", 336, 336)).plain


@given(st.integers(78, 200), st.lists(st.sampled_from(WORDS), min_size=1, max_size=40))
def test_the_facts_fit_into_one_line(width: int, terms: list[str]) -> None:
    report = SearchReport(
        SearchRequest("q"), "hybrid", (), tuple(terms), scored=84, probability=0.5, threshold=0.3
    )
    assert len(facts.facts(report, width=width).plain) <= width


def test_a_bar_shows_what_speaks_for_a_tool_and_no_minus() -> None:
    parts = (
        Part(Signal.NAME, "a", 1.0),
        Part(Signal.SEMANTIC, "s", 1.0),
        Part(Signal.AVERAGE, "average", -1.5),
    )
    hit = Hit(1, Score("s:t", 0.5, parts), Outcome.FOUND)
    assert [bar.plain for bar in bars([hit])] == ["N━━━━S━━━━"]


def test_every_signal_has_a_word_and_a_colour() -> None:
    assert set(COLORS) == set(Signal)
    assert len(set(map(signal_word, Signal))) == len(Signal)


@pytest.mark.parametrize(
    ("typed", "request_"),
    [
        ((" late orders ", "", ""), SearchRequest("late orders")),
        (("", " shop", "a, b  c,"), SearchRequest("", "shop", ("a", "b", "c"))),
        (("late", "#money shop #read-only", ""), SearchRequest("late", "shop", (), ("money", "read-only"))),
    ],
)
def test_what_was_typed_becomes_a_request(typed: tuple[str, str, str], request_: SearchRequest) -> None:
    assert facts.request_of(*typed) == request_


@given(st.integers(50, 200), st.text("ab_", min_size=1, max_size=300), st.integers(1, 99_999))
def test_the_line_of_the_own_tool_has_its_place_and_fits(width: int, name: str, rank: int) -> None:
    own = Own(f"s:{name}", Hit(rank, Score(f"s:{name}", 1.0), Outcome.OTHER_SERVER), 100_000)
    line = own_line(own, (), width).plain
    assert line.startswith(f"▸ {rank:,} of 100,000")
    assert line.endswith("your tool")
    assert len(line) <= max(width, 70)


@with_hostile_text
def test_hostile_text_does_no_harm(text: str) -> None:
    hit = Hit(1, Score(text, 1.0, (Part(Signal.EXACT, text, 1.0),)), Outcome.FOUND)
    report = SearchReport(SearchRequest(text, text), "bm25", (hit,), (text, text + "b"), error=text)
    for shown in (_bill(report, hit), facts.facts(report).plain):
        assert not dangerous(shown.replace("\n", "").replace("\t", ""))


def test_a_result_below_the_limit_says_that_it_has_a_short_definition() -> None:
    report = _report([("late", "late"), ("order", "late order"), ("mail", "late mail")], "late")
    found, over, late = report.hits
    cut = replace(over, outcome=Outcome.OVER_LIMIT)
    drawn = content.rows(replace(report, hits=(replace(found, outcome=Outcome.FOUND), cut, late)), ())
    states = [str(one.cells[2]) for one in drawn if ":" in one.key]
    assert states == ["found", "over limit", "found, short"]
