"""Headless twins of the servers, tools and manifest screens."""

import sys
from dataclasses import asdict
from typing import Any

import click

from inspector.cli.catalog.change import say_changes
from inspector.cli.catalog.wire import flaws, flaws_as_json, named, say_wire
from inspector.cli.client.option import as_client, options_as
from inspector.cli.client.view import say_catalog_as
from inspector.cli.launch import run_headless
from inspector.cli.options import as_json, options, shared
from inspector.cli.outcome import Exit
from inspector.cli.render import say, say_json, say_table
from inspector.domain.approval import why_ask
from inspector.domain.budget import Budget
from inspector.domain.client import Client
from inspector.domain.contradiction import contradiction
from inspector.domain.number import count, percent, tokens
from inspector.domain.server import ServerPhase
from inspector.domain.session import ServerState
from inspector.domain.tool import Tool, definition
from inspector.engine.workbench import Workbench

_STDERR_LINES = 5
# What no server is called: every server.
_EVERY = "\0"


@click.command()
@click.option(
    "--wire",
    is_flag=False,
    flag_value=_EVERY,
    default="",
    metavar="[SERVER]",
    help="Show the messages exchanged with one server or with all. They are never stored.",
)
@shared
@as_json
def servers(wire: str, as_json: bool, **values: Any) -> None:
    """Connect to every server and show what happened.

    The exit code is 1 if a server failed.

    \b
    toolsight servers --config .mcp.json
    """

    async def work(bench: Workbench) -> None:
        if wire:
            say_wire(bench, named(bench, "" if wire == _EVERY else wire), as_json=as_json)
            return
        states = bench.state.servers.values()
        if as_json:
            say_json([{**asdict(state), "flaws": flaws_as_json(bench, state.name)} for state in states])
            return
        rows = [
            (s.name, s.phase, str(s.tools), str(s.tokens), s.info.protocol, f"{s.milliseconds:.0f}", s.reason)
            for s in states
        ]
        headers = ("server", "state", "tools", "tokens", "protocol", "ms", "reason")
        say_table(headers, rows, right=frozenset({2, 3, 5}))
        for state in states:
            for one in state.news:
                say(f"! {state.name}: {one}")
            _say_failure(state)
            _say_flaws(bench, state)

    if not run_headless(options(**values), work, listing=True, tell_problems=False):
        sys.exit(Exit.FAILED)


def _say_failure(server: ServerState) -> None:
    """Print what the table has no room for: what to try, and the process's last lines of stderr."""
    if server.phase is not ServerPhase.FAILED:
        return
    say(f"\n{server.name}: {server.reason}")
    if server.hint:
        say(f"  try: {server.hint}")
    for line in server.stderr_tail.splitlines()[-_STDERR_LINES:]:
        say(f"  | {line}")


def _say_flaws(bench: Workbench, server: ServerState) -> None:
    """Print what of the server's messages was left out or repaired."""
    lines = [f"skipped {one.name}: {one.reason}" for one in server.skipped]
    lines += [str(flaw) for flaw in flaws(bench, server.name)]
    if lines:
        say(f"\n{server.name}:")
        for line in lines:
            say(f"  {line}")


@click.command()
@click.argument("tool_id", default="", metavar="[TOOL]")
@click.option(
    "--changes",
    is_flag=True,
    help="Show what changed since each server's last connection: new, removed and changed tools.",
)
@click.option(
    "--request", is_flag=True, help="Show the next request: the manifest and the tools, exactly as sent."
)
@as_client
@shared
@as_json
def tools(
    tool_id: str, changes: bool, request: bool, client: Client | None, as_json: bool, **values: Any
) -> None:
    """List the tools with their tokens and states.

    Warns about tools whose name or parameters contradict their annotations. With --client, lists the tools
    as that client gets them, or shows TOOL in full. The exit code is 1 if a server failed, because its tools
    are missing.

    \b
    toolsight tools --client codex server.py
    """
    if changes + request > 1 or ((changes or request) and (tool_id or client is not None)):
        raise click.UsageError("Use either --changes or --request, without TOOL or --client.")
    if tool_id and client is None:
        raise click.UsageError("TOOL needs --client. To call a tool, use `toolsight call TOOL`.")

    async def work(bench: Workbench) -> None:
        if changes:
            say_changes(bench, as_json=as_json)
        elif request:
            _say_request(bench, as_json=as_json)
        elif client is not None:
            say_catalog_as(bench, client, tool_id, as_json=as_json)
        elif as_json:
            say_json([_tool_json(bench, tool) for tool in bench.catalog.tools])
        else:
            _say_tools(bench)

    if not run_headless(options_as(client, **values), work, listing=True):
        sys.exit(Exit.FAILED)


def _tool_json(bench: Workbench, tool: Tool) -> dict[str, Any]:
    return {
        **asdict(bench.state.tools[tool.id]),
        "description": tool.description,
        "definition": definition(tool),
        "annotations": asdict(tool.annotations),
        "tags": bench.retrieval.rules.tags.of(tool),
        "contradiction": contradiction(tool),
        "asked": why_ask(tool, bench.state),
    }


def _say_tools(bench: Workbench) -> None:
    rows = [
        (tool.id, bench.state.tools[tool.id].binding, str(bench.state.tools[tool.id].tokens))
        for tool in bench.catalog.tools
    ]
    say_table(("tool", "state", "tokens"), rows, right=frozenset({2}))
    say(f"{count(len(rows), 'tool')}, tokens counted with {bench.accounting.meter.tokenizer.label}")
    for tool in bench.catalog.tools:
        if against := contradiction(tool):
            say(f"⚠ {tool.id}: {against}")


def _say_request(bench: Workbench, *, as_json: bool) -> None:
    """Print the manifest and the `tools` array exactly as the model gets them."""
    request = bench.next_request()
    tokens = bench.accounting.meter.entries(request.tools)
    state = bench.state
    if as_json:
        say_json(
            {
                "manifest": state.manifest,
                "rules": state.manifest_rules,
                "decision": state.decision,
                "pool": state.pool,
                "tools": request.tools,
                "tokens": sum(tokens),
                "tokenizer": asdict(bench.accounting.meter.tokenizer),
            }
        )
        return
    say(state.manifest or state.pool or "Nothing is deferred, so there is no manifest.")
    for rule in state.manifest_rules:
        say(f"(shortened: {rule})")
    say(f"\ndiscovery {state.decision}")
    say()
    names = [entry["function"]["name"] for entry in request.tools]
    rows = [(name, str(count)) for name, count in zip(names, tokens, strict=True)]
    say_table(("bound", "tokens"), rows, right=frozenset({1}))
    say(f"tokens counted with {bench.accounting.meter.tokenizer.label}")


def say_budget(budget: Budget) -> None:
    """Print the token table of one request."""
    parts = budget.parts
    rows = [
        ("system", parts.system),
        ("history", parts.history),
        ("searches", parts.searches),
        ("loaded tools", parts.tools),
        ("search_tools", parts.meta),
        ("manifest", parts.manifest),
        ("summary pool", parts.pool),
        ("output reserve", parts.output_reserve),
        ("total", parts.used),
    ]
    say_table(("part", "tokens"), [(name, str(tokens)) for name, tokens in rows], right=frozenset({1}))
    say(f"{percent(budget.fraction)} of the {tokens(budget.window)}-token window")
    say(
        f"static binding: {budget.static_tools} tool tokens; now {parts.discovery_tokens}, "
        f"saving {budget.saved} ({percent(budget.saved_fraction)})   {budget.tokenizer.label}"
    )
