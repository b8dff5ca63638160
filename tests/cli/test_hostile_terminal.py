"""Hostile text from a server, printed to a pseudo-terminal: nothing in it may control the terminal."""

import errno
import json
import os
import pty
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout

import pytest

from fixtures.hostile import TERMINAL, UNICODE, sendable
from tests.support.commands import exit_code_of
from tests.support.mcp_case import SERVERS

# What the command line itself may print: colours of tables, and line ends.
OWN = re.compile(rb"\x1b\[[0-9;]*m")
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
BIDI_OR_TAG = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f\x80-\x9f]")


# A lone surrogate cannot be sent, so the server does not list it.
DRIVING = [name for name in {**TERMINAL, **UNICODE} if sendable(name)]


def printed_in_terminal(*arguments: str) -> bytes:
    """What a successful command writes to a terminal."""
    ours, theirs = pty.openpty()
    with ThreadPoolExecutor(1) as threads:
        reading = threads.submit(_everything_from, ours)
        with open(theirs, "w", encoding="utf-8") as terminal:  # noqa: PTH123 - a descriptor has no path
            assert terminal.isatty()
            with redirect_stdout(terminal), redirect_stderr(terminal):
                exit_code = exit_code_of(arguments)
        output = reading.result()
    os.close(ours)
    assert exit_code == 0, output[-2000:]
    return output


def _everything_from(terminal: int) -> bytes:
    output = b""
    try:
        while chunk := os.read(terminal, 65536):
            output += chunk
    except OSError as error:
        # Linux says EIO when the other side of a pseudo-terminal is gone.
        if error.errno != errno.EIO:
            raise
    return output


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("hostile") / "config.json"
    server = {
        "command": sys.executable,
        "args": [str(SERVERS / "hostile_server.py")],
        "defer_loading": True,
    }
    discovery = {"enabled": True, "embedding_model": "none"}
    path.write_text(json.dumps({"tool_discovery": discovery, "mcpServers": {"hostile": server}}))
    return str(path)


@pytest.fixture(autouse=True)
def _terminal(variables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**variables, "COLUMNS": "120", "TERM": "xterm-256color"}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model that calls every tool with a text that controls terminals, and then says one itself."""
    calls = [{"tool": f"hostile:hostile_{name}", "arguments": {}} for name in DRIVING]
    steps = [{"calls": calls}, {"say": TERMINAL["csi_clear"]}]
    path = tmp_path_factory.mktemp("script") / "hostile.yaml"
    path.write_text(json.dumps({"title": "hostile", "turns": [{"user": "go", "steps": steps}]}))
    return str(path)


@pytest.mark.parametrize(
    "command",
    [
        ["servers"],
        ["servers", "--wire"],
        ["tools"],
        ["tools", "--request"],
        ["search", TERMINAL["csi_clear"]],
    ],
    ids=" ".join,
)
def test_no_raw_control_character_in_a_catalog_reaches_the_terminal(command: list[str], config: str) -> None:
    assert_harmless(printed_in_terminal(*command, "--config", config, "--approve"))


def test_no_raw_control_character_in_an_answer_reaches_the_terminal(config: str, script: str) -> None:
    given = ("--config", config, "--approve", "--yes", "--profile", "static")
    chat = printed_in_terminal("chat", TERMINAL["osc_title"], "--model", f"demo/script:{script}", *given)
    for output in (
        chat,
        printed_in_terminal("sessions", "show", "--as", "events"),
        printed_in_terminal("sessions", "show", "--as", "events", "--json"),
    ):
        assert_harmless(output)
        for name in ("csi_clear", "osc_title", "c1_csi"):
            assert f"hostile_{name}" in output.decode()
        assert rb"\x1b[2J" in output or rb"\u001b[2J" in output


def assert_harmless(output: bytes) -> None:
    assert output
    assert not CONTROL.findall(OWN.sub(b"", output))
    assert not BIDI_OR_TAG.findall(output.decode("utf-8", "replace"))
