"""The demo's conversation, printed with what discovery saved."""

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from inspector.cli.launch import headless
from inspector.cli.location import database_path, fixtures_path
from inspector.cli.options import DEMO_MODEL, Options
from inspector.cli.run import run
from inspector.cli.table import is_json, say, show
from inspector.core.events.base import record_json
from inspector.core.number import count, saving
from inspector.core.report import NOTHING, Table
from inspector.core.turns import turns
from inspector.features.chat.command import converse
from inspector.features.lab.scenario import load_scenario
from inspector.session.workbench import Workbench


def play(chosen: Options) -> None:
    """Play the demo conversation. The servers work in a temporary folder, so their calls need no approval."""
    run(_played(chosen))


async def _played(chosen: Options) -> None:
    script = fixtures_path() / "scenarios" / "demo.yaml"
    model = f"demo/script:{script}" if chosen.model == DEMO_MODEL else chosen.model
    users = load_scenario(script).users
    played = replace(chosen, demo=True, model=model, yes=True)
    async with headless(played, record=True) as bench:
        if not is_json():
            state = bench.state
            servers, tools = count(len(state.servers), "server"), count(len(state.tools), "tool")
            say(f"{state.ready_servers} of {servers} ready, {tools}\nmodel {state.model_label}")
        await converse(bench, users)
        show([record_json(one) for one in bench.records()], _savings(bench, database_path(chosen)))


def _savings(bench: Workbench, database: Path) -> Iterator[str | Table]:
    """Every model call's tool tokens, and those of binding all tools; savings include searches."""
    sent = (call.request for turn in turns(bench.records(("request",))) for call in turn.calls)
    rows = []
    for cost, request in zip(bench.state.costs, sent, strict=True):
        parts, static = cost.parts, cost.static_tools
        saved = saving(1 - parts.discovery_tokens / static) if static else NOTHING
        numbers = (cost.call, len(request.bound), parts.tool_tokens, parts.searches, static)
        rows.append((*map(str, numbers), saved))
    title = f"Tool tokens per model call, compared with binding all {count(len(bench.state.tools), 'tool')}"
    headers = ("call", "tools bound", "definitions", "searches", "static", "against static")
    yield Table(title, headers, tuple(rows), frozenset(range(6)))
    counted = bench.accounting.meter.tokenizer.label
    yield f"tokens counted with {counted}, compact JSON; definitions include search_tools and the manifest"
    yield f"session {bench.session_id} in {database}"
