from inspector.domain.manifest import (
    ManifestEntry,
    entries,
    manifest_text,
    search_tools_definition,
)
from inspector.domain.tool import Tool


def names(count: int) -> tuple[str, ...]:
    return tuple(f"tool_{index}" for index in range(count))


def test_a_server_of_ten_tools_is_listed_in_full() -> None:
    text = manifest_text([ManifestEntry("weather", names(10), "Forecasts")])
    assert f"- weather (10 tools): {', '.join(names(10))}\n  Forecasts" in text


def test_a_server_of_eleven_tools_shows_four_and_counts_the_rest() -> None:
    text = manifest_text([ManifestEntry("notion", names(11), "Pages")])
    assert "- notion (11 tools): tool_0, tool_1, tool_2, tool_3, ... and 7 more\n  Pages" in text


def test_a_server_without_a_summary_is_one_line() -> None:
    assert manifest_text([ManifestEntry("calc", ("add",))]).splitlines()[-1] == "- calc (1 tool): add"


def test_servers_come_in_catalog_order_with_a_blank_line_between() -> None:
    tools = [Tool("b", "x"), Tool("a", "y"), Tool("b", "z")]
    listed = entries(tools, {"a": "About a"})
    assert listed == (ManifestEntry("b", ("x", "z")), ManifestEntry("a", ("y",), "About a"))
    assert "\n\n- b (2 tools): x, z\n\n- a (1 tool): y\n  About a" in manifest_text(listed)


def test_the_meta_tool_carries_the_manifest_and_three_optional_parameters() -> None:
    function = search_tools_definition("THE MANIFEST")["function"]
    assert function["name"] == "search_tools"
    assert function["description"].endswith("<manifest>\nTHE MANIFEST\n</manifest>")
    assert list(function["parameters"]["properties"]) == ["query", "server_name", "tool_names"]
    assert "required" not in function["parameters"]
