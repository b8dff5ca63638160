"""The success criteria: each has a row, and the measurement is of what it says."""

from inspector.core.tool import definition
from inspector.research.accuracy import criteria, found_tools, sent_without_discovery
from inspector.research.catalog_size import meter_of
from inspector.research.source import NamedCatalog, Steps, indexed
from inspector.schema.json_value import compact
from inspector.tokens.counter import TiktokenCounter
from tests.support.fakes import CharacterCounter
from tests.support.reproduction import MemorySource, case, office_tools

CASES = (
    case("refund an order", "shop:refund_order"),
    case("track the parcel and create a calendar event", "shop:track_parcel", "calendar:create_event"),
    case("evaluate an expression", "mail:list_folders"),
    case("play some jazz"),
)


def test_every_criterion_has_a_row() -> None:
    catalog = NamedCatalog("demo", office_tools(), cases=CASES)
    source = MemorySource(catalog, searches=CASES, counter=TiktokenCounter("demo/planner"))
    (table,) = criteria(source, Steps()).tables
    names = " ".join(row[0] for row in table.rows)
    for word in ("token reduction", "search accuracy", "discovery off", "latency", "providers"):
        assert word in names
    assert next(row for row in table.rows if "discovery off" in row[0])[3] == "✓ yes"
    assert next(row for row in table.rows if "providers" in row[0])[3] == "in part"


def test_a_request_counts_as_found_where_every_tool_it_needs_is_a_result() -> None:
    source = MemorySource()
    index = indexed(source.demo(), source, Steps())
    found = found_tools(CASES, index, source, Steps(), "bm25")
    assert (found.whole, found.some, found.total) == (2, 2, 3)


def test_with_discovery_off_the_tools_array_is_that_of_static_binding() -> None:
    tools = office_tools()
    sent, static = sent_without_discovery(NamedCatalog("demo", tools), meter_of(CharacterCounter()))
    assert sent == static == compact([definition(tool) for tool in tools])
    assert "search_tools" not in sent
