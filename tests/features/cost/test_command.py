"""`toolsight cost`: a recorded session and an assumed one, as `toolsight audit` prices it too."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import to_builtins

from inspector.core.budget import TokenParts
from inspector.core.events import (
    CatalogBuilt,
    CatalogEntry,
    Event,
    ModelRequested,
    SessionStarted,
    ToolLoaded,
    UserSaid,
)
from inspector.core.number import money
from inspector.store.store import SqliteStore
from inspector.tokens.plan import Assumptions
from tests.core.test_event import records
from tests.features.skills.test_command import write
from tests.support.commands import Toolsight
from tests.support.weather_configuration import write_weather_configuration

SESSION = "20260101-cost"
TERSE = ("--set", "discovery.embedding_model=none")
USUAL = SimpleNamespace(**to_builtins(Assumptions()))
# Counted where there is a catalog, so not assumed.
COUNTED = {
    *("summary_tokens", "manifest_tokens", "meta_tokens", "call_tool_tokens"),
    *("run_script_tokens", "declared_share"),
}
DELIVERIES = ["static", "rewrite", "append", "call_tool", "code", "gate"]
STARTED = SessionStarted("test.json", ("s",), "", "demo/planner", "planner", 100_000)
STORY: list[Event] = [
    STARTED,
    CatalogBuilt("", tuple(CatalogEntry(f"s:t{n}", 400, deferred=True) for n in range(40)), "", 0, 0),
    UserSaid("hi"),
    ModelRequested(1, (), TokenParts(system=600, history=900, meta=150), 1, "append"),
    ToolLoaded("s:t3", 400, "search: x", 1),
    ModelRequested(2, (), TokenParts(system=600, history=900, meta=150, tools=400, searches=50), 3, "append"),
]


@pytest.fixture(scope="module")
def recorded(database: Path) -> Iterator[None]:
    """Sessions of long ago: they are kept as they count as being written."""
    with SqliteStore(database) as store:
        for record in (*records(STORY, SESSION), *records([STARTED], "20250101-none")):
            store.append(record)
        yield


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_weather_configuration(tmp_path_factory.mktemp("config")))


@pytest.mark.usefixtures("recorded")
def test_a_recorded_session_is_priced_under_every_delivery(toolsight: Toolsight) -> None:
    said = json.loads(toolsight("cost", "--session", SESSION, "--json").stdout)
    assert [cost["delivery"] for cost in said["deliveries"]] == DELIVERIES
    static, _, append, *_ = (cost["cached"] for cost in said["deliveries"])
    assert static["raw"] == 40 * 400 + 600 + 900
    assert append["raw"] == (150 + 600 + 900) + (150 + 400 + 600 + 900 + 50)
    assert append["requests"][1]["broke"] == "tools[]: +s:t3"
    assert said["prices"]["model"] == "openai/gpt-5"
    assert said["prices"]["date"]
    assert len(said["presets"]) == 5


@pytest.mark.usefixtures("recorded")
def test_the_output_names_the_prices_and_what_broke_the_cache(toolsight: Toolsight) -> None:
    printed = toolsight("cost", "--session", SESSION)
    assert printed.exit_code == 0, printed.stderr
    assert "a recorded session of 2 model calls over 40 tools" in printed.stdout
    assert "prices of openai/gpt-5 (demo/planner has none)" in printed.stdout
    assert "tools[]: +s:t3" in printed.stdout
    assert "tools that a gate binds per turn" in printed.stdout
    assert "an assumed session" not in printed.stdout


@pytest.mark.usefixtures("recorded")
def test_an_hour_is_priced_if_the_model_has_a_price_for_it(toolsight: Toolsight) -> None:
    hour = ("--set", "budget.prompt_cache=1h")
    refused = toolsight("cost", "--session", SESSION, *hour)
    assert refused.exit_code == 1
    assert "'openai/gpt-5' has no price for a one-hour cache" in refused.stderr
    model = ("--model", "anthropic/claude-sonnet-4-5")
    said = json.loads(toolsight("cost", "--session", SESSION, *hour, *model, "--json").stdout)
    assert said["terms"] == {
        "write": 2.0,
        "read": 0.1,
        "ttl_seconds": 3600.0,
        "minimum": 1024,
        "marked": True,
    }


def test_what_a_record_says_cannot_be_assumed(toolsight: Toolsight) -> None:
    failed = toolsight("cost", "--session", "nowhere", "--assume", "seconds=5")
    assert failed.exit_code == 2
    assert "applies only to an assumed session" in failed.stderr


def test_every_assumption_is_an_option_and_is_shown(toolsight: Toolsight, config: str) -> None:
    values = {**vars(USUAL), "calls": 5}
    given = {name: str(value * 2) for name, value in values.items() if name not in ("own_call", "seed")}
    options = [part for name, value in given.items() for part in ("--assume", f"{name}={value}")]
    shown = toolsight("cost", "--config", config, "--approve", *TERSE, *options).stdout
    for name, value in given.items():
        row = next((line.split() for line in shown.splitlines() if line.startswith(f"{name} ")), None)
        assert row is None if name in COUNTED else row is not None and float(row[1]) == float(value)


def test_an_unknown_assumption_is_named_with_the_nearest(toolsight: Toolsight) -> None:
    failed = toolsight("cost", "--assume", "growht=5")
    assert failed.exit_code == 2
    assert "there is no assumption 'growht'" in failed.stderr
    assert "growth" in failed.stderr
    assert "must be at least 1" in toolsight("cost", "--assume", "calls=0").stderr


OTHERWISE = tuple(
    word
    for value in ("calls=12", "searches_per_call=0.5", "growth=300", "pause=400")
    for word in ("--assume", value)
)


def asked(toolsight: Toolsight, command: str, config: str) -> Any:
    done = toolsight(command, "--config", config, "--approve", *TERSE, *OTHERWISE, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_both_commands_price_a_configuration_to_the_same_cent(toolsight: Toolsight, config: str) -> None:
    (audited,) = asked(toolsight, "audit", config)["configurations"]
    session, priced = audited["session"], asked(toolsight, "cost", config)
    assert session["assumed"] == priced["assumed"]
    assert session["saved"] == priced["saved"]
    assert session["verdict"] == priced["verdict"]
    assert session["verdict"]["text"]
    pairs = list(zip(session["deliveries"], priced["deliveries"], strict=True))
    assert len(pairs) == len(DELIVERIES)
    for one, other in pairs:
        assert one["delivery"] == other["delivery"]
        for cache in ("cached", "uncached"):
            assert money(one[cache]["dollars"], 2) == money(other[cache]["dollars"], 2)
            assert one[cache]["dollars"] == pytest.approx(other[cache]["dollars"], abs=1e-12)


@pytest.mark.slow
def test_each_clients_list_of_skills_is_counted_beside_the_definitions(
    toolsight: Toolsight, config: str, tmp_path: Path
) -> None:
    for name in ("deploy", "release-notes"):
        write(tmp_path / "many", name)
    given = ("--config", config, "--approve", *TERSE, "--set", f"discovery.skills={tmp_path / 'many'}")
    found = json.loads(toolsight("cost", *given, "--json").stdout)
    lists = json.loads(toolsight("skills", str(tmp_path / "many"), "--json").stdout)["lists"]
    assert {one["client"]: one["tokens"] for one in found["skills"]} == {
        one["client"]: one["tokens"] for one in lists
    }
    requests = found["deliveries"][0]["cached"]["requests"]
    assert all(one["session_tokens"] == one["tokens"] * len(requests) for one in found["skills"])
    # Where a cache reads most of them for a tenth.
    sent = found["prices"]["input"]
    assert all(0 < one["dollars"] < one["session_tokens"] * sent / 2 for one in found["skills"])
    printed = toolsight("cost", *given).stdout
    shortest = found["skills"][0]
    assert f"lists of skills: {shortest['tokens']} ({shortest['client']}) to " in printed
    assert "lists of skills" not in toolsight("cost", *given[:-2]).stdout
