"""The chapters, and what they are measured on: labelled requests and stored vectors."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from docs.papers.accuracy import accuracy
from docs.papers.catalog_size import meter_of
from docs.papers.labelled import EVERY_TOOL, Answers, labelled_quality, request_sets, request_table
from docs.papers.published import report
from docs.papers.report import Origin, Section, Table, markdown
from docs.papers.run import CHAPTERS, Chapter, chapters, make
from docs.papers.source import NamedCatalog, Steps, Stopped, StoredEmbedder
from inspector.core.error import ConfigError
from inspector.tokens.counter import TiktokenCounter
from tests.support.fakes import CharacterCounter
from tests.support.memory_vectors import MemoryVectors
from tests.support.reproduction import MemorySource, case, office_tools, session
from tests.support.retrieval import CountingEmbedder

pytestmark = pytest.mark.measured

SECTION = Section("one", "One", "a paper", "this", ())


def test_chapters_come_in_the_order_of_the_report_and_once() -> None:
    found = chapters(["reduction", "latency", "reduction"])
    assert [chapter.id for chapter in found] == ["reduction", "latency"]
    assert chapters([]) == ()


def test_an_unknown_chapter_is_told_with_the_nearest() -> None:
    with pytest.raises(ConfigError) as caught:
        chapters(["latencies"])
    assert "latency" in caught.value.hint


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.id)
def test_what_a_chapter_is_made_with_is_there(chapter: Chapter) -> None:
    with pytest.raises(Stopped):
        chapter.sections(MemorySource(), Steps(stopped=lambda: True))


def test_a_section_is_there_as_soon_as_it_is_made_and_stopping_keeps_the_next_from_beginning() -> None:
    stopping = False
    chapter = Chapter("one", "One", "a paper", "this", lambda _source, _steps: (SECTION,))
    made = make([chapter, chapter], MemorySource(), Steps(stopped=lambda: stopping))
    assert next(made) == SECTION
    stopping = True
    with pytest.raises(Stopped):
        next(made)


def test_whatever_a_chapter_makes_has_its_real_tables_first() -> None:
    built_in = Table("built in", ("a",), (), origin=Origin.CALIBRATION)
    mixed = Section("one", "One", "a paper", "this", (built_in, Table("real", ("a",), ())))
    chapter = Chapter("one", "One", "a paper", "this", lambda _source, _steps: (mixed,))
    for found in (next(make([chapter], MemorySource(), Steps())), *chapter.sections(MemorySource(), Steps())):
        assert [table.title for table in found.tables] == ["real", "built in"]


def test_the_generated_testbed_is_the_last_chapter() -> None:
    assert CHAPTERS[-1].id == "attention"


def test_a_report_says_when_on_what_and_how_to_repeat_it() -> None:
    source = MemorySource()
    text = markdown(report([SECTION], source, "python -m docs.papers one"))
    assert text.startswith("# Published numbers, reproduced\n")
    assert f"{datetime.fromtimestamp(source.clock.now(), UTC):%Y-%m-%d}" in text
    for word in (
        "`python -m docs.papers one`",
        "processors",
        "Python 3",
        "characters, exact",
        "`memory`",
        "memory 1.0",
    ):
        assert word in text
    assert "/work" not in text


CASES = (
    case("refund an order", "shop:refund_order"),
    case("track the parcel and create a calendar event", "shop:track_parcel", "calendar:create_event"),
    case("play some jazz"),
)
METER = meter_of(CharacterCounter())


def source() -> MemorySource:
    return MemorySource(
        NamedCatalog("demo", office_tools(), cases=CASES),
        others=[NamedCatalog("theirs", office_tools()[:5], cases=CASES[:1]), NamedCatalog("bare", ())],
        searches=CASES[:1],
        played=[session("ab", "a")],
    )


def answers(*given: str) -> Answers:
    return Answers("m", CASES, tuple(frozenset(one.split()) for one in given))


def test_what_is_found_and_needed_counts_as_used() -> None:
    found = answers(
        "shop:refund_order shop:get_order", "shop:track_parcel calendar:create_event", "calc:evaluate"
    )
    assert (found.discovered, found.used) == (5, 3)
    assert found.share is not None
    assert found.share.mean == pytest.approx(0.6)
    assert found.median == 0.5


def test_of_tools_that_can_replace_each_other_one_is_used() -> None:
    either = CASES[0].__class__("x", "x", (frozenset({"a:b", "a:c"}),))
    assert Answers("m", (either,), (frozenset({"a:b", "a:c"}),)).used == 1
    assert labelled_quality(either, frozenset({"a:b", "a:c"})).recall == 1


def test_requests_that_found_nothing_have_no_part_in_the_median() -> None:
    assert answers("", "shop:track_parcel", "").median == 1
    assert answers("", "", "").median is None
    assert answers("", "", "").share is None


def test_every_catalog_with_requests_has_a_set() -> None:
    assert [one.name for one in request_sets(source())] == [
        "demo, what people ask",
        "demo, what an agent types",
        "theirs",
    ]


def test_equation_four_begins_with_requests_and_calls_scripts_a_calibration() -> None:
    tables = accuracy(source(), Steps()).tables
    assert [one.heading.partition(":")[0] for one in tables] == [
        "Requests over real catalogs",
        "Calibration",
        "Calibration",
    ]
    asked = tables[0].rows[0]
    assert asked[:3] == ("demo, what people ask, 11 tools", "3", "1")
    assert "name the tools" in " ".join(tables[1].remarks)


def test_the_gate_and_a_search_are_compared_over_requests_that_a_tool_fits() -> None:
    table = request_table(source(), METER, Steps())
    rows = [row for row in table.rows if row[0].startswith("demo, what people ask: 2, 11 tools")]
    assert [row[1].partition(":")[0] for row in rows] == [EVERY_TOOL, "gate", "search"]
    static, gate, search = (dict(zip(table.headers, row, strict=True)) for row in rows)
    assert static["tools given"] == "11.0"
    assert static["tokens of the call"] == f"{METER.static(office_tools()):,}"
    assert static["recall"] == "1.000"
    assert gate["tokens of the call"] == gate["of all calls"]
    assert int(search["of all calls"].replace(",", "")) > int(search["tokens of the call"].replace(",", ""))
    assert sum("paired test" in note for note in table.notes) == 3


def test_what_a_search_gives_costs_the_meta_tool_twice_its_results_and_their_text_once() -> None:
    meter = meter_of(TiktokenCounter("demo/planner"))
    table = request_table(source(), meter, Steps())
    search = next(row for row in table.rows if row[0].startswith("theirs") and row[1].startswith("search"))
    call, until = (int(cell.replace(",", "")) for cell in search[3:5])
    assert 100 < until - call < call


_texts = st.lists(st.text(max_size=20), max_size=8)


@given(_texts, _texts)
def test_a_kept_vector_is_the_one_that_was_made(first: list[str], second: list[str]) -> None:
    inner = CountingEmbedder()
    embedder = StoredEmbedder(inner, MemoryVectors())
    before = embedder.embed(first)
    assert embedder.embed(first) == before
    embedder.embed(second)
    assert sorted(inner.texts) == sorted({*first, *second})
