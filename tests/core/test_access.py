"""Tests for who may see which tools."""

import pytest
from hypothesis import given, strategies as st

from inspector.core.access import EVERYTHING, AccessPolicy, Grant, Scope, User, matches_any
from inspector.core.error import ConfigError

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


@given(st.text())
def test_without_a_policy_everything_is_visible(tool: str) -> None:
    assert EVERYTHING.permits(tool)
    assert EVERYTHING.is_whole


@given(st.text("ab*?[.", max_size=8))
def test_only_star_and_question_mark_are_wild(name: str) -> None:
    assert matches_any(name, (name,))
    assert matches_any(name, ("*",))
    assert not matches_any(f"{name}x", (name.replace("*", "a").replace("?", "a"),))
