import re

from hypothesis import given, strategies as st

from inspector.core.tool import Tool, definition, wire_name

names = st.text(min_size=1, max_size=150)
tidy = st.from_regex(r"[A-Za-z0-9_.-]{1,128}", fullmatch=True)


def test_a_tidy_name_reads_as_server_and_tool() -> None:
    assert wire_name("shop", "list_orders") == "shop__list_orders"
    assert wire_name("home-automation", "get_lights") == "home-automation__get_lights"


def test_two_readings_of_one_joined_name_stay_apart() -> None:
    assert wire_name("a_", "b") != wire_name("a", "_b")
    assert wire_name("a__b", "c") != wire_name("a", "b__c")
    assert wire_name("a.b", "c") != wire_name("a_b", "c")


@given(names | tidy, names | tidy)
def test_every_wire_name_is_one_that_providers_take(server: str, name: str) -> None:
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", wire_name(server, name))


@given(st.lists(st.tuples(names | tidy, names | tidy), min_size=2, max_size=30, unique=True))
def test_different_tools_never_share_a_wire_name(pairs: list[tuple[str, str]]) -> None:
    assert len({wire_name(server, name) for server, name in pairs}) == len(pairs)


def test_a_definition_carries_the_schema_as_the_server_gave_it() -> None:
    schema = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "integer"}}}
    function = definition(Tool("shop", "get", "Get it.", schema))["function"]
    assert function == {"name": "shop__get", "description": "Get it.", "parameters": schema}
    assert list(function["parameters"]["properties"]) == ["b", "a"]
