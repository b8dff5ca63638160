"""What `toolsight doctor` lists: local models, processes that earlier runs left, and circuit breakers."""

import asyncio
import shlex
import sys
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from inspector.cli.composition import make_local_models
from inspector.cli.options import Options, as_json, database, owner_options, shared
from inspector.cli.outcome import Exit
from inspector.cli.run import interruptible
from inspector.cli.table import say, say_json, say_table
from inspector.core.breaker import BreakerState
from inspector.core.closest import closest
from inspector.core.error import ConfigError
from inspector.core.number import count, duration, percent
from inspector.core.ports import Leftovers, LocalModel, LocalModels
from inspector.core.server import Leftover, ended_text, since_text
from inspector.reliability.breaker import Breaker, BreakerKey, reset as reset_breaker


@click.command()
@as_json
def models(as_json: bool) -> None:
    """List local models, which need no key.

    Tries Ollama, LM Studio and llama.cpp on their usual ports, with half a second for each to answer.

    \b
    toolsight doctor models
    """
    local = make_local_models()
    found = asyncio.run(_found(local))
    if as_json:
        say_json([_as_object(model) for model in found])
    elif not found:
        say(f"No local model server found. Looked for {', '.join(local.servers)}.")
        say("For any other OpenAI-compatible server: --model hosted_vllm/NAME --api-base http://HOST:PORT/v1")
    else:
        _say_models(found)


async def _found(local: LocalModels) -> list[LocalModel]:
    """All models, in the order of their names: which server answers first says nothing."""
    async with aclosing(local.find()) as servers:
        return sorted([model async for models in servers for model in models], key=lambda model: model.name)


def _say_models(found: list[LocalModel]) -> None:
    for model in found:
        say(f"{model.name}   {', '.join(filter(None, (model.about, model.size_text)))}")
        say(f"    {shlex.join(_options(model))}")
    say("\nUse these options with any command, without a key. The app's model dialog lists the same models.")


def _as_object(model: LocalModel) -> dict[str, Any]:
    return {**asdict(model), "options": _options(model)}


def _options(model: LocalModel) -> list[str]:
    window = ["--window", str(model.window)] if model.window else []
    return ["--model", model.name, "--api-base", model.api_base, *window]


_LATER = "`toolsight doctor orphans` lists them; --end ends them."


def ask_about_leftovers(leftovers: Leftovers) -> None:
    """Ask whether to end what an earlier run left; without a terminal only say on stderr that it is there."""
    found = leftovers.find()
    if not found:
        return
    if not sys.stdin.isatty():
        servers = ", ".join(dict.fromkeys(each.server for each in found))
        say(f"left running by an earlier session: {servers}; {_LATER}", err=True)
        return
    say("Left running by an earlier session:", err=True)
    _say_leftovers(found, err=True)
    with interruptible():
        is_wanted = click.confirm("End these?", default=False, err=True)
    if is_wanted:
        say(ended_text(leftovers.end(found), found), err=True)
    else:
        say(f"Left running. {_LATER}", err=True)


@click.command()
@click.option("--end", is_flag=True, help="End them with SIGTERM, then SIGKILL after two seconds.")
@click.option("--keep", is_flag=True, help="Leave them running and never report them again.")
@shared
@as_json
def orphans(end: bool, keep: bool, as_json: bool, **values: Any) -> None:
    """List or end processes that servers left behind.

    They keep running if Toolsight is killed along with its reaper, or if they leave their server's process
    group. Servers of a running Toolsight are not listed. The exit code is 1 if a process could not be ended.

    \b
    toolsight doctor orphans --end
    """
    if end and keep:
        raise click.UsageError("use either --end or --keep, not both")
    from inspector.cli.composition import open_leftovers

    store = open_leftovers(owner_options(**values))
    found = store.find()
    left = store.end(found) if end else found
    if keep:
        store.keep(found)
    if as_json:
        say_json([asdict(each) for each in left])
    elif end and found:
        say(ended_text(left, found))
    else:
        _say_leftovers(found)
        say(f"{count(len(found), 'server')} left processes running" + (", kept" if keep and found else ""))
    if end and left:
        sys.exit(Exit.FAILED)


def _say_leftovers(found: Sequence[Leftover], *, err: bool = False) -> None:
    for each in found:
        pids = ", ".join(map(str, each.pids))
        kind = "detached from its server" if each.detached else "its server's process group"
        say(f"  {each.server}\n    command  {each.command}", err=err)
        say(f"    started  {since_text(each)}\n    pid      {pids} ({kind})", err=err)


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
    from inspector.core.ports import SystemClock

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
    from inspector.core.ports import SystemClock

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
