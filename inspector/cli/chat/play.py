"""The demo conversation without the app: its transcript, and what discovery saved."""

from dataclasses import replace
from pathlib import Path

from inspector.cli.chat.command import converse
from inspector.cli.launch import headless
from inspector.cli.location import database_path, fixtures_path
from inspector.cli.options import DEMO_MODEL, Options
from inspector.cli.table import say, say_json, say_table
from inspector.core.events import ModelRequested
from inspector.core.events.base import record_json
from inspector.core.number import count, percent
from inspector.scenario.scenario import load_scenario
from inspector.session.workbench import Workbench


async def play(chosen: Options, *, as_json: bool) -> None:
    """Play the demo conversation. The servers work in a temporary folder, so their calls need no approval."""
    script = fixtures_path() / "scenarios" / "demo.yaml"
    model = f"demo/script:{script}" if chosen.model == DEMO_MODEL else chosen.model
    users = load_scenario(script).users
    played = replace(chosen, demo=True, model=model, yes=True)
    async with headless(played, record=True) as bench:
        if not as_json:
            _say_start(bench)
        await converse(bench, users, played, quiet=as_json)
        if as_json:
            say_json([record_json(record) for record in bench.records()])
        else:
            _say_savings(bench, database_path(chosen))


def _say_start(bench: Workbench) -> None:
    state = bench.state
    servers, tools = count(len(state.servers), "server"), count(len(state.tools), "tool")
    say(f"{state.ready_servers} of {servers} ready, {tools}")
    say(f"model {state.model_label}")


def _say_savings(bench: Workbench, database: Path) -> None:
    """Print every model call's tool tokens, and those of binding all tools; savings include searches."""
    bound = [len(r.event.bound) for r in bench.records(("request",)) if isinstance(r.event, ModelRequested)]
    rows = []
    for cost, tools in zip(bench.state.costs, bound, strict=True):
        parts, static = cost.parts, cost.static_tools
        saved = percent(1 - parts.discovery_tokens / static) if static else "-"
        numbers = (cost.call, tools, parts.tool_tokens, parts.searches, static)
        rows.append((*map(str, numbers), saved))
    say(f"\nTool tokens per model call, compared with binding all {count(len(bench.state.tools), 'tool')}")
    headers = ("call", "tools bound", "definitions", "searches", "static", "saved")
    say_table(headers, rows, right=frozenset(range(6)))
    counted = bench.accounting.meter.tokenizer.label
    say(f"tokens counted with {counted}, compact JSON; definitions include search_tools and the manifest")
    say(f"session {bench.session_id} in {database}")
