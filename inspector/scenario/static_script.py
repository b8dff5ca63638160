"""Adapts a script to static binding, where every tool is bound, so that a race with it is fair."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from inspector.config.setting import find_profile
from inspector.core.number import count
from inspector.scenario.profile_comparison import STATIC
from inspector.scenario.scenario import Scenario, Step
from inspector.tokens.manifest import SEARCH_TOOLS

_NOTHING_LEFT = "There is nothing left to do."


def static_scenario(scenario: Scenario) -> Scenario:
    """The scenario with every tool bound: the same calls without the searches.

    A scripted search would still be a model call that carries every tool, which would make discovery look
    better than it is. Settings that would turn `static` into another profile are left out, and so are the
    expectations, which are about discovery.
    """
    return replace(
        scenario,
        profile=STATIC,
        settings=static_settings(scenario.settings),
        turns=tuple(_without_searches(steps) for steps in scenario.turns),
        expect=(),
        never=(),
    )


def static_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that do not override values of the `static` profile."""
    own = find_profile(STATIC).values
    return {path: value for path, value in values.items() if path not in own}


def left_out(scenario: Scenario) -> str:
    """What `static_scenario` left out, as a sentence; "" if nothing."""
    calls = [call for steps in scenario.turns for step in steps for call in step.calls]
    searches = sum(call.name == SEARCH_TOOLS for call in calls)
    if not searches:
        return ""
    steps = sum(map(len, scenario.turns)) - sum(map(len, static_scenario(scenario).turns))
    fewer = f", {count(steps, 'fewer model call')}" if steps else ""
    return f"{STATIC}: {count(searches, 'scripted search', 'scripted searches')} left out{fewer}."


def _without_searches(steps: Sequence[Step]) -> tuple[Step, ...]:
    kept = []
    for step in steps:
        calls = tuple(call for call in step.calls if call.name != SEARCH_TOOLS)
        if calls or not step.calls:
            kept.append(replace(step, calls=calls))
    return tuple(kept) or (Step(_NOTHING_LEFT),)
