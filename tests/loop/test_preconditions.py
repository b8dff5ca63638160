"""Which tools are closed, why, and what a broken predicate does."""

from collections.abc import Mapping

import pytest
from hypothesis import given, strategies as st

from inspector.config.predicate import Facts
from inspector.core.error import ConfigError
from inspector.core.ports import OwnPredicate
from inspector.core.settings import AccessSettings, Settings
from inspector.core.stream import LiveSettings
from inspector.loop.gate import Preconditions
from tests.support.fakes import calls, says
from tests.support.workbench import connected

WRITE = 'is_authenticated(scope="github:write")'
PLAN = "milestone_reached('plan_confirmed')"
TABLE = {"github:*": (WRITE,), "*:delete_*": (PLAN,)}
TOOLS = ("github:list_issues", "github:delete_issue", "files:delete_file", "files:read_file")


def preconditions(
    table: Mapping[str, tuple[str, ...]], own: Mapping[str, OwnPredicate] | None = None
) -> Preconditions:
    return Preconditions(LiveSettings(Settings(access=AccessSettings(preconditions=table))), own or {})


def test_a_tool_is_closed_by_every_pattern_that_is_its_own() -> None:
    assert preconditions(TABLE).closed(TOOLS, Facts()) == {
        "github:list_issues": (WRITE,),
        "github:delete_issue": (WRITE, PLAN),
        "files:delete_file": (PLAN,),
    }


def test_an_own_predicate_gets_the_facts_and_its_arguments() -> None:
    def holds_any(facts: Facts, *scopes: str, least: int = 1) -> bool:
        return len(facts.scopes.intersection(scopes)) >= least

    rules = preconditions({"*": ("holds_any('a', 'b', least=2)",)}, {"holds_any": holds_any})
    rules.check()
    assert rules.unmet("s:t", Facts(frozenset({"a"}))) == ("holds_any('a', 'b', least=2)",)
    assert rules.unmet("s:t", Facts(frozenset({"a", "b"}))) == ()


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (ValueError("no such\nplan"), "ValueError: no such plan"),
        (SystemExit(3), "SystemExit: 3"),
        (Unspeakable(), "Unspeakable:"),
    ],
)
@pytest.mark.parametrize("text", ["own()", "not own()"])
def test_an_own_predicate_that_fails_closes_the_tool_and_says_so(
    error: BaseException, shown: str, text: str
) -> None:
    def own(_: Facts) -> bool:
        raise error

    assert preconditions({"*": (text,)}, {"own": own}).unmet("s:t", Facts()) == (f"{text} (failed: {shown})",)


@pytest.mark.parametrize("answer", [None, 1])
@pytest.mark.parametrize("text", ["own()", "not own()"])
def test_only_true_and_false_are_answers(answer: object, text: str) -> None:
    def own(_: Facts) -> object:
        return answer

    (unmet,) = preconditions({"*": (text,)}, {"own": own}).unmet("s:t", Facts())  # type: ignore[dict-item]
    assert unmet.startswith(f"{text} (failed: TypeError: it returned {type(answer).__name__}")


@given(st.text())
def test_no_text_of_a_predicate_breaks_the_session(text: str) -> None:
    rules = preconditions({"*": (text,)})
    assert "(failed: ConfigError: " in rules.unmet("s:t", Facts())[0]


@pytest.mark.parametrize(
    ("text", "part", "hint"),
    [
        ("is_authentcated('x')", "no predicate 'is_authentcated'", "`is_authenticated`"),
        ("is_authenticated()", "missing a required argument", "is_authenticated(scope)"),
        ("is_authenticated('a', 'b')", "too many", "is_authenticated(scope)"),
        ("milestone_reached(1)", "needs a string", "milestone_reached(name)"),
        ("open(", "is not a call", "one call"),
    ],
)
def test_a_predicate_that_cannot_be_asked_is_found_when_it_is_loaded(text: str, part: str, hint: str) -> None:
    with pytest.raises(ConfigError) as refused:
        preconditions({"github:*": (WRITE, text)}).check()
    assert "'github:*'" in refused.value.message
    assert part in refused.value.message
    assert hint in refused.value.hint


async def test_a_bound_tool_whose_precondition_does_not_hold_never_reaches_its_server() -> None:
    values = {"access.preconditions": {"calc:*": (PLAN,)}}
    steps = (calls(("calc__evaluate", {"expression": "1 + 1"})), says("I cannot."))
    async with connected(*steps, values=values) as rig:
        await rig.bench.chat("How much is one and one?")
        assert rig.received == 0
        assert [event.reason for event in rig.events("reject")] == ["precondition not met"]
