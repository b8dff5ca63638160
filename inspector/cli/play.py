"""The demo conversation without the app: its transcript, and what it saved."""

from dataclasses import replace
from pathlib import Path

from inspector.adapters.scenario_file import load_scenario
from inspector.cli.chat import converse
from inspector.cli.composition import database_path, fixtures_path
from inspector.cli.launch import demo_session
from inspector.cli.options import DEMO_MODEL, Options
from inspector.cli.render import say, say_json, say_table
from inspector.domain.event import ModelRequested
from inspector.domain.event_json import record_json
from inspector.domain.number import percent
from inspector.engine.workbench import Workbench


async def play(chosen: Options, *, as_json: bool) -> None:
    """The servers work on a throwaway folder, so their calls need no approval."""
    script = fixtures_path() / "scenarios" / "demo.yaml"
    model = f"demo/script:{script}" if chosen.model == DEMO_MODEL else chosen.model
    users = load_scenario(script).users
    async with demo_session(replace(chosen, model=model, yes=True)) as bench:
        if not as_json:
            _say_start(bench)
        await converse(bench, users, quiet=as_json)
        if as_json:
            say_json([record_json(record) for record in bench.records()])
        else:
            _say_savings(bench, database_path(chosen))


def _say_start(bench: Workbench) -> None:
    state = bench.state
    say(f"{state.ready_servers} of {len(state.servers)} servers ready, {len(state.tools)} tools")
    say(f"model {state.model_label}")


def _say_savings(bench: Workbench, database: Path) -> None:
    """Tool tokens of every model call, beside binding all tools each time."""
    budget = bench.state.budget
    static = budget.static_tools if budget else 0
    rows = []
    for record in bench.records(kinds=("request",)):
        assert isinstance(record.event, ModelRequested)
        now = record.event.tokens.tool_tokens
        saved = percent((static - now) / static) if static else "-"
        rows.append((str(record.event.turn), str(len(record.event.bound)), str(now), str(static), saved))
    say(f"\nTool tokens a model call, against binding all {len(bench.state.tools)} tools")
    headers = ("call", "tools bound", "with discovery", "static", "saved")
    say_table(headers, rows, right=frozenset({0, 1, 2, 3, 4}))
    say(f"tokens by {bench.tokenizer.label}, compact JSON, search_tools and its manifest included")
    say(f"session {bench.session_id} in {database}")
