"""`toolsight scenario`: scenarios listed, played and checked, in memory and on the demo servers."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from inspector.adapters.memory.fakes import (
    FixedApprover,
    ManualClock,
    MemoryConnector,
    MemoryPrices,
    MemoryServerMemory,
    MemoryStore,
)
from inspector.adapters.memory.vectors import MemoryVectors
from inspector.adapters.sqlite.store import SqliteStore
from inspector.cli import composition
from inspector.cli.composition import OpenLab
from inspector.cli.models import model_for
from inspector.cli.options import Options
from inspector.cli.root import cli
from inspector.domain.error import ModelError
from inspector.domain.scenario import Scenario
from inspector.engine.ports import Ports
from inspector.engine.scenario.changing import ChangingConnector
from inspector.engine.scenario.clock import LabClock
from inspector.engine.scenario.run import ScenarioRun
from inspector.engine.session import Listener
from inspector.engine.workbench import Workbench
from tests.cli.conftest import Toolsight
from tests.support.counting import CharacterCounter
from tests.support.workbench import configured, shop_and_weather

FORECAST = """
title: A forecast
about: One search, one call.
expect: [{event: result, tool: "weather:get_forecast", ok: true}, {event: end, outcome: answered}]
never: [{event: reject}]
turns:
  - user: Oslo?
    steps:
      - calls: [{tool: search_tools, arguments: {tool_names: [get_forecast], server_name: weather}}]
      - calls: [{tool: "weather:get_forecast", arguments: {city: Oslo}}]
      - say: Snow.
