"""Names as rules make them: replaced, cut, hashed, kept apart, refused."""

import re

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.clients.client import Client, Kind, all_clients, find_client
from inspector.clients.name import sent_name, sent_names
from inspector.clients.rule import NameRule
from inspector.clients.seen import SeenTool, see_all
from inspector.core.tool import Tool

texts = st.text(st.sampled_from("ab_-./é\ud800 "), min_size=1, max_size=90)


def seen(names: NameRule, *tools: str) -> list[SeenTool]:
    pairs = [one.split(":") for one in tools]
    client = replace(find_client("none"), names=names)
    return list(see_all(client, [Tool(server, tool) for server, tool in pairs]))


@pytest.mark.parametrize(
    ("rule", "name", "expected"),
    [
        (NameRule("{tool}", "[^a-z]", by="-"), "a.b", "a-b"),
        (NameRule("{tool}", "[^a-z]", by="\\1"), "a.b", r"a\1b"),
        (NameRule("{tool}", "-", dropped="[^a-z_]", lower=True), "A-b.C", "a_bc"),
        (
            NameRule("{tool}", limit=14, over="hash", hash="sha256", digits=8),
            "r" * 65 + "x",
            "rrrrr_885c345f",
        ),
        (NameRule("{tool}", limit=3, over="cut"), "abcd", "abc"),
        (NameRule("{tool}", limit=9, over="middle"), "abcdefghijkl", "abc...jkl"),
        # The digits are those that Node's Math.imul gives.
        (
            NameRule("{tool}", "[.]", over="hash", hash="fnv-36", hashed="changed", digits=7),
            "a.b",
            "a_b_04la3gs",
        ),
        (NameRule("{tool}", over="hash", hash="sha1", hashed="always", digits=4), "a", "a_86f7"),
        (NameRule("{tool}", limit=10, over="hash", hash="fnv-16", digits=8), "x" * 11, "x_318634af"),
        (NameRule("{tool}", limit=11, over="hash", hash="fnv-16", digits=8), "y" * 12, "y_-3568071f"),
    ],
)
def test_a_name_is_made_by_its_rule(rule: NameRule, name: str, expected: str) -> None:
    assert sent_name(rule, "s", name) == expected


def test_a_long_name_gets_the_digits_that_droid_gave_it() -> None:
    tool = "reserve_item_for_collection_at_a_branch_with_notification_by_text_message"
    expected = "library___reserve_item_for_collection_at_a_branch_with__8e088322"
    assert sent_name(find_client("droid").names, "library", tool) == expected


def test_a_name_that_equals_another_of_its_server_once_cleaned_gets_a_hash_and_the_clean_one_none() -> None:
    tools = [Tool("odd", "a.b"), Tool("odd", "a_b"), Tool("other", "a.b")]
    droid, vibe = (sent_names(find_client(name).names, tools) for name in ("droid", "vibe"))
    assert droid == ["odd___a_b_76f8dff6", "odd___a_b", "other___a_b"]
    assert vibe == ["mcp_odd.a_b_2e7336dc", "mcp_odd.a_b", "mcp_other.a_b"]


def test_gptme_hashes_the_plain_name_in_a_form_of_its_own() -> None:
    assert sent_name(find_client("gptme").names, "marked-server", "ping") == "marked-server_ping_ff1e07b5830f"


@given(st.sampled_from(all_clients()), texts, texts)
def test_no_name_is_longer_than_its_limit_unless_it_is_refused(
    client: Client, server: str, tool: str
) -> None:
    rule = client.names
    assert rule.over == "refused" or not rule.limit or len(sent_name(rule, server, tool)) <= rule.limit


@pytest.mark.parametrize(
    ("twins", "reach"),
    [("both", [0, 1, 2]), ("first", [0, 2]), ("last", [1, 2]), ("error", [2]), ("numbered", [0, 1, 2])],
)
def test_of_equal_names_those_stay_that_the_rule_says(twins: str, reach: list[int]) -> None:
    rule = NameRule("{tool}", "[.]", twins=twins)  # type: ignore[arg-type]
    found = seen(rule, "s:a.b", "t:a_b", "t:c")
    assert [place for place, one in enumerate(found) if one.refused is None] == reach
    assert all(one.refused.kind is Kind.TWIN for one in found if one.refused)
    assert (found[0].name != found[1].name) is (twins == "numbered")


def test_a_tool_that_is_refused_takes_no_other_ones_name() -> None:
    rule = NameRule("{tool}", "[.]", allowed="[a-z_]+", twins="first")
    hidden = Tool("s", "a.b", meta={"ui": {"visibility": ["app"]}})
    client = replace(find_client("none"), names=rule)
    client = replace(client, listing=replace(client.listing, hides_app_tools=True))
    assert see_all(client, [hidden, Tool("t", "a_b")])[1].refused is None


def test_one_name_may_cost_all_tools_of_its_server_and_no_others() -> None:
    rule = NameRule("{tool}", allowed="[a-z]+", refuses="server")
    found = seen(rule, "s:a", "s:b.c", "t:d")
    assert [str(one.refused or "") for one in found] == [
        "all tools of its server are refused with b.c",
        "its name has '.', which is not allowed",
        "",
    ]


def test_numbered_names_stay_within_the_limit() -> None:
    tools = [Tool("s", "x" * 30 + str(number)) for number in range(12)]
    names = sent_names(NameRule("{tool}", limit=20, over="cut", twins="numbered"), tools)
    assert len(set(names)) == 12
    assert max(map(len, names)) == 20


def test_a_name_with_another_sign_than_the_api_allows_is_refused_and_not_replaced() -> None:
    client = find_client("openai-api")
    (one,) = see_all(client, [Tool("s", "files.read")])
    assert one.name == "files.read"
    assert re.search("'.'", str(one.refused))
