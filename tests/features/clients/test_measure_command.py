"""`toolsight clients measure`, with an agent of ours in the place of a client."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from inspector.clients.client import Confidence, Topic, find_client
from inspector.features.clients.measured import conversation, measurement, stand_in
from inspector.features.clients.measured.reading import Reading, Said
from inspector.features.clients.measured.run_reader import read_run
from inspector.features.clients.measured.start import STARTS
from tests.support import tiny_agent
from tests.support.commands import Toolsight
from tests.support.started_agent import KEY, agent as agent, leaves_nothing, toolsight as toolsight


@pytest.fixture
def over_stdio_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no second conversation, of which the agent knows nothing."""

    async def nothing(_: measurement.Measuring) -> list[Said]:
        return []

    monkeypatch.setattr(measurement.Measuring, "over_http", nothing)


@pytest.mark.slow
def test_a_client_is_measured_with_nothing_of_the_persons_and_leaves_nothing(
    agent: Path, tmp_path: Path, toolsight: Toolsight
) -> None:
    (agent / "mode").write_text("shout")
    file, kept = tmp_path / "mine.toml", tmp_path / "run"
    words = ("--yes", "--quick", "-o", str(file), "--requests", str(kept), "--json")
    done = toolsight("clients", "measure", "claude-code", *words)
    assert done.exit_code == 0, done.stderr
    row = json.loads(done.stdout)
    assert (row["version"], row["exit_code"], row["outcome"]) == ("9.8.7", 0, "measured")
    found = find_client(str(file))
    assert (found.title, found.listing.before) == ("Claude Code 9.8.7", "definitions")
    assert found.declares.version == "0.1"
    assert {(fact.confidence, fact.version) for fact in found.facts} == {(Confidence.MEASURED, "9.8.7")}
    seen = json.loads((agent / "environment.json").read_text())
    assert KEY not in json.dumps(seen)
    for place in (f"{seen['HOME']}/x", seen["CLAUDE_CONFIG_DIR"], seen["PWD"], seen["TMPDIR"]):
        assert Path(place).parent == kept
    assert leaves_nothing(agent, tmp_path)
    assert (kept / "output.txt").stat().st_size <= 1 << 20
    assert json.loads((kept / "requests" / "001.json").read_text())["body"]["model"] == "tiny-1"


@pytest.mark.slow
@pytest.mark.usefixtures("over_stdio_alone")
def test_whatever_a_client_leaves_is_gone(agent: Path, tmp_path: Path, toolsight: Toolsight) -> None:
    (agent / "mode").write_text("linger and litter")
    done = toolsight(
        "clients", "measure", "claude-code", "--yes", "--quick", "-o", str(tmp_path / "mine.toml")
    )
    assert done.exit_code == 0, done.stderr
    assert leaves_nothing(agent, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "seconds", "told", "hint"),
    [
        ("hang", "1", "not done after 1 second and 0 requests", "Log in to go on."),
        ("hang in a call", "5", "model: what came of misfit it has not said", ""),
        ("end", "60", "ended with exit code 0 after 0 requests", "I have no key."),
        ("flood", "60", "asked its model more than 30 times", ""),
    ],
)
def test_a_client_that_hangs_floods_or_gives_up_ends_the_measurement(
    agent: Path,
    tmp_path: Path,
    toolsight: Toolsight,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    seconds: str,
    told: str,
    hint: str,
) -> None:
    monkeypatch.setattr(conversation, "_MOST", 30)
    (agent / "mode").write_text(mode)
    file = tmp_path / "mine.toml"
    done = toolsight(
        "clients", "measure", "claude-code", "--yes", "--quick", "--timeout", seconds, "-o", str(file)
    )
    assert done.exit_code == 1
    error, _, hints = done.stderr.partition("hint:")
    assert told in error
    assert hint in hints
    assert leaves_nothing(agent, tmp_path)
    # What was seen until then is kept.
    assert file.exists() == (mode == "hang in a call")


