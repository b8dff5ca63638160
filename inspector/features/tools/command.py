"""`toolsight servers` and `tools`: what every server answers, lists, and the next request."""

import asyncio
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import click
from msgspec import to_builtins

from inspector.cli.launch import as_clients, options_as, run_headless
from inspector.cli.options import COMMON, Options, as_json, session_command
from inspector.cli.run import Exit, run
from inspector.cli.table import show, side_by_side, terminal_width
from inspector.clients.client import Client
from inspector.clients.delivery import ServerDelivery
from inspector.core.access import ServerRule
from inspector.core.error import ConfigError, ToolsightError
from inspector.core.number import count, milliseconds
from inspector.core.report import COUNT, MILLISECONDS, NAME, NUMBER, Block, Column, Fact, Facts, Table
from inspector.core.server import STDERR_LINES, ServerPhase
from inspector.core.session import ServerState
from inspector.core.text import closest
from inspector.core.tool import contradiction
from inspector.features.tools.facts import (
    delivery_lines,
    failure_facts,
    frame_json,
    frame_time,
    tool_json,
    verdict_json,
    views_fact,
    warning_facts,
)
from inspector.mcp.frame import Flaw, Frame
from inspector.mcp.reading import KINDS, declares
from inspector.session.client_matrix import Row, fate, fate_table, matrix_json, reason_lines, rows
from inspector.session.client_view import (
    ClientView,
    catalog_json,
    catalog_report,
    deliveries_in,
    delivery_json,
    delivery_report,
    listed_in,
    session_as,
)
from inspector.session.workbench import Workbench

# What no server is called: every server.
_EVERY = "\0"
_SERVERS = (
    Column("server", "name"),
    Column("state", "phase"),
    Column("tools", kind=NUMBER),
    Column("tokens", kind=NUMBER),
    Column("protocol", "info.protocol"),
    Column("ms", lambda server: f"{server.milliseconds:.0f}", NUMBER),
    Column("reason"),
)


@session_command(takes=COMMON)
@click.option(
    "--wire",
    is_flag=False,
    flag_value=_EVERY,
    default="",
    metavar="[SERVER]",
    help="Show the messages exchanged with one server or with all. They are never stored.",
)
@click.option("--ping", is_flag=True, help="Ping every server, and show how long its answer took.")
@click.option("--sign-in", "enter", metavar="SERVER", help="Sign in to a server that needs it (OAuth).")
@click.option("--sign-out", "leave", metavar="SERVER", help="Forget the sign-in to a server.")
@as_json
def servers(wire: str, ping: bool, enter: str | None, leave: str | None, chosen: Options) -> None:
    """Connect to every server and show what happened.

    The exit code is 1 if a server failed. Nothing but --sign-in ever opens a browser: everywhere else, a
    stored sign-in is used and refreshed, and a server without one is listed as such.

    \b
    toolsight servers --config .mcp.json
    toolsight servers --sign-in tracker
    """
    if enter is not None or leave is not None:
        _sign(enter, leave, chosen)
        return

    async def work(bench: Workbench) -> None:
        if wire:
            _show_wire(bench, _named(bench, "" if wire == _EVERY else wire))
            return
        if ping:
            answers = [await _pinged(bench, name) for name in bench.state.servers]
            show(answers, (one["answer"] for one in answers))
            return
        states = bench.state.servers.values()
        offers = await asyncio.gather(*(_offers(bench, state) for state in states))
        flaws = [_flaws(bench, state.name) for state in states]
        found = deliveries_in(listed_in(bench))
        data = [
            {
                **to_builtins(one),
                **offered,
                "flaws": of,
                "notes": _notes(bench, one.name),
                "clients": [verdict_json(each) for each in found if each.listed.server == one.name],
            }
            for one, offered, of in zip(states, offers, flaws, strict=True)
        ]
        show(data, _servers(bench, states, found, offers))

    if not run_headless(chosen, work, listing=True, tell_problems=False):
        sys.exit(Exit.FAILED)


async def _pinged(bench: Workbench, server: str) -> dict[str, Any]:
    """What a server answered, and after how many milliseconds; None if it did not."""
    try:
        method, took = await bench.ping(server)
    except ToolsightError as error:
        return {"server": server, "answer": error.message, "milliseconds": None}
    after = "" if took is None else f" in {milliseconds(took)}"
    return {"server": server, "answer": f"{server} answered {method}{after}", "milliseconds": took}


