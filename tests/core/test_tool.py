"""Which tools a toolset and a person's grants let somebody see."""

import pytest
from hypothesis import given, strategies as st

from inspector.core.access import AccessPolicy, Audience, Grant, Scope, ServerRule, Toolset, User, matches
from inspector.core.error import ConfigError
from inspector.core.tool import Annotations, Tool, definition, destroying_verb, why_destroys, wire_name

names = st.text(min_size=1, max_size=150)
tidy = st.from_regex(r"[A-Za-z0-9_.-]{1,128}", fullmatch=True)


@given(st.lists(st.tuples(names | tidy, names | tidy), min_size=2, max_size=30, unique=True))
def test_different_tools_never_share_a_wire_name(pairs: list[tuple[str, str]]) -> None:
    assert len({wire_name(server, name) for server, name in pairs}) == len(pairs)


def test_a_definition_carries_the_schema_as_the_server_gave_it() -> None:
    schema = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "integer"}}}
    function = definition(Tool("shop", "get", "Get it.", schema))["function"]
    assert function == {"name": "shop__get", "description": "Get it.", "parameters": schema}
    assert list(function["parameters"]["properties"]) == ["b", "a"]


TOOLS = (Tool("weather", "now"), Tool("words", "define"), Tool("words", "random_word"), Tool("math", "add"))
RESEARCH = Toolset(
    "research", servers={"weather": ServerRule(), "words": ServerRule(exclude=frozenset({"random_word"}))}
)


def ids(tools: tuple[Tool, ...]) -> list[str]:
    return [tool.id for tool in tools]


def test_a_toolset_leaves_out_other_servers_and_excluded_tools() -> None:
    assert ids(Audience(RESEARCH).of(TOOLS)) == ["weather:now", "words:define"]


def test_include_permits_only_what_it_names() -> None:
    only = Toolset("only", servers={"words": ServerRule(include=frozenset({"random_word"}))})
    assert ids(Audience(only).of(TOOLS)) == ["words:random_word"]


ACME = AccessPolicy(
    users={"ada": User("ada", "acme", ("sales",)), "bob": User("bob", "other", ("sales",))},
    grants=(
        Grant(Scope.USER, "ada", "acme", ("files:read",)),
        Grant(Scope.ROLE, "sales", "acme", ("shop:*",)),
        Grant(Scope.ORGANISATION, "acme", "acme", ("calc:*",)),
    ),
    experts={"orders": ("shop:list_*", "crm:*")},
)


@pytest.mark.parametrize("tool", ["files:read", "shop:refund", "calc:add"])
def test_a_user_sees_what_any_of_the_three_scopes_grants(tool: str) -> None:
    assert ACME.sight("ada").permits(tool)
    assert not ACME.sight("ada").permits("files:write")


def test_a_role_of_the_same_name_in_another_organisation_sees_nothing() -> None:
    assert not ACME.sight("bob").permits("shop:refund")


def test_an_expert_narrows_what_its_user_sees_and_adds_nothing() -> None:
    sight = ACME.sight("ada", "orders")

    assert sight.permits("shop:list_orders")
    assert not sight.permits("shop:refund")
    assert not sight.permits("crm:list_customers")


def test_the_grants_that_decide_are_named() -> None:
    assert [grant.scope for grant in ACME.sight("ada").deciding("shop:refund")] == [Scope.ROLE]


def test_a_grant_that_decides_names_only_its_patterns_that_match() -> None:
    policy = AccessPolicy(
        users={"ada": User("ada", "acme")},
        grants=(Grant(Scope.USER, "ada", "acme", ("files:*", "shop:*", "*:read")),),
    )
    (grant,) = policy.sight("ada").deciding("files:read")
    assert grant.patterns == ("files:*", "*:read")


def test_an_unknown_user_is_told_the_closest_name() -> None:
    with pytest.raises(ConfigError) as caught:
        ACME.sight("adda")

    assert "ada" in caught.value.hint


@given(st.text("ab*?[.", max_size=8))
def test_only_star_and_question_mark_are_wild(name: str) -> None:
    assert matches(name, (name,))
    assert matches(name, ("*",))
    assert not matches(f"{name}x", (name.replace("*", "a").replace("?", "a"),))


@pytest.mark.parametrize(
    ("name", "description", "verb"),
    [
        ("delete_page", "", "delete"),
        ("kubectlDelete", "", "delete"),
        ("find_and_remove", "", "remove"),
        ("cleanup", "This tool permanently deletes all rows.", "delete"),
        ("rows", "Use it to purge rows. Reads nothing.", "purge"),
        ("get_reset_link", "Return the link. Delete it later.", ""),
        ("tag_page", "Add and remove tags of a page.", ""),
        ("manage", "Create, update or delete a contact.", ""),
        ("click", "Click on a page.", ""),
    ],
)
def test_what_a_tool_destroys_is_read_from_the_verb_of_its_name_or_first_sentence(
    name: str, description: str, verb: str
) -> None:
    tool = Tool("s", name, description, annotations=Annotations(destructive=True))
    assert destroying_verb(tool) == verb
    assert verb in (said := why_destroys(tool))
    assert bool(said) is bool(verb)