"""


@dataclass(slots=True)
class MemoryLabs:
    """Opens every lab in memory, and keeps what it was asked for; number `interrupted` is a Ctrl+C."""

    opened: list[tuple[str, Options]] = field(default_factory=list)
    interrupted: int = 0

    @asynccontextmanager
    async def open(
        self, scenario: Scenario, options: Options, profile: str = "", *, tell: Listener | None = None
    ) -> AsyncIterator[OpenLab]:
        self.opened.append((profile, options))
        if len(self.opened) == self.interrupted:
            raise KeyboardInterrupt
        servers, clock = shop_and_weather(), LabClock(ManualClock())
        connector = ChangingConnector(MemoryConnector(servers))
        ports = Ports(
            connector,
            MemoryStore(),
            MemoryServerMemory(),
            clock,
            FixedApprover(),
            model_for=model_for,
            counter_for=lambda _: CharacterCounter(),
            embedder_for=lambda _: None,
            prices=MemoryPrices(),
            vectors=MemoryVectors(),
        )
        async with Workbench(
            configured(servers),
            ports,
            model=options.model,
            session_id=f"s{len(self.opened)}",
            profile=profile or options.profile or scenario.profile,
            values={**scenario.settings, **options.values},
        ) as bench:
            if tell is not None:
                bench.subscribe(tell)
            bench.connect()
            await bench.wait_connected()
            yield OpenLab(bench, ScenarioRun(bench, scenario, clock, connector))


@pytest.fixture
def labs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> MemoryLabs:
    made = MemoryLabs()
    monkeypatch.setattr(composition, "open_lab", made.open)
    monkeypatch.setenv("TOOLSIGHT_DB", str(tmp_path / "toolsight.db"))
    monkeypatch.setenv("COLUMNS", "200")
    return made


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str], str]:
    """Writes a scenario file and returns its path."""

    def write(text: str = FORECAST) -> str:
        path = tmp_path / "case.yaml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def toolsight_in_process(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def test_every_shipped_scenario_is_listed_with_what_it_expects() -> None:
    listed = json.loads(toolsight_in_process("scenario", "list", "--json").stdout)
    assert [one["name"] for one in listed] == [path.stem for path in composition.shipped_scenarios()]
    assert all(one["title"] and one["turns"] and one["expect"] for one in listed)


def test_a_folder_is_listed_too_and_a_broken_file_is_named(
    tmp_path: Path, file: Callable[[str], str]
) -> None:
    file(FORECAST)
    (tmp_path / "broken.yaml").write_text("turns: no", encoding="utf-8")
    listed = toolsight_in_process("scenario", "list", str(tmp_path))
    assert "A forecast   (1 turn)" in listed.stdout
    assert "One search, one call." in listed.stdout
    assert 'expects result, tool "weather:get_forecast", ok true' in listed.stdout
    assert "broken.yaml" in listed.stderr
    assert listed.exit_code == 0


@pytest.mark.usefixtures("labs")
def test_a_run_is_a_line_a_record_then_its_totals(file: Callable[[str], str]) -> None:
    printed = toolsight_in_process("scenario", "run", file(FORECAST))
    assert printed.exit_code == 0, printed.output
    kinds = [line.split()[1] for line in printed.stdout.splitlines() if line.startswith("#")]
    wanted = ["user", "search", "load", "call", "result", "response", "end"]
    assert [kind for kind in kinds if kind in wanted] == wanted
    assert "searches 1, loads 1, evictions 0, calls 1, rejections 0" in printed.stdout
    assert "did not occur" not in printed.stdout


@pytest.mark.usefixtures("labs")
def test_what_is_met_is_checked_off_with_its_place(file: Callable[[str], str]) -> None:
    printed = toolsight_in_process("scenario", "run", file(FORECAST), "--check")
    assert printed.exit_code == 0, printed.output
    (line,) = [line for line in printed.stdout.splitlines() if line.startswith("✓ end")]
    seq = line.rpartition("met at ")[2]
    assert any(line.startswith(f"{seq} ") and "end" in line for line in printed.stdout.splitlines())
    assert "1 of 1 went as expected" in printed.stdout


@pytest.mark.usefixtures("labs")
def test_what_is_not_met_names_the_nearest_record_and_the_field(file: Callable[[str], str]) -> None:
    printed = toolsight_in_process(
        "scenario", "run", file(FORECAST.replace("ok: true", "ok: false")), "--check"
    )
    assert printed.exit_code == 1
    assert "where ok is true" in printed.stdout
    assert "0 of 1 went as expected; not: " in printed.stdout


@pytest.mark.usefixtures("labs")
def test_without_check_nothing_expected_decides_the_exit_code(file: Callable[[str], str]) -> None:
    text = FORECAST.replace("ok: true", "ok: false")
    printed = toolsight_in_process("scenario", "run", file(text), "--json")
    assert printed.exit_code == 0
    (told,) = json.loads(printed.stdout)
    assert told["passed"] is False
    assert [finding["met"] for finding in told["findings"]] == [False, True, True]
    assert (told["profile"], told["totals"]["calls"], told["totals"]["outcome"]) == (
        "toolsight",
        1,
        "answered",
    )


@pytest.mark.usefixtures("labs")
def test_hostile_texts_of_a_scenario_do_not_reach_the_terminal(file: Callable[[str], str]) -> None:
    text = FORECAST.replace("say: Snow.", 'say: "\\e[2J\\u202ESnow"').replace("A forecast", '"\\e[31mA"')
    printed = toolsight_in_process("scenario", "run", file(text), "--check")
    assert printed.exit_code == 0, printed.output
    assert "\x1b" not in printed.output
    assert "\u202e" not in printed.output


def test_the_script_answers_unless_a_model_is_named(labs: MemoryLabs, file: Callable[[str], str]) -> None:
    path = file(FORECAST)
    for more in ((), ("--model", "demo/planner")):
        assert toolsight_in_process("scenario", "run", path, *more).exit_code == 0
    assert [options.model for _, options in labs.opened] == [f"demo/script:{path}", "demo/planner"]


@pytest.mark.usefixtures("labs")
def test_a_model_that_fails_is_an_error_with_its_reason(file: Callable[[str], str]) -> None:
    failed = toolsight_in_process("scenario", "run", file(FORECAST), "--model", "demo/nothing")
    assert isinstance(failed.exception, ModelError)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("no-such-scenario",),
        ("loop", "--profile", "no-such-profile"),
        ("loop", "--set", "no.such=1"),
        ("a\0b",),
    ],
)
def test_a_mistake_exits_with_two_and_plays_nothing(labs: MemoryLabs, arguments: tuple[str, ...]) -> None:
    failed = toolsight_in_process("scenario", "run", *arguments)
    assert failed.exit_code == 2, failed.output
    assert "Error: " in failed.stderr
    assert not labs.opened


def test_all_plays_every_shipped_scenario_once(
    labs: MemoryLabs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = [tmp_path / f"{name}.yaml" for name in ("first", "second", "third")]
    for path in shipped:
        path.write_text(FORECAST, encoding="utf-8")
    monkeypatch.setattr(composition, "shipped_scenarios", lambda: shipped)
    printed = toolsight_in_process("scenario", "run", "--all", "second", "--check")
    assert "3 of 3 went as expected" in printed.stdout
    assert [options.model for _, options in labs.opened] == [f"demo/script:{path}" for path in shipped]


def test_servers_of_ones_own_are_started_after_consent_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLSIGHT_DB", str(tmp_path / "toolsight.db"))
    config = tmp_path / "toolsight.json"
    config.write_text(json.dumps({"mcpServers": {"s": {"command": "no-such-program"}}}), encoding="utf-8")
    refused = toolsight_in_process("scenario", "run", "loop", "--config", str(config))
    assert refused.exit_code == 2
    assert "has not been approved, so nothing was started" in refused.stderr


def test_ctrl_c_keeps_what_was_played(labs: MemoryLabs, file: Callable[[str], str]) -> None:
    labs.interrupted = 2
    stopped = toolsight_in_process("scenario", "run", file(FORECAST), "loop", "--json")
    assert stopped.exit_code == 1
    assert "1 of 2 scenarios were played" in stopped.stderr
    assert len(json.loads(stopped.stdout)) == 1


def test_a_shipped_scenario_goes_as_expected_on_the_demo_servers(
    toolsight: Toolsight, database: Path
) -> None:
    printed = toolsight("scenario", "run", "trailing_slash_loop", "--check")
    assert printed.returncode == 0, printed.stdout + printed.stderr
    assert "1 of 1 went as expected" in printed.stdout
    with SqliteStore(database) as store:
        (session,) = store.sessions()
    assert f"session {session.id}" in printed.stdout


def test_a_setting_of_the_command_line_goes_over_the_scenario(toolsight: Toolsight) -> None:
    changed = toolsight("scenario", "run", "capacity_overflow", "--check", "--set", "binding.capacity=3")
    assert changed.returncode == 1
    assert "✕ evict" in changed.stdout
    assert "not met: there is no event evict" in changed.stdout
