"""`toolsight scenario`: scenarios listed, played and checked, in memory and on the demo servers."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.cli import location
from tests.support.commands import Toolsight
from tests.support.lab import FORECAST, MemoryLabs

_TWO = ("--profile", "prd", "--profile", "static")


def test_what_comes_along_is_listed_with_what_it_expects(toolsight: Toolsight) -> None:
    listed = toolsight("scenario")
    assert listed.exit_code == 0
    assert any(line.startswith("loop   ") for line in listed.stdout.splitlines())
    assert "    expects " in listed.stdout


@pytest.mark.usefixtures("labs")
def test_a_run_prints_one_line_per_record_then_its_totals(
    toolsight: Toolsight, file: Callable[[str], str]
) -> None:
    printed = toolsight("scenario", "run", file(FORECAST))
    assert printed.exit_code == 0, printed.stderr
    kinds = [line.split()[1] for line in printed.stdout.splitlines() if line.startswith("#")]
    wanted = ["user", "search", "load", "call", "result", "response", "end"]
    assert [kind for kind in kinds if kind in wanted] == wanted
    assert "searches 1, loads 1, evictions 0, calls 1, rejections 0" in printed.stdout
    assert "did not occur" not in printed.stdout


@pytest.mark.usefixtures("labs")
def test_an_unmet_expectation_is_named_with_the_nearest_record_and_fails_a_check_alone(
    toolsight: Toolsight, file: Callable[[str], str]
) -> None:
    played = ("scenario", "run", file(FORECAST.replace("ok: true", "ok: false")))
    printed = toolsight(*played, "--check")
    assert printed.exit_code == 3
    assert "where ok is true" in printed.stdout
    assert "0 of 1 scenarios passed; failed: " in printed.stdout
    printed = toolsight(*played, "--json")
    assert printed.exit_code == 0
    (told,) = json.loads(printed.stdout)
    assert [finding["met"] for finding in told["findings"]] == [False, True, True]
    assert (told["passed"], told["profile"], told["totals"]["calls"]) == (False, "toolsight", 1)


@pytest.mark.parametrize(
    "arguments",
    [
        ("run",),
        ("run", "no-such-scenario"),
        ("run", "loop", "--profile", "no-such-profile"),
        ("run", "loop", "--set", "no.such=1"),
        ("run", "a\0b"),
        ("compare", "loop"),
        ("compare", "loop", "--profile", "prd", "--profile", "prd"),
        ("compare", "loop", "--profile", "prd", "--profile", "no-such-profile"),
        ("compare", "loop", *_TWO, "--script", "--model", "demo/planner"),
        ("compare", "no-such-scenario", *_TWO),
    ],
)
def test_a_mistake_exits_with_two_and_plays_nothing(
    toolsight: Toolsight, labs: MemoryLabs, arguments: tuple[str, ...]
) -> None:
    failed = toolsight("scenario", *arguments)
    assert failed.exit_code == 2, failed.stderr
    assert "error: " in failed.stderr.lower()
    assert not labs.opened


def test_all_plays_every_shipped_scenario_once(
    toolsight: Toolsight, labs: MemoryLabs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = [tmp_path / f"{name}.yaml" for name in ("first", "second", "third")]
    for path in shipped:
        path.write_text(FORECAST, encoding="utf-8")
    monkeypatch.setattr(location, "shipped_scenarios", lambda: shipped)
    printed = toolsight("scenario", "run", "--all", "second", "--check")
    assert "3 of 3 scenarios passed" in printed.stdout
    assert [options.model for _, options in labs.opened] == [f"demo/script:{path}" for path in shipped]


def test_configured_servers_are_started_only_after_consent(
    toolsight: Toolsight, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLSIGHT_DB", str(tmp_path / "toolsight.db"))
    config = tmp_path / "toolsight.json"
    config.write_text(json.dumps({"mcpServers": {"s": {"command": "no-such-program"}}}), encoding="utf-8")
    refused = toolsight("scenario", "run", "loop", "--config", str(config))
    assert refused.exit_code == 2
    assert "has not been approved, so nothing was started" in refused.stderr


def test_ctrl_c_keeps_what_was_played(
    toolsight: Toolsight, labs: MemoryLabs, file: Callable[[str], str]
) -> None:
    labs.interrupted = 2
    stopped = toolsight("scenario", "run", file(FORECAST), "loop", "--json")
    assert stopped.exit_code == 130
    assert "1 of 2 scenarios played" in stopped.stderr
    assert len(json.loads(stopped.stdout)) == 1
