"""Tokens by catalog size, and reductions as factors."""

from collections import Counter

import pytest
from hypothesis import given, settings, strategies as st

from docs.papers.caching import token_reduction
from docs.papers.catalog_size import (
    ALWAYS,
    DRAWS,
    PUBLISHED,
    SIZES,
    catalog_size,
    cheapest,
    drawn_table,
    first_call,
    meter_of,
    random_sets,
    reaching,
)
from docs.papers.source import NamedCatalog, Steps
from docs.papers.testbed import MEAN, generated
from inspector.core.settings import BindingSettings, ManifestSettings
from inspector.core.tool import Tool, definition
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


def test_a_generated_catalog_is_the_same_for_the_same_seed_only() -> None:
    again = generated(25, METER)
    assert generated(25, METER) == again
    assert generated(25, METER, seed=1) != again


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


def test_a_search_adds_its_tools_and_the_steady_state_all_there_is_room_for() -> None:
    catalog = generated(50, METER)
    found = first_call(catalog.tools, catalog.summaries, METER)
    assert found.found - found.first == pytest.approx(5 * MEAN, abs=5)
    kept = BindingSettings().capacity
    assert found.steady - found.first == pytest.approx(kept * MEAN, abs=kept)


def test_the_largest_manifest_that_reaches_a_cut_is_found() -> None:
    catalog = generated(100, METER, server_size=10)
    whole = first_call(catalog.tools, catalog.summaries, METER, pinned=11)
    assert whole.cut < 0.95
    found = reaching(catalog.tools, catalog.summaries, METER, pinned=11, cut=0.95)
    assert found is not None
    assert found.cut >= 0.95
    more = found.manifest_limit + 10
    assert first_call(catalog.tools, catalog.summaries, METER, pinned=11, manifest_limit=more).cut < 0.95


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


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(1, 40))
@settings(max_examples=20, deadline=None)
def test_a_random_set_has_whole_servers_and_no_more_of_them_than_it_needs(
    sizes: list[int], size: int
) -> None:
    tools = [Tool(f"s{server}", f"t{at}") for server, count in enumerate(sizes) for at in range(count)]
    drawn = list(random_sets(tools, size))
    assert len(drawn) == DRAWS
    for chosen in drawn:
        have = Counter(tool.server for tool in chosen)
        assert all(count == sizes[int(server[1:])] for server, count in have.items())
        assert len(chosen) >= min(size, len(tools))
        assert len(chosen) - have[chosen[-1].server] < size
    assert drawn == list(random_sets(tools, size))


def test_a_catalog_is_drawn_from_only_where_it_has_servers_and_is_twice_as_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("docs.papers.catalog_size.DRAWS", 20)
    catalogs = [NamedCatalog("one server", generated(210, METER, server_size=210).tools)]
    catalogs += [NamedCatalog(f"{size}", generated(size, METER, server_size=10).tools) for size in (120, 210)]
    table = drawn_table(catalogs, METER, Steps())
    assert [(row[0], row[1], row[2]) for row in table.rows] == [("210", "100", "100")]
    assert float(table.rows[0][5].split(" ")[0]) > float(table.rows[0][7].split(" ")[0]) > 80


def test_a_factor_is_before_over_after_and_a_catalog_below_twenty_tools_is_bound_whole() -> None:
    theirs = NamedCatalog("theirs", generated(30, METER).tools)
    source = MemorySource(counter=TiktokenCounter("demo/planner"), others=[theirs])
    before_after, *_, rule = token_reduction(source, Steps()).tables[:4]
    assert rule.rows == (("19", "bind everything", "search"), ("20", "search", "search"))
    rows = {row[0]: row for row in before_after.rows}
    published = rows["published: intent-based loading"]
    assert published[2] == "77,000"
    assert published[-3:] == ("8,700", "8.9", "88.7 %")
    assert rows["published: MCP-Zero on APIBank"][-1] == "98 %"
    before, first, factor = (float(cell.replace(",", "")) for cell in rows["theirs"][2:5])
    assert before == 30 * 420
    assert factor == pytest.approx(before / first, abs=0.05)
