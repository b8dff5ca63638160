"""`toolsight doctor`: whether everything works here, local models, orphaned processes, circuit breakers."""

import asyncio
import os
import platform
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click
from msgspec import Struct, to_builtins

from inspector import __version__
from inspector.cli.composition import counter_for, make_embedder, open_breakers
from inspector.cli.launch import as_client
from inspector.cli.location import database_path, tap_notes_path
from inspector.cli.options import (
    COMMON,
    DATABASE,
    CommandGroup,
    Options,
    as_json,
    require_nobody,
    session_command,
)
from inspector.cli.run import Exit, found_in
from inspector.cli.stores import open_store
from inspector.cli.table import say, show
from inspector.clients.client import Client
from inspector.config.client import client_files, is_there
from inspector.core.error import BreakerState, ConfigError, ToolsightError
from inspector.core.number import byte_size, count, duration, percent
from inspector.core.ports import LocalModel, SystemClock
from inspector.core.report import COUNT, NAME, NUMBER, Column, Table
from inspector.core.text import closest
from inspector.loop.breaker import Breaker, BreakerKey, BreakerStore, reset as reset_breaker
from inspector.loop.model.local import LocalModelServers
from inspector.mcp.reaper import end_orphans, orphans as find_orphans
from inspector.store.server_memory import TapNotes
from inspector.tokens.accounting import LitellmPrices


@click.command()
@as_json
def models() -> None:
    """List local models, which need no key.

    Tries Ollama, LM Studio and llama.cpp on their usual ports, with half a second for each to answer.

    \b
    toolsight doctor models
    """
    local = LocalModelServers()
    found = asyncio.run(_found(local))
    data = [{**to_builtins(model), "options": _options(model)} for model in found]
    show(data, _models(found, local.servers))


async def _found(local: LocalModelServers) -> list[LocalModel]:
    """All models, in the order of their names: which server answers first says nothing."""
    async with aclosing(local.find()) as servers:
        return sorted([model async for models in servers for model in models], key=lambda model: model.name)


def _models(found: Sequence[LocalModel], servers: Sequence[str]) -> Iterator[str]:
    if not found:
        yield f"No local model server found. Looked for {', '.join(servers)}."
        yield "For any other OpenAI-compatible server: --model hosted_vllm/NAME --api-base http://HOST:PORT/v1"
        return
    for model in found:
        yield f"{model.name}   {model.about}"
        yield f"    {shlex.join(_options(model))}"
    yield "\nUse these options with any command, without a key. The app's model dialog lists the same models."


def _options(model: LocalModel) -> list[str]:
    window = ["--window", str(model.window)] if model.window else []
    return ["--model", model.name, "--api-base", model.api_base, *window]


@session_command(takes=COMMON)
@click.option("--end", is_flag=True, help="End them with SIGTERM, then SIGKILL after two seconds.")
@as_json
def orphans(end: bool, chosen: Options) -> None:
    """List or end processes that servers left behind.

    They keep running if Toolsight is killed along with its reaper, or if they leave their server's process
    group. Servers of a running Toolsight are not listed. The exit code is 1 if a process could not be ended.

    \b
    toolsight doctor orphans --end
    """
    require_nobody(chosen)
    found = find_orphans()
    columns = (Column("pid", "pid", NUMBER), Column("started"), Column("command"))
    told = count(len(found), "orphaned process", "orphaned processes")
    show([one._asdict() for one in found], [Table.of(columns, found), told])
    left = end_orphans() if end and found else []
    if left:
        say(f"still running after being killed: {', '.join(map(str, left))}", err=True)
        sys.exit(Exit.FAILED)