@pytest.mark.slow
@pytest.mark.usefixtures("over_stdio_alone")
def test_a_client_that_hangs_with_one_server_is_measured_with_the_others(
    agent: Path, tmp_path: Path, toolsight: Toolsight, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measurement, "SMALL", ("marked-second", "marked-odd"))
    (agent / "mode").write_text("hang with one")
    file = tmp_path / "mine.toml"
    words = ("--yes", "--quick", "--timeout", "10", "-o", str(file))
    done = toolsight("clients", "measure", "claude-code", *words)
    odd = "marked-odd (names with dots, dashes and slashes)"
    told = f"With {odd} it does not ask its model within 10 seconds."
    assert [fact.says for fact in find_client(str(file)).facts if fact.says.startswith("With ")] == [told]
    assert done.exit_code == 0, done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("over_stdio_alone")
def test_a_client_that_calls_end_is_measured_without_them_and_told_which_they_were(
    agent: Path, tmp_path: Path, toolsight: Toolsight, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The agent knows the first server alone.
    monkeypatch.setattr(measurement, "MISFIT", "misfit")
    (agent / "mode").write_text("fall")
    file = tmp_path / "mine.toml"
    done = toolsight("clients", "measure", "claude-code", "--yes", "--quick", "-o", str(file))
    assert done.exit_code == 0, done.stderr
    said = [fact.says for fact in find_client(str(file)).facts if "SomeError" in fact.says]
    assert said == [
        "A call of misfit (marked-server) ends it: “SomeError: it does not fit”.",
        "A call of sound (marked-server) does not reach its server before it ends: "
        "“SomeError: it is not sent”.",
    ]
    assert find_client(str(file)).results.misfit == "run"


@pytest.mark.slow
def test_a_client_that_any_call_ends_is_given_up_with_what_was_seen(
    agent: Path, tmp_path: Path, toolsight: Toolsight, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measurement, "_MOST_ENDS", 2)
    (agent / "mode").write_text("fall always")
    file = tmp_path / "mine.toml"
    done = toolsight("clients", "measure", "claude-code", "--yes", "--quick", "-o", str(file))
    assert done.exit_code == 1
    assert "ended with exit code 1 after 1 request to its model, before all was asked" in done.stderr
    said = [fact.says for fact in find_client(str(file)).facts if "ends it" in fact.says]
    assert len(said) == 2


@pytest.mark.slow
def test_a_client_that_a_401_ends_is_measured_over_http_without_that_server(
    agent: Path, tmp_path: Path, toolsight: Toolsight, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It never asks these servers for tools, for which it would be waited for half a minute.
    monkeypatch.setattr(stand_in, "_TRIES", 1)
    (agent / "mode").write_text("signed")
    file, kept = tmp_path / "mine.toml", tmp_path / "run"
    words = ("--yes", "--quick", "-o", str(file), "--requests", str(kept))
    done = toolsight("clients", "measure", "claude-code", *words)
    assert done.exit_code == 0, done.stderr
    # Each conversation has the log of its own servers, and the requests of its last try.
    assert [path.name for path in (kept / "http-requests").iterdir()] == ["001.json"]
    logs = {name: (kept / name).read_text() for name in ("server.jsonl", "http-server.jsonl")}
    assert ["tools/list" in text for text in logs.values()] == [True, False]
    said = [fact.says for fact in find_client(str(file)).facts if fact.topic is Topic.HTTP]
    assert said == ["A 401 ends it before it asks its model: “SomeError: 401”."]


@pytest.mark.slow
@pytest.mark.usefixtures("over_stdio_alone")
def test_one_that_fails_and_one_that_is_read_wrongly_hold_up_none_of_the_others_that_are_installed(
    agent: Path, tmp_path: Path, toolsight: Toolsight, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = iter([KeyError("pid")])

    def read(*about: Any) -> Reading:
        for fault in faults:
            raise fault
        return read_run(*about)

    monkeypatch.setattr(measurement, "read_run", read)
    (agent / "codex").write_text("#!/bin/sh\necho Log in first.\nexit 3\n")
    (agent / "codex").chmod(0o755)
    shutil.copy(agent / "claude", agent / "vibe")
    _, *words = STARTS["claude-code"]["argv"]
    monkeypatch.setitem(STARTS, "vibe", {**STARTS["claude-code"], "argv": ["vibe", *words]})
    folder = tmp_path / "all"
    done = toolsight("clients", "measure", "--all-installed", "--yes", "--quick", "-o", str(folder), "--json")
    assert done.exit_code == 1
    rows = {row["client"]: row for row in json.loads(done.stdout)["clients"]}
    assert list(rows) == list(STARTS)
    assert rows["claude-code"]["outcome"] == "failed: unexpected KeyError: 'pid'"
    told = "failed: the client ended with exit code 3 after 0 requests to its model, before all was asked"
    assert (rows["codex"]["outcome"], rows["codex"]["hint"]) == (told, "Log in first.")
    assert (rows["vibe"]["outcome"], rows["vibe"]["version"]) == ("measured", "9.8.7")
    assert rows["gptme"]["outcome"] == "not installed: uv tool install gptme"
    assert [path.name for path in folder.iterdir()] == ["vibe.toml"]


@pytest.mark.slow
def test_a_program_of_ones_own_runs_as_it_would_but_without_keys(
    agent: Path, tmp_path: Path, toolsight: Toolsight, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MY_OWN", "here")
    program = (sys.executable, str(agent / "tiny_agent.py"))
    done = toolsight("clients", "measure", "--quick", "--json", "--", *program)
    assert done.exit_code == 0, done.stderr
    row = json.loads(done.stdout)
    assert (row["client"], row["version"]) == ("tiny_agent", f"mcp {metadata.version('mcp')}")
    assert find_client("measured.toml").title == f"tiny_agent ({row['version']})"
    seen = json.loads((agent / "environment.json").read_text())
    assert KEY not in json.dumps(seen)
    assert (seen["MY_OWN"], seen["PWD"], seen["HOME"]) == ("here", str(tmp_path), str(tmp_path / "home"))
    assert seen["OPENAI_BASE_URL"] == f"{seen['GOOGLE_GEMINI_BASE_URL']}/v1"
    assert leaves_nothing(agent, tmp_path)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "name a client"),
        (("codex", "--all-installed"), "name a client"),
        (("codex", "--", "python"), "name a client"),
        (("codeks",), "there is no command known for 'codeks'"),
        (("--sample", "langchane"), "Choose from: "),
        (("--", "no-such-program"), "there is no program `no-such-program` on PATH"),
    ],
)
def test_what_cannot_be_measured_is_told(toolsight: Toolsight, words: tuple[str, ...], told: str) -> None:
    done = toolsight("clients", "measure", *words)
    assert done.exit_code == 2
    assert told in done.stderr


def test_a_client_that_is_not_installed_is_an_error_with_a_hint(
    tmp_path: Path, toolsight: Toolsight, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = toolsight("clients", "measure", "codex", "--yes")
    assert done.exit_code == 2
    assert "there is no program `codex` on PATH" in done.stderr
    assert "npm install -g @openai/codex" in done.stderr


def test_nothing_is_started_without_a_yes(agent: Path, toolsight: Toolsight) -> None:
    done = toolsight("clients", "measure", "claude-code")
    assert done.exit_code == 2
    assert "nothing was started" in done.stderr
    assert not (agent / "environment.json").exists()


@pytest.mark.slow
def test_any_client_can_be_started_by_hand(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    words = ["clients", "measure", "mine", "--by-hand", "--quick", "-o", str(file)]
    waiting = subprocess.Popen(
        [sys.executable, "-m", "inspector", *words],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert waiting.stderr is not None
    printed = ""
    while "in a new conversation" not in printed:
        printed += waiting.stderr.readline()
    address = re.search(r"ANTHROPIC_BASE_URL=(\S+)", printed)
    assert address is not None
    configuration = tmp_path / "servers.json"
    configuration.write_text(printed[printed.index("{") : printed.rindex("}") + 1])
    program = shutil.copy(tiny_agent.__file__, tmp_path)
    agent = [sys.executable, program, "--mcp-config", str(configuration)]
    subprocess.run(agent, env={**os.environ, "ANTHROPIC_BASE_URL": address[1]}, check=True, timeout=60)
    assert waiting.wait(60) == 0
    assert find_client(str(file)).title == "mine 0.1"
