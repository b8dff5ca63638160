"""The circuit breakers that all sessions on this machine share: listed, and reset by hand."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from inspector.cli.options import Options, as_json, database
from inspector.cli.table import say, say_json, say_table
from inspector.core.breaker import Breaker, BreakerKey, BreakerState, reset as reset_breaker
from inspector.core.closest import closest
from inspector.core.error import ConfigError
from inspector.core.number import count, duration, percent

_NONE = "Circuit breakers have not counted any calls yet. Turn them on with --profile stack."


@click.command()
@click.option(
    "--reset",
    "names",
    multiple=True,
    metavar="NAME",
    help="Close the breaker for a server (NAME) or tool (SERVER:TOOL), whatever it has counted. "
    "May be repeated.",
)
@database
@as_json
def breakers(names: tuple[str, ...], database: Path | None, as_json: bool) -> None:
    """List the circuit breakers that all sessions share.

    A breaker opens when too many calls fail. It then rejects calls at once until one may try again.

    \b
    toolsight doctor breakers --reset shop:list_orders
    """
    chosen = Options(database=database)
    _reset(chosen, names)
    if not names:
        _list(chosen, as_json=as_json)


def _reset(chosen: Options, names: Sequence[str]) -> None:
    """Close breakers by name. Raises ConfigError, with the nearest names, if there is none."""
    from inspector.cli.composition import open_breakers
    from inspector.core.number import SystemClock

    store, now = open_breakers(chosen), SystemClock().now()
    known = store.every()
    for name in names:
        keys = [key for key, breaker in known.items() if breaker.name == name]
        if not keys:
            near = ", ".join(closest(name, [breaker.name for breaker in known.values()]))
            hint = f"Closest: {near}." if near else "`toolsight doctor breakers` lists them."
            raise ConfigError(f"there is no breaker for '{name}'", hint=hint)
        for key in keys:
            store.update(key, lambda one: reset_breaker(one, now))
        say(f"{name}: closed")


def _list(chosen: Options, *, as_json: bool) -> None:
    from inspector.cli.composition import open_breakers
    from inspector.core.number import SystemClock

    known, now = open_breakers(chosen).every(), SystemClock().now()
    ordered = sorted(known.items(), key=lambda pair: (_ORDER[pair[1].state], pair[1].name, pair[0].tool))
    if as_json:
        say_json([_json(key, breaker, now) for key, breaker in ordered])
        return
    if not known:
        say(_NONE)
        return
    headers = ("breaker", "state", "failed", "of calls", "retry in", "why")
    say_table(headers, [_row(breaker, now) for _, breaker in ordered], right=frozenset({2, 3, 4}))
    shut = sum(breaker.state is not BreakerState.CLOSED for breaker in known.values())
    say(f"{count(len(known), 'breaker')}, {shut} not closed")


_ORDER = {BreakerState.OPEN: 0, BreakerState.HALF_OPEN: 1, BreakerState.CLOSED: 2}


def _row(breaker: Breaker, now: float) -> tuple[str, ...]:
    calls, wait = len(breaker.calls), breaker.wait(now)
    tried = duration(wait) if wait else "now" if breaker.state is BreakerState.OPEN else ""
    rate = percent(breaker.failure_rate) if calls else ""
    return breaker.name, str(breaker.state), rate, f"{calls:,}", tried, breaker.why


def _json(key: BreakerKey, breaker: Breaker, now: float) -> dict[str, Any]:
    return {
        **asdict(breaker),
        "server": key.server,
        "tool": key.tool,
        "failure_rate": breaker.failure_rate,
        "wait": breaker.wait(now),
    }
