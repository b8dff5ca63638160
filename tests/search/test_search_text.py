from inspector.core.tool import Tool
from inspector.search.answer_text import NOTHING_FOUND, found_text, unknown_tools_text

PAGE = Tool(
    "notion",
    "create_page",
    "Create a new page\nwith content",
    {
        "type": "object",
        "properties": {"parent_id": {"type": "string"}, "content": {"type": "string"}},
        "required": ["parent_id"],
    },
)
PING = Tool("notion", "ping")


def test_found_tools_are_listed_with_their_parameters() -> None:
    assert found_text([PAGE, PING], []) == (
        "Found 2 tools:\n\n"
        "- notion:create_page\n"
        "  Create a new page\n"
        "  with content\n"
        "  Parameters: parent_id (string, required), content (string)\n\n"
        "- notion:ping\n"
        "  Parameters: none\n\n"
        "These tools are now loaded and available to call."
    )


def test_tools_that_were_loaded_before_are_named_as_such() -> None:
    text = found_text([], [PING])
    assert text.startswith("1 tool already loaded, call it directly:\n\n- notion:ping")
    assert "now loaded" not in text


def test_nothing_found_suggests_another_query() -> None:
    assert found_text([], []) == NOTHING_FOUND


def test_an_unknown_tool_comes_with_the_closest_ones() -> None:
    text = unknown_tools_text([("creat_page", ("notion:create_page",)), ("zzz", ())])
    assert text == "Unknown tool 'creat_page'. Closest matches: notion:create_page.\nUnknown tool 'zzz'."


def test_a_brief_answer_leaves_the_parameters_to_the_definitions() -> None:
    shop = Tool("shop", "list_orders", "List orders. By status, newest first.")
    assert found_text([shop, PING], [PAGE], brief=True) == (
        "1 tool already loaded, call it directly:\n- notion:create_page: Create a new page with content\n\n"
        "Found 2 tools:\n- shop:list_orders: List orders.\n- notion:ping\n\n"
        "These tools are now loaded and available to call."
    )
    long = Tool("a", "b", "word " * 100)
    assert len(found_text([], [long], brief=True).splitlines()[1]) < 140
