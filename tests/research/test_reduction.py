"""The 9x and the 98 %: factors of our own catalogs, and from where on discovery is cheaper."""

import pytest

from inspector.research.caching import findings, token_reduction
from inspector.research.catalog_size import meter_of
from inspector.research.source import NamedCatalog, Steps, Stopped
from inspector.research.testbed import generated
from inspector.tokens.counter import TiktokenCounter
from tests.support.reproduction import MemorySource

COUNTER = TiktokenCounter("demo/planner")


def test_a_factor_is_before_over_after() -> None:
    theirs = NamedCatalog("theirs", generated(30, meter_of(COUNTER)).tools)
    before_after = token_reduction(MemorySource(counter=COUNTER, others=[theirs]), Steps()).tables[0]
    rows = {row[0]: row for row in before_after.rows}
    published = rows["published: intent-based loading"]
    assert published[2] == "77,000"
    assert published[-3:] == ("8,700", "8.9", "88.7 %")
    assert rows["published: MCP-Zero on APIBank"][-1] == "98 %"
    before, first, factor = (float(cell.replace(",", "")) for cell in rows["theirs"][2:5])
    assert before == 30 * 420
    assert factor == pytest.approx(before / first, abs=0.05)


def test_generated_catalogs_come_last_and_are_called_a_calibration() -> None:
    theirs = NamedCatalog("theirs", generated(30, meter_of(COUNTER)).tools)
    tables = token_reduction(MemorySource(counter=COUNTER, others=[theirs]), Steps()).tables
    for table in (tables[0], tables[2]):
        assert [row[0] for row in table.rows][-3:] == ["demo", "theirs", "calibration: generated, 200 tools"]
    assert any("by construction" in note for note in tables[0].notes)


def test_discovery_over_a_large_catalog_is_cheaper_long_before_the_published_rule() -> None:
    tables = token_reduction(MemorySource(counter=COUNTER), Steps()).tables
    row = next(row for row in tables[2].rows if row[0].startswith("calibration: generated"))
    first, after, with_text = (int(cell) for cell in row[2:5])
    assert first <= after <= with_text < 20


def test_the_rule_for_small_catalogs_binds_everything_below_twenty_tools_only() -> None:
    rule = token_reduction(MemorySource(counter=COUNTER), Steps()).tables[3]
    assert rule.rows == (("19", "bind everything", "search"), ("20", "search", "search"))


def test_the_findings_are_computed_from_the_published_numbers() -> None:
    factor, catalog = findings()
    assert "8.85" in factor
    assert "83 per tool, below" in catalog


def test_asked_to_stop_it_stops() -> None:
    with pytest.raises(Stopped):
        token_reduction(MemorySource(), Steps(stopped=lambda: True))
