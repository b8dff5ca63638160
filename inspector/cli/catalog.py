"""Headless twins of the servers, tools and manifest screens."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click

from inspector.cli.clients import as_client, options_as, say_catalog_as
from inspector.cli.launch import run_headless
from inspector.cli.options import as_json, options, shared
from inspector.cli.run import Exit
from inspector.cli.table import say, say_json, say_table
from inspector.clients.client import Client
from inspector.core.budget import Budget
from inspector.core.definition import definition_changes
from inspector.core.error import ConfigError
from inspector.core.events import DefinitionChanged, ServerReady
from inspector.core.number import count, milliseconds, percent, shown_moment, tokens
from inspector.core.server import ServerPhase
from inspector.core.session import ServerState
from inspector.core.text import closest
from inspector.core.tool import Tool, definition
from inspector.mcp.frame import Flaw, Frame
from inspector.reliability.approval import why_ask
from inspector.search.rules import contradiction
from inspector.session.workbench import Workbench

# What changed since each server was connected last, in words and as JSON.

_LINES = 12


def say_changes(bench: Workbench, *, as_json: bool) -> None:
    """Print what every server lists that it did not list last time, from the session's record."""
    records = [record.event for record in bench.records((ServerReady.kind, DefinitionChanged.kind))]
    ready = [event for event in records if isinstance(event, ServerReady)]
    changes = [event for event in records if isinstance(event, DefinitionChanged)]
    if as_json:
        say_json([_data(bench, server, _of(server, changes)) for server in ready])
        return
    news = [server for server in ready if server.added or server.removed or _of(server, changes)]
    if not news:
        say(f"No changes in {count(len(ready), 'server')}.")
    for server in news:
        since = f" since {shown_moment(server.since)} UTC" if server.since else ""
        say(f"{server.server}{since}")
        for sign, names in (("+", server.added), ("-", server.removed)):
            for name in names:
                say(f"  {sign} {name}")
        for change in _of(server, changes):
            _say_change(bench, change)


def _of(server: ServerReady, changes: list[DefinitionChanged]) -> list[DefinitionChanged]:
    return [change for change in changes if change.tool.partition(":")[0] == server.server]


def _say_change(bench: Workbench, change: DefinitionChanged) -> None:
    say(f"  ~ {change.tool}: {'wording only' if change.verdict == 'words' else change.verdict}")
    for reason in change.reasons:
        say(f"      {reason}")
    for gone, new in _lines(bench, change)[:_LINES]:
        say(f"      - {gone}" if gone else "      -")
        say(f"      + {new}" if new else "      +")
    if change.others:
        say(f"  and {count(change.others, 'more tool')} changed")


def _lines(bench: Workbench, change: DefinitionChanged) -> list[tuple[str, str]]:
    versions = bench.state.definitions
    before, after = versions.get(change.before), versions.get(change.after)
    if before is None or after is None:
        return []
    return [
        (f"{part.part} {gone}" if gone else "", f"{part.part} {new}" if new else "")
        for part in definition_changes(before, after)
        for gone, new in part.lines
    ]


def _data(bench: Workbench, server: ServerReady, changes: list[DefinitionChanged]) -> dict[str, Any]:
    return {
        "server": server.server,
        "since": server.since or None,
        "added": server.added,
        "removed": server.removed,
        "changed": [
            {
                "tool": change.tool,
                "verdict": change.verdict,
                "reasons": change.reasons,
                "breaking": change.breaking_reasons,
                "before": change.before,
                "after": change.after,
                "lines": _lines(bench, change),
            }
            for change in changes
        ],
        "others": sum(change.others for change in changes),
    }


# Prints what was exchanged with servers, frame by frame.

_HEADERS = ("time, UTC", "", "message", "id", "bytes", "took")


def named(bench: Workbench, name: str) -> tuple[str, ...]:
    """The server of that name, or every server for "". Raises ConfigError."""
    known = tuple(bench.state.servers)
    if not name:
        return known
    if name not in known:
        near = ", ".join(closest(name, list(known)) or known)
        raise ConfigError(f"there is no server '{name}'", hint=f"Servers: {near}.")
    return (name,)


def flaws(bench: Workbench, server: str) -> tuple[Flaw, ...]:
    """What was repaired or dropped of a server's messages."""
    log = bench.wire(server)
    return log.flaws() if log is not None else ()


def flaws_as_json(bench: Workbench, server: str) -> list[dict[str, Any]]:
    """The same, for JSON."""
    return [asdict(flaw) for flaw in flaws(bench, server)]


def say_wire(bench: Workbench, servers: Sequence[str], *, as_json: bool) -> None:
    """Print the frames of these servers, oldest first, as far as they are kept."""
    logs = [(server, *_frames(bench, server)) for server in servers]
    if as_json:
        say_json([{**_as_json(*log), "flaws": flaws_as_json(bench, log[0])} for log in logs])
        return
    for server, frames, dropped in logs:
        say(f"{server}: {count(len(frames), 'message')}{f', {dropped:,} dropped before' if dropped else ''}")
        if frames:
            say_table(_HEADERS, map(_row, frames), right=frozenset({4, 5}), whole=frozenset({0, 1}))
        say()


def _frames(bench: Workbench, server: str) -> tuple[tuple[Frame, ...], int]:
    log = bench.wire(server)
    if log is None:
        return (), 0
    frames = log.frames()
    return frames, log.total - len(frames)


def _row(frame: Frame) -> tuple[str, ...]:
    at = f"{datetime.fromtimestamp(frame.at, UTC):%H:%M:%S.%f}"[:-3]
    took = "" if frame.milliseconds is None else milliseconds(frame.milliseconds)
    return at, frame.arrow, frame.what, frame.id, f"{frame.size:,}", took


def _as_json(server: str, frames: Sequence[Frame], dropped: int) -> dict[str, Any]:
    listed = [{**asdict(frame), "what": frame.what, "cut": frame.is_cut} for frame in frames]
    return {"server": server, "dropped": dropped, "frames": listed}


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