@session_command(takes=(DATABASE,))
@click.option(
    "--reset",
    "names",
    multiple=True,
    metavar="NAME",
    help="Close the breaker for a server (NAME) or tool (SERVER:TOOL), whatever it has counted. "
    "May be repeated.",
)
@as_json
def breakers(names: tuple[str, ...], chosen: Options) -> None:
    """List the circuit breakers that all sessions share.

    A breaker opens when too many calls fail. It then rejects calls at once until one may try again.

    \b
    toolsight doctor breakers --reset shop:list_orders
    """
    store, now = open_breakers(chosen), SystemClock().now()
    known = store.every()
    for name in names:
        _reset(store, known, name, now)
    if not names:
        ordered = sorted(known.items(), key=lambda pair: (_ORDER[pair[1].state], pair[1].name, pair[0].tool))
        data = [
            {
                **to_builtins(breaker),
                "failure_rate": breaker.failure_rate,
                "server": key.server,
                "tool": key.tool,
                "wait": breaker.wait(now),
            }
            for key, breaker in ordered
        ]
        show(data, _breaker_list([breaker for _, breaker in ordered], now))


def _reset(store: BreakerStore, known: Mapping[BreakerKey, Breaker], name: str, now: float) -> None:
    """Close the breakers of a name. Raises ConfigError, with the nearest names, if there is none."""
    keys = [key for key, breaker in known.items() if breaker.name == name]
    if not keys:
        near = ", ".join(closest(name, [breaker.name for breaker in known.values()]))
        hint = f"Closest: {near}." if near else "`toolsight doctor breakers` lists them."
        raise ConfigError(f"there is no breaker for '{name}'", hint=hint)
    for key in keys:
        store.update(key, lambda one: reset_breaker(one, now))
    say(f"{name}: closed")


_ORDER = {BreakerState.OPEN: 0, BreakerState.HALF_OPEN: 1, BreakerState.CLOSED: 2}


def _breaker_list(known: Sequence[Breaker], now: float) -> Iterator[str | Table]:
    if not known:
        yield "Circuit breakers have not counted any calls yet. Turn them on with --profile stack."
        return
    columns = (
        Column("breaker", "name"),
        Column("state"),
        Column("failed", lambda one: percent(one.failure_rate) if one.calls else "", NUMBER),
        Column("of calls", lambda one: len(one.calls), COUNT),
        Column("retry in", lambda one: _retried(one, now), NUMBER),
        Column("why"),
    )
    yield Table.of(columns, known)
    yield f"{count(len(known), 'breaker')}, {_not_closed(known)} not closed"


def _retried(breaker: Breaker, now: float) -> str:
    wait = breaker.wait(now)
    return duration(wait) if wait else "now" if breaker.state is BreakerState.OPEN else ""


def _not_closed(known: Iterable[Breaker]) -> int:
    return sum(breaker.state is not BreakerState.CLOSED for breaker in known)


_PACKAGES = ("textual", "mcp", "litellm", "fastembed", "tiktoken")
_MODEL = "openai/gpt-5"


class Check(Struct, frozen=True):
    """What was looked at, whether it works, what was found, and what to do about it."""

    name: str
    works: bool
    found: str
    hint: str = ""


