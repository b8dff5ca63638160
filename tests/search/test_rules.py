"""What servers claim of their tools, and the tags that tools have."""

import pytest
from hypothesis import given, strategies as st

from inspector.core.definition import definition_hash
from inspector.core.tool import Annotations, Tool, contradiction
from inspector.schema.json_value import JsonObject
from inspector.search.index.vocabulary import MOST_OFFERED, TagOrigin, Tags
from tests.support.hostile import with_hostile_text

READS = Annotations(read_only=True)
FILE: JsonObject = {"type": "object", "properties": {"filePath": {}, "content": {}}}
ACTION: JsonObject = {"type": "object", "properties": {"action": {"enum": ["list", "DELETE"]}}}


def about(name: str, schema: JsonObject | None = None, claims: Annotations = READS) -> str:
    return contradiction(Tool("s", name, "", schema or {"type": "object"}, claims))


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("delete_page", "delete"),
        ("deletePage", "delete"),
        ("DELETEPage", "delete"),
        ("pages.delete-all", "delete"),
        ("storage_blob_upload", "upload"),
        ("remove_from_list", "remove"),
        ("find_and_delete", "delete"),
        ("getOrCreate", "create"),
        ("send2", "send"),
    ],
)
def test_a_tool_named_for_a_change_contradicts_that_it_only_reads(name: str, word: str) -> None:
    assert about(name) == f"its server says it is read-only, but its name says “{word}”"


@pytest.mark.parametrize(
    "name",
    [
        "list_deleted_pages",
        "get_delete_policy",
        "search_payments",
        "isWriteable",
        "check_send_limit",
        "add",
        "replace_text",
        "post_history",
        "updates",
        "sender",
        "",
    ],
)
def test_a_tool_named_for_reading_or_computing_contradicts_nothing(name: str) -> None:
    assert about(name) == ""


def test_parameters_for_a_choice_of_actions_or_new_content_of_a_file_contradict_that_it_only_reads() -> None:
    assert about("pages", ACTION).endswith("its parameter “action” can be “delete”")
    assert about("store", FILE).endswith("it takes a file's path and content")


def test_a_server_that_claims_both_contradicts_itself() -> None:
    assert "also that it may destroy" in about("report", claims=Annotations(read_only=True, destructive=True))


def test_a_tool_named_for_destroying_contradicts_that_it_destroys_nothing() -> None:
    harmless = Annotations(read_only=False, destructive=False)
    assert about("remove_page", claims=harmless) == (
        "its server says it is not destructive, but its name says “remove”"
    )
    assert about("create_page", claims=harmless) == ""


@with_hostile_text
def test_nothing_of_the_tool_is_quoted(text: str) -> None:
    schema = {
        "type": "object",
        "properties": {text: {"enum": [text]}, "method": {"enum": [f"delete {text}"]}},
    }
    assert about("x", schema) in ("", about("x", ACTION).replace("action", "method"))


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=6,
)


@given(st.text(max_size=12), st.dictionaries(st.sampled_from(["properties", "type", "$ref"]), anything))
def test_no_name_or_schema_is_too_odd(name: str, schema: JsonObject) -> None:
    assert isinstance(about(name, schema), str)


READS_TAG = Tool("shop", "list_orders", annotations=Annotations(read_only=True), tags=("sales", "money"))
TAGS = Tags({"shop": ("money",)}, {"shop:list_*": ("lists",), "mail:*": ("comms",)})
names = st.lists(st.sampled_from("abcdef"), max_size=4)


def test_a_tag_says_where_it_comes_from_and_the_person_comes_before_the_server() -> None:
    assert TAGS.of(READS_TAG) == {
        "money": TagOrigin.SERVER,
        "lists": TagOrigin.SETTING,
        "sales": TagOrigin.METADATA,
        "read-only": TagOrigin.CLAIM,
    }


def test_a_pattern_tags_the_tools_it_matches_alone() -> None:
    assert TAGS.of(Tool("mail", "send")) == {"comms": TagOrigin.SETTING}
    assert TAGS.of(Tool("wiki", "search")) == {}


@given(names, names, names)
def test_what_a_tool_lacks_are_the_wanted_tags_that_it_does_not_have(
    server: list[str], told: list[str], wanted: list[str]
) -> None:
    tool = Tool("s", "t", tags=tuple(told))
    tags = Tags({"s": server})
    assert set(tags.missing(tool, wanted)) == set(wanted) - {*server, *told}
    assert set(tags.known([tool])) == {*server, *told}


def test_a_model_is_offered_the_tags_of_most_tools_and_no_mere_claims() -> None:
    tools = [
        Tool("s", f"t{n}", tags=("all", f"own{n}"), annotations=Annotations(read_only=True))
        for n in range(99)
    ]
    offered = Tags().offered(tools)
    assert offered[0] == "all"
    assert "read-only" not in offered
    assert len(offered) == MOST_OFFERED


def test_a_tool_without_tags_has_the_hash_that_it_was_approved_by() -> None:
    plain = Tool("shop", "list_orders", "Lists.")
    assert definition_hash(plain).startswith("6933f51e1a56961c")
    assert definition_hash(plain) != definition_hash(Tool("shop", "list_orders", "Lists.", tags=("x",)))
