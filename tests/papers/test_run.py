"""The chapters, and what they are measured on: labelled requests and stored vectors."""

import pytest

from docs.papers.catalog_size import meter_of
from docs.papers.labelled import EVERY_TOOL, Answers, request_sets, request_table
from docs.papers.report import Section
from docs.papers.run import CHAPTERS, Chapter, make
from docs.papers.source import NamedCatalog, Steps, Stopped
from tests.support.fakes import CharacterCounter
from tests.support.reproduction import MemorySource, case, office_tools, session

pytestmark = pytest.mark.measured

SECTION = Section("one", "One", "a paper", "this", ())


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


def test_every_catalog_with_requests_has_a_set() -> None:
    assert [one.name for one in request_sets(source())] == [
        "demo, what people ask",
        "demo, what an agent types",
        "theirs",
    ]


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
