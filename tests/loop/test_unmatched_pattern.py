"""Patterns in settings that match no tool are found, once it can be told, with the closest names."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

import pytest
from hypothesis import given, strategies as st

from inspector.config.configuration import Configuration
from inspector.config.setting import with_values
from inspector.core.access import ServerRule, Toolset
from inspector.core.error import SettingProblem, Severity
from inspector.core.server import ServerPhase, ServerSpec
from inspector.core.session import ServerState
from inspector.core.settings import Settings
from inspector.loop.unmatched_pattern import Checked, _Entry, unmatched_patterns

TOOLS = frozenset({"shop:list_orders", "shop:refund_order", "weather:get_forecast", "calc:evaluate"})
HOLDS = ("milestone_reached('agreed')",)
PRECONDITIONS = "access.preconditions"
Phases = Mapping[str, ServerPhase | None]
ALL_READY: Phases = {}


def checked(
    values: dict[str, Any] | None = None,
    *,
    toolset: Toolset | None = None,
    gone: frozenset[str] = frozenset(),
    disabled: tuple[str, ...] = (),
    phases: Phases = ALL_READY,
) -> Checked:
    """The servers are ready but for those in `phases`; None is a server that has not been started."""
    names = ("shop", "weather", "calc")
    by_name = {name: phases.get(name, ServerPhase.READY) for name in names}
    servers = {
        name: ServerState(name) if phase is None else ServerState(name, phase, target=name)
        for name, phase in by_name.items()
    }
    connected = frozenset(tool for tool in TOOLS if by_name[tool.partition(":")[0]] is ServerPhase.READY)
    configuration = Configuration(
        "test.json",
        tuple(ServerSpec(name, name) for name in names),
        {toolset.name: toolset} if toolset else {},
        disabled=disabled,
    )
    settings = with_values(Settings(), values or {})
    return Checked(configuration, settings, toolset.name if toolset else "", servers, connected, gone)


def found(given_: Checked) -> list[SettingProblem]:
    return list(unmatched_patterns(given_))


def precondition(pattern: str, phases: Phases = ALL_READY) -> list[SettingProblem]:
    return found(checked({PRECONDITIONS: {pattern: HOLDS}}, phases=phases))


def test_a_precondition_with_a_typo_is_an_error_that_names_the_closest_tool() -> None:
    (problem,) = precondition("shop:refnd_order")
    assert problem.severity is Severity.ERROR
    assert problem.full == (
        "access.preconditions “shop:refnd_order” matches no tool on shop. Did you mean `shop:refund_order`?"
    )


def test_a_precondition_for_an_unknown_server_is_an_error_before_any_server_is_ready() -> None:
    (problem,) = precondition("shops:refund_*", {"shop": None, "weather": ServerPhase.CONNECTING})
    assert (problem.severity, problem.text) == (Severity.ERROR, "matches no server")
    assert problem.hint == "Did you mean `shop:refund_*`?"


@pytest.mark.parametrize("phase", [ServerPhase.CONNECTING, None])
def test_a_pattern_is_not_judged_while_its_server_connects(phase: ServerPhase | None) -> None:
    assert precondition("shop:refnd_order", {"shop": phase}) == []


@pytest.mark.parametrize("phase", [ServerPhase.FAILED, ServerPhase.STOPPED])
def test_a_pattern_whose_server_is_away_cannot_be_checked_and_is_no_error(phase: ServerPhase) -> None:
    (problem,) = precondition("shop:refnd_order", {"shop": phase})
    assert problem.severity is Severity.UNCHECKED
    assert problem.text == "cannot be checked; not connected: shop"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("guard.exempt", ("calc:evalute",)),
        ("guard.guidance", {"calc:evalute": "Stop."}),
        ("binding.always_include", ("calc:evalute",)),
        ("discovery.expert_tools", ("calc:evalute",)),
    ],
)
def test_every_setting_with_patterns_is_checked_and_only_warned_about(path: str, value: object) -> None:
    (problem,) = found(checked({path: value}))
    assert (problem.path, problem.entry) == (path, "calc:evalute")
    assert problem.severity is Severity.WARNING
    assert problem.hint == "Did you mean `calc:evaluate`?"


def test_what_a_toolset_excludes_in_vain_is_an_error_and_what_it_includes_in_vain_a_warning() -> None:
    rules = {
        "shop": ServerRule(exclude=frozenset({"refnd_order"})),
        "calc": ServerRule(include=frozenset({"evaluate", "evalute"})),
    }
    problems = {problem.entry: problem for problem in found(checked(toolset=Toolset("t", "", rules)))}
    assert problems.keys() == {"refnd_order", "evalute"}
    assert problems["refnd_order"].severity is Severity.ERROR
    assert problems["refnd_order"].path == "tool_sets.t.servers.shop.exclude"
    assert problems["refnd_order"].hint == "Did you mean `refund_order`?"
    assert problems["evalute"].severity is Severity.WARNING


def test_a_predicate_about_the_output_of_no_tool_is_found_and_is_an_error_where_it_lets_calls_through() -> (
    None
):
    def outputs(text: str) -> list[SettingProblem]:
        return found(checked({PRECONDITIONS: {"shop:refund_order": (text,)}}))

    assert outputs("has_prior_tool_output('shop:list')") == []
    assert outputs("has_prior_tool_output(prefix='list')") == []
    (never,) = outputs("has_prior_tool_output('shop:lst')")
    assert never.severity is Severity.WARNING
    (always,) = outputs("not has_prior_tool_output('shop:lst')")
    assert (always.severity, always.entry) == (Severity.ERROR, "not has_prior_tool_output('shop:lst')")


names = st.text("ab", min_size=1, max_size=3)


@given(names, names, st.data())
def test_a_pattern_that_matches_a_tool_is_about_its_server(
    server: str, name: str, data: st.DataObject
) -> None:
    tool_id = f"{server}:{name}"
    parts = (data.draw(st.sampled_from([c, "?", "*", f"[{c}]", f"*{c}"])) for c in tool_id if c != ":")
    begun = [next(parts) for _ in server]
    pattern = f"{''.join(begun)}:{''.join(parts)}"
    assert fnmatchcase(tool_id, pattern)
    assert _Entry("x", pattern).is_about(server)
