"""Tags come from the configuration, the settings, servers and their annotations, and say which."""

from hypothesis import given, strategies as st

from inspector.core.definition import definition_hash
from inspector.core.tool import Annotations, Tool
from inspector.search.vocabulary import MOST_OFFERED, TagOrigin, Tags

READS = Tool("shop", "list_orders", annotations=Annotations(read_only=True), tags=("sales", "money"))
TAGS = Tags({"shop": ("money",)}, {"shop:list_*": ("lists",), "mail:*": ("comms",)})
names = st.lists(st.sampled_from("abcdef"), max_size=4)


def test_a_tag_says_where_it_comes_from_and_the_person_comes_before_the_server() -> None:
    assert TAGS.of(READS) == {
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