def _sign(enter: str | None, leave: str | None, chosen: Options) -> None:
    from inspector.features.tools.sign_in_command import sign_in, sign_out

    if leave is not None:
        sign_out(leave, chosen)
    if enter is not None:
        run(sign_in(enter, chosen))


async def _offers(bench: Workbench, server: ServerState) -> dict[str, Any]:
    """How many resources, templates and prompts a server lists, and what is wrong with these lists."""
    offers, kinds = bench.offers(server.name), [kind for kind in KINDS if declares(server.info, kind)]
    listed = await asyncio.gather(*(offers.listed(kind) for kind in kinds)) if offers is not None else []
    number = Counter(one.list for each in listed for one in each.offers)
    told = [trouble for each in listed for trouble in each.troubles]
    names = {"resources": "resources", "templates": "resourceTemplates", "prompts": "prompts"}
    return {**{name: number[key] for name, key in names.items()}, "list_problems": told}


def _servers(
    bench: Workbench,
    states: Iterable[ServerState],
    found: Sequence[ServerDelivery],
    offers: Iterable[Mapping[str, Any]],
) -> Iterator[Block]:
    """The servers, and below what the table has no room for."""
    yield Table.of(_SERVERS, states)
    for server, offered in zip(states, offers, strict=True):
        if facts := tuple(fact for fact in _told(bench, server, offered) if fact.text):
            yield Facts(facts, server.name)
    if off := bench.configuration.disabled:
        yield f"\nturned off in {bench.configuration.source}: {', '.join(off)}"
    if found:
        yield "\nIn clients:"
        yield from (f"  {line}" for line in delivery_lines(found))


def _told(bench: Workbench, server: ServerState, offered: Mapping[str, Any]) -> Iterator[Fact]:
    """What else a server lists, why it failed, what to look at, and what its configuration says in vain."""
    nouns = ("resource", "template", "prompt")
    listed = (count(offered[f"{one}s"], one) for one in nouns if offered[f"{one}s"])
    yield Fact("also lists", ", ".join(listed))
    yield from (Fact("lists", one, warns=True) for one in offered["list_problems"])
    yield views_fact(bench.catalog.views_of(server.name))
    if server.phase is ServerPhase.FAILED:
        yield from failure_facts(server)
        yield Fact("stderr", "\n".join(server.stderr_tail.splitlines()[-STDERR_LINES:]))
    yield from warning_facts(server, _flaws(bench, server.name))
    yield from (Fact("settings", one, warns=True) for one in _notes(bench, server.name))


def _named(bench: Workbench, name: str) -> tuple[str, ...]:
    """The server of that name, or every server for "". Raises ConfigError."""
    known = tuple(bench.state.servers)
    if name and name not in known:
        near = ", ".join(closest(name, list(known)) or known)
        raise ConfigError(f"there is no server '{name}'", hint=f"Servers: {near}.")
    return (name,) if name else known


def _notes(bench: Workbench, server: str) -> list[str]:
    """What its configuration says in vain, and which of its tools that keeps from the model."""
    specs = [spec for spec in bench.configuration.servers if spec.name == server]
    ruled = [f"its configuration gives the model {spec.rule}" for spec in specs if spec.rule != ServerRule()]
    return [*(one.full for one in bench.state.problems if one.server == server and not one.entry), *ruled]


def _flaws(bench: Workbench, server: str) -> tuple[Flaw, ...]:
    """What was repaired or dropped of a server's messages."""
    log = bench.wire(server)
    return log.flaws() if log is not None else ()


_FRAMES = (
    Column("time, UTC", frame_time, NAME),
    Column("", "arrow", NAME),
    Column("message", "what"),
    Column("id"),
    Column("bytes", "size", COUNT),
    Column("took", "milliseconds", MILLISECONDS),
)


def _show_wire(bench: Workbench, names: Sequence[str]) -> None:
    """Print the frames of these servers, oldest first, as far as they are kept."""
    logs = [(server, *_frames(bench, server)) for server in names]
    data = [
        {
            "server": server,
            "dropped": dropped,
            "frames": [*map(frame_json, frames)],
            "flaws": _flaws(bench, server),
        }
        for server, frames, dropped in logs
    ]

    def report() -> Iterator[str | Table]:
        for server, frames, dropped in logs:
            before = f", {dropped:,} dropped before" if dropped else ""
            yield f"{server}: {count(len(frames), 'message')}{before}"
            if frames:
                yield Table.of(_FRAMES, frames)
            yield ""

    show(data, report())


