"""The bill of a score, and the rows of a search."""

import math
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fixtures.hostile import HOSTILE
from inspector.app.presenters import search as present
from inspector.domain.ranking import Hit, Outcome, Part, Score, SearchReport, SearchRequest, Signal
from inspector.domain.tool import Tool
from inspector.engine.retrieval.bm25 import Bm25Ranker
from tests.widgets.hostile import dangerous

WORDS = ("order", "refund", "late", "mail", "city", "forecast", "the", "list")
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
catalogs = st.lists(st.tuples(sentences, sentences), min_size=1, max_size=8)


def _report(catalog: list[tuple[str, str]], query: str) -> SearchReport:
    tools = [Tool("s", f"{name.replace(' ', '_')}_{at}", text) for at, (name, text) in enumerate(catalog)]
    ranker = Bm25Ranker(tools)
    scores = sorted(ranker.rank(query), key=lambda score: -score.value)
    hits = tuple(
        Hit(rank, score, Outcome.FOUND if score.value > 0 else Outcome.BELOW_FLOOR)
        for rank, score in enumerate(scores, start=1)
    )
    return SearchReport(SearchRequest(query), ranker.name, hits, ranker.terms(query))


@given(catalogs, sentences)
def test_the_lines_of_a_bill_add_up_to_the_score(catalog: list[tuple[str, str]], query: str) -> None:
    report = _report(catalog, query)
    for hit in report.hits:
        text = present.bill(report, hit, bound=False).plain
        adds = [float(value) for value in re.findall(r"^\S+ +[NDX] .* (\d+\.\d{3})$", text, re.M)]
        assert len(adds) == len(hit.score.parts)
        assert math.isclose(sum(adds), hit.score.value, abs_tol=0.0006 * max(len(adds), 1))
        assert ("✓ adds up" in text) == bool(hit.score.parts)


@given(catalogs, sentences)
def test_the_formula_that_is_shown_is_the_one_that_was_used(
    catalog: list[tuple[str, str]], query: str
) -> None:
    report = _report(catalog, query)
    parts = [part for hit in report.hits for part in hit.score.parts]
    assume(parts)
    for hit in report.hits:
        for part in hit.score.parts:
            known = part.inputs
            norm = 0.25 + 0.75 * known["length"] / known["mean length"]
            whole = known["idf"] * known["tf"] * 2.5 / (known["tf"] + 1.5 * norm)
            same = [other.value for other in hit.score.parts if other.term == part.term]
            assert math.isclose(math.fsum(same), whole, abs_tol=1e-9)


@given(catalogs, sentences)
def test_every_term_is_either_on_the_bill_or_named_as_missing(
    catalog: list[tuple[str, str]], query: str
) -> None:
    report = _report(catalog, query)
    for hit in report.hits:
        text = present.bill(report, hit, bound=False).plain
        missing = text.partition("not in this tool")[2].partition("\n")[0].replace(",", "").split()
        assert set(missing) | {part.term for part in hit.score.parts} == set(report.terms)


def test_a_score_that_does_not_add_up_says_so() -> None:
    hit = Hit(1, Score("s:t", 2.0, (Part(Signal.NAME, "order", 1.0),)), Outcome.FOUND)
    report = SearchReport(SearchRequest("order"), "bm25", (hit,), ("order",))
    assert "✕ does not add up" in present.bill(report, hit, bound=False).plain


def _hit(rank: int, outcome: Outcome, value: float = 1.0) -> Hit:
    return Hit(rank, Score(f"s:t{rank}", value, (Part(Signal.NAME, "order", value),)), outcome)


def test_results_come_first_then_a_line_then_what_missed() -> None:
    outcomes = (Outcome.OTHER_SERVER, Outcome.FOUND, Outcome.ALREADY_LOADED, Outcome.OVER_LIMIT)
    hits = tuple(_hit(rank, outcome) for rank, outcome in enumerate(outcomes, start=1))
    rows = present.rows(SearchReport(SearchRequest("order"), "bm25", hits, limit=2), bound={"s:t3"})
    assert [row.key for row in rows] == ["s:t2", "s:t3", present.SEPARATOR, "s:t1", "s:t4"]
    assert [row.tone for row in rows] == ["", "", "muted", "muted", "muted"]
    assert [str(row.cells[-1]) for row in rows] == [
        "found",
        "● in use",
        "2 missed",
        "other server",
        "over limit",
    ]
    assert "limit 2" in str(rows[2].cells[1])


def test_without_misses_there_is_no_line() -> None:
    report = SearchReport(SearchRequest("order"), "bm25", (_hit(1, Outcome.FOUND),))
    assert [row.key for row in present.rows(report, bound=())] == ["s:t1"]


def test_a_found_tool_that_was_loaded_since_says_so() -> None:
    assert present.outcome(_hit(1, Outcome.FOUND), bound=True).plain == "● loaded"


def test_a_bar_shows_each_signal_once() -> None:
    parts = (
        Part(Signal.DESCRIPTION, "a", 1.0),
        Part(Signal.NAME, "a", 1.0),
        Part(Signal.DESCRIPTION, "b", 2.0),
    )
    assert [(part.signal, part.value) for part in present.merged(parts)] == [
        (Signal.NAME, 1.0),
        (Signal.DESCRIPTION, 3.0),
    ]


@pytest.mark.parametrize(
    ("typed", "request_"),
    [
        ((" late orders ", "", ""), SearchRequest("late orders")),
        (("", " shop", "a, b  c,"), SearchRequest("", "shop", ("a", "b", "c"))),
    ],
)
def test_what_was_typed_becomes_a_request(typed: tuple[str, str, str], request_: SearchRequest) -> None:
    assert present.request_of(*typed) == request_


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_does_no_harm(name: str) -> None:
    text = HOSTILE[name]
    hit = Hit(1, Score(text, 1.0, (Part(Signal.EXACT, text, 1.0),)), Outcome.FOUND)
    report = SearchReport(SearchRequest(text, text), "bm25", (hit,), (text, text + "b"), error=text)
    for content in (present.bill(report, hit, bound=False), present.facts(report)):
        assert not dangerous(content.plain.replace("\n", "").replace("\t", ""))
