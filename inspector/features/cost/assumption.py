"""What is assumed of a session that never was: options of `cost` and `audit`, and the rows that list them."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import click

from inspector.cli.options import checked_values, with_options
from inspector.config.setting import Knob, knobs_of, render_value
from inspector.core.budget import Prices, cache_terms
from inspector.core.error import ConfigError, ToolsightError
from inspector.core.prompt_cache import FIVE_MINUTES, HOUR, CacheTerms, Ttl
from inspector.core.text import closest
from inspector.schema.schema import ModelFeatures
from inspector.tokens.break_even import ranges
from inspector.tokens.plan import Assumptions, Plan

HEADERS = ("assumption", "value", "break-even over", "meaning")
_KNOBS = {knob.path: knob for knob in knobs_of(Assumptions)}


@dataclass(frozen=True, slots=True)
class Assumed:
    """What a person chose: the assumptions, the names of those that were given, and the cache's lifetime."""

    assumptions: Assumptions
    given: tuple[str, ...]
    ttl: Ttl = FIVE_MINUTES

    def terms(self, prices: Prices | None, model: str, features: ModelFeatures) -> CacheTerms:
        """The terms of the prompt cache. Raises ToolsightError if the model has no price for an hour."""
        if self.ttl == HOUR and (prices is None or prices.hour_terms is None):
            priced = model if prices is None else prices.model
            raise ToolsightError(
                f"'{priced}' has no price for a one-hour cache",
                hint="Anthropic models have one, such as --model anthropic/claude-sonnet-4-5.",
            )
        return cache_terms(prices, features, self.ttl)


def assumed(given: Mapping[str, Any], ttl: Ttl) -> Assumed:
    """What the options say. Raises ConfigError."""
    checked = {name: _KNOBS[name].check(value) for name, value in given.items()}
    return Assumed(Assumptions(**checked), tuple(checked), ttl)


def assumption_rows(plan: Plan, assumptions: Assumptions) -> list[tuple[str, str, str, str]]:
    """Each assumption of a plan, the range that break-even points are looked for over, and its meaning."""
    spread = ranges(plan, assumptions)
    return [
        (
            field.name,
            render_value(getattr(assumptions, field.name)),
            " to ".join(f"{end:g}" for end in spread.get(field.name, ())),
            str(field.metadata["about"]),
        )
        for field in fields(assumptions)
        if field.name in plan.assumed
    ]


def _found(name: str) -> Knob:
    if name not in _KNOBS:
        near = closest(name, list(_KNOBS), limit=1) or list(_KNOBS)
        raise ConfigError(f"there is no assumption '{name}'", hint=f"Did you mean {', '.join(near)}?")
    return _KNOBS[name]


_assume = click.option(
    "--assume",
    multiple=True,
    metavar="NAME=VALUE",
    callback=lambda _context, _parameter, pairs: checked_values("--assume", pairs, _found),
    help="Change an assumption that `toolsight cost` lists, such as calls=12 or growth=300. May be repeated.",
)
_ttl = click.option(
    "--ttl",
    type=click.Choice([FIVE_MINUTES, HOUR]),
    default=FIVE_MINUTES,
    show_default=True,
    help="How long a cached prefix lasts; 1h needs a model that has a price for it.",
)
assuming = with_options(_assume, _ttl)
"""Adds the options `--assume` and `--ttl`; see `assumed`."""
