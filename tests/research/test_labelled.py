"""Labelled requests over real catalogs: equation 4, and the gate beside a search."""

import pytest

from inspector.research.accuracy import accuracy
from inspector.research.catalog_size import meter_of
from inspector.research.labelled import EVERY_TOOL, Answers, labelled_quality, request_sets, request_table
from inspector.research.source import NamedCatalog, Steps, Stopped
from inspector.tokens.counter import TiktokenCounter
from tests.support.fakes import CharacterCounter
from tests.support.reproduction import MemorySource, case, office_tools, session

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


def test_without_requests_there_is_no_table_row() -> None:
    assert not request_table(MemorySource(), METER, Steps()).rows


def test_asked_to_stop_it_stops() -> None:
    with pytest.raises(Stopped):
        request_table(source(), METER, Steps(stopped=lambda: True))
