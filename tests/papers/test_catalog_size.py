"""Tokens by catalog size, and reductions as factors."""

import pytest

from docs.papers.catalog_size import (
    ALWAYS,
    PUBLISHED,
    SIZES,
    catalog_size,
    cheapest,
    first_call,
    meter_of,
)
from docs.papers.source import NamedCatalog, Steps
from docs.papers.testbed import MEAN, generated
from inspector.core.settings import ManifestSettings
from inspector.core.tool import definition
from inspector.schema.json_value import compact
from inspector.tokens.counter import TiktokenCounter
from inspector.tokens.manifest import entries, fitted_manifest, search_tools_definition
from tests.support.fakes import CharacterCounter
from tests.support.reproduction import MemorySource, office_tools

pytestmark = pytest.mark.measured

METER = meter_of(TiktokenCounter("demo/planner"))
CHARACTERS = meter_of(CharacterCounter())


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("server_size", [10, 20])
def test_a_generated_catalog_has_exactly_its_tokens(count: int, server_size: int) -> None:
    catalog = generated(count, METER, server_size=server_size)
    assert len({tool.id for tool in catalog.tools}) == count
    assert METER.static(catalog.tools) == count * MEAN
    assert (
        max(sum(tool.server == server for tool in catalog.tools) for server in catalog.summaries)
        <= server_size
    )


def test_the_first_call_is_what_the_request_sends() -> None:
    tools = office_tools()
    found = first_call(tools, {"shop": "A shop."}, CHARACTERS, pinned=2)
    pinned = cheapest(tools, 2, CHARACTERS)
    waiting = [tool for tool in tools if tool.id not in pinned]
    manifest = fitted_manifest(entries(waiting, {"shop": "A shop."}), ManifestSettings(), len)
    sent = [search_tools_definition(manifest.text), *(definition(t) for t in tools if t.id in pinned)]
    assert found.first == sum(CHARACTERS.entries(sent))
    # Characters: what stands between the entries, and around them, is a few.
    assert abs(found.first - len(compact(sent))) <= 3
    assert found.pinned == 2
    assert found.static > found.first


@pytest.mark.slow
def test_the_section_has_the_papers_numbers_and_a_bar_for_each_size_and_set() -> None:
    catalog = NamedCatalog("theirs", generated(120, METER).tools)
    section = catalog_size(MemorySource(counter=TiktokenCounter("demo/planner"), others=[catalog]), Steps())
    real, fitted = section.tables[:2], section.tables[3:]
    assert [table.heading for table in real] == ["The demo's catalog", "theirs"]
    assert all(
        table.heading.startswith("Calibration: ") and "by construction" in table.why for table in fitted
    )
    rows = fitted[0].rows
    assert len(rows) == len(SIZES) * len(ALWAYS) - 1
    for row in rows:
        static, dynamic, cut = PUBLISHED[int(row[0])]
        assert (row[2], row[3], row[4], row[6]) == (f"{static:,}", f"{static:,}", f"{dynamic:,}", cut)
    generated_bars = [bar for bar in section.bars if bar[0].startswith("calibration, generated, 20")]
    assert len(generated_bars) == 6
    assert all(met for _, _, met in generated_bars)
    assert sum(bar[0].startswith("theirs, 100") for bar in section.bars) == len(ALWAYS)