class _Doctor(CommandGroup):
    """A word that is no command of it names a server."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        return super().resolve_command(ctx, args if args[0] in self.modules else ["server", *args])


@click.group(cls=_Doctor, invoke_without_command=True, takes=COMMON)
@as_client
@as_json
@click.pass_context
def doctor(context: click.Context, /, client: Client | None, chosen: Options) -> None:
    """Check this machine, or why a client lacks a server's tools.

    Checks packages, database, tokenizer, embedding model, prices, terminal and more, without starting
    servers or downloading anything. With SERVER, walks from the client's file to its model, up to the step
    that loses a tool; see `toolsight doctor server --help`. The exit code is 1 if a check fails.

    \b
    toolsight doctor
    toolsight doctor shop --client codex
    """
    if context.invoked_subcommand is not None:
        return
    if client is not None or chosen.server or chosen.config or chosen.demo:
        from inspector.features.setup.walk_command import walk_to

        walk_to("", client, chosen)
        return
    checks = examine(chosen)
    columns = (
        Column("", lambda check: "✓" if check.works else "✕"),
        Column("what", "name", NAME),
        Column("found"),
    )
    hints = [f"{check.name}: {check.hint}" for check in checks if check.hint]
    show(checks, [Table.of(columns, checks), *hints])
    if not all(check.works for check in checks):
        sys.exit(Exit.FAILED)


def examine(options: Options) -> Sequence[Check]:
    """Every check, in the order of what depends on what; one that fails hides none of the others."""
    checks: dict[str, Callable[[], Check]] = {
        "program": _program,
        "packages": _packages,
        "database": partial(_database, options),
        "tokenizer": _tokenizer,
        "embedding model": _embedding,
        "prices": _prices,
        "configuration": _configuration,
        "terminal": _terminal,
        "orphans": _orphans,
        "breakers": partial(_breakers, options),
        "taps": _taps,
    }
    return [_safely(name, check) for name, check in checks.items()]


def _safely(name: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except (ToolsightError, OSError) as error:
        if isinstance(error, ToolsightError):
            return Check(name, works=False, found=error.message, hint=error.hint)
        return Check(name, works=False, found=str(error.strerror or error))


def _program() -> Check:
    system = f"{platform.system()} {platform.machine()}"
    return Check("program", True, f"toolsight {__version__}, Python {platform.python_version()}, {system}")


def _packages() -> Check:
    versions = {name: _version(name) for name in _PACKAGES}
    missing = [name for name, number in versions.items() if not number]
    found = ", ".join(f"{name} {number or 'missing'}" for name, number in versions.items())
    return Check("packages", not missing, found, "Reinstall Toolsight." if missing else "")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _database(options: Options) -> Check:
    path = database_path(options)
    sessions = len(open_store(options).sessions())
    return Check("database", True, f"{path}, {byte_size(path.stat().st_size)}, {count(sessions, 'session')}")


def _tokenizer() -> Check:
    counter = counter_for(_MODEL)
    counter.count("ready")
    return Check("tokenizer", True, f"{counter.tokenizer.name} works offline")


def _embedding() -> Check:
    embedder = make_embedder("packaged")
    assert embedder is not None
    (vector,) = embedder.embed(["ready"])
    return Check("embedding model", True, f"{embedder.name}, {len(vector)} dimensions")


def _prices() -> Check:
    found = LitellmPrices().prices(_MODEL)
    if found is None:
        return Check("prices", False, f"no price for {_MODEL}", "Reinstall litellm.")
    return Check("prices", True, f"{found.source}, {found.date}")


def _configuration() -> Check:
    here = found_in(Path.cwd())
    files = client_files(Path.home(), Path.cwd(), sys.platform, os.environ)
    there = list(dict.fromkeys(file.client for file in files if is_there(file)))
    own = f"{here.name} in this folder" if here is not None else "none in this folder"
    return Check("configuration", True, f"{own}; on this machine: {', '.join(there) or 'no client has one'}")


def _terminal() -> Check:
    if not sys.stdout.isatty():
        return Check("terminal", True, "none, because output is redirected")
    width, height = shutil.get_terminal_size()
    colours = (
        "true colour" if os.environ.get("COLORTERM") in ("truecolor", "24bit") else "256 colours or fewer"
    )
    kind = os.environ.get("TERM", "unknown")
    is_large = width >= 80 and height >= 24
    hint = "" if is_large else "The app needs at least 80 columns and 24 rows."
    return Check("terminal", is_large, f"{kind}, {width}x{height}, {colours}", hint)


def _orphans() -> Check:
    left = find_orphans()
    hint = "`toolsight doctor orphans --end` ends them." if left else ""
    return Check("orphans", True, count(len(left), "orphaned process", "orphaned processes"), hint)


def _breakers(options: Options) -> Check:
    known = open_breakers(options).every().values()
    shut = _not_closed(known)
    hint = "`toolsight doctor breakers` lists them." if shut else ""
    return Check("breakers", not shut, f"{count(len(known), 'circuit breaker')}, {shut} not closed", hint)


def _taps() -> Check:
    notes = TapNotes(tap_notes_path()).all()
    hint = f"A tap that records again removes its note from {tap_notes_path()}." if notes else ""
    return Check("taps", not notes, "; ".join(note.text for note in notes) or "all record what passes", hint)