def _frames(bench: Workbench, server: str) -> tuple[tuple[Frame, ...], int]:
    log = bench.wire(server)
    if log is None:
        return (), 0
    frames = log.frames()
    return frames, log.total - len(frames)


@session_command(takes=COMMON)
@click.argument("tool_id", default="", metavar="[TOOL]")
@click.option(
    "--request", is_flag=True, help="Show the next request: the manifest and the tools, exactly as sent."
)
@as_clients
@as_json
def tools(tool_id: str, request: bool, clients: tuple[Client, ...], chosen: Options) -> None:
    """List the tools with their tokens and states.

    Warns about tools whose name or parameters contradict their annotations. With --client, lists the tools
    as that client gets them, or shows TOOL in full; with several, side by side. The exit code is 1 if a
    server failed, because its tools are missing.

    \b
    toolsight tools --client codex server.py
    toolsight tools --client codex --client claude-code server.py
    """
    if request and (tool_id or clients):
        raise click.UsageError("Use --request without TOOL or --client.")
    if tool_id and not clients:
        raise click.UsageError("TOOL needs --client. To call a tool, use `toolsight call TOOL`.")

    async def work(bench: Workbench) -> None:
        if request:
            _show_request(bench)
        elif clients:
            _show_as(bench, clients, tool_id)
        else:
            show([tool_json(bench, tool) for tool in bench.catalog.tools], _tools(bench))

    # What one client declares may change what servers list; for several, they list it to Toolsight itself.
    given = options_as(chosen, clients[0]) if len(clients) == 1 else chosen
    if not run_headless(given, work, listing=True):
        sys.exit(Exit.FAILED)


def _show_as(bench: Workbench, clients: Sequence[Client], tool_id: str) -> None:
    """Print the catalog, or one tool of it, as clients get it. Raises ToolsightError for another id."""
    views = [session_as(bench, client) for client in clients]
    found, (view, *others) = rows(views), views
    if tool_id:
        of = view.tool(tool_id) or view.tool(bench.catalog.require(tool_id).id)
        found = tuple(row for row in found if row[0] is of)
    if others:
        show(matrix_json(found), _side_by_side(views, found, whole=bool(tool_id)))
    elif tool_id:
        ((one, _),) = found
        show(delivery_json(one), delivery_report(view.client, one))
    else:
        show(catalog_json(view), catalog_report(view, bench.accounting.meter.tokenizer.label))


def _side_by_side(views: Sequence[ClientView], found: Sequence[Row], *, whole: bool) -> Iterator[str | Table]:
    """The tools by client with the reasons below, or each of them whole."""
    table = fate_table([view.client for view in views], found)
    for part in side_by_side(table, terminal_width()):
        yield part
        yield ""
    for view in views if whole else ():
        one = found[0][1][view.client.name]
        yield from (f"\n{fate(one)} in {view.client.title}", *delivery_report(view.client, one))
    yield from () if whole else reason_lines(views)


def _tools(bench: Workbench) -> Iterator[str | Table]:
    states = [bench.state.tools[tool.id] for tool in bench.catalog.tools]
    yield Table.of((Column("tool", "id"), Column("state", "binding"), Column("tokens", kind=NUMBER)), states)
    yield f"{count(len(states), 'tool')}, tokens counted with {bench.accounting.meter.tokenizer.label}"
    for tool in bench.catalog.tools:
        if against := contradiction(tool):
            yield f"⚠ {tool.id}: {against}"


def _show_request(bench: Workbench) -> None:
    """Print the manifest and the `tools` array exactly as the model gets them."""
    request, meter, state = bench.next_request(), bench.accounting.meter, bench.state
    counted = meter.entries(request.tools)
    data = {
        "manifest": state.manifest,
        "rules": state.manifest_rules,
        "decision": state.decision,
        "pool": state.pool,
        "tools": request.tools,
        "tokens": sum(counted),
        "tokenizer": meter.tokenizer,
    }

    def report() -> Iterator[str | Table]:
        yield state.manifest or state.pool or "Nothing is deferred, so there is no manifest."
        yield from (f"(shortened: {rule})" for rule in state.manifest_rules)
        yield f"\ndiscovery {state.decision}\n"
        names = (entry["function"]["name"] for entry in request.tools)
        rows = tuple((name, str(number)) for name, number in zip(names, counted, strict=True))
        yield Table("", ("bound", "tokens"), rows, frozenset({1}))
        yield f"tokens counted with {meter.tokenizer.label}"

    show(data, report())
