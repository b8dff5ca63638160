"""Hostile text from a server, printed into a pseudo-terminal: nothing in it may drive the terminal."""

import errno
import json
import os
import pty
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout

import pytest

from tests.cli.conftest import Toolsight, exit_code_of
from tests.support.mcp_case import SERVERS

# What the command line itself may print: colours of tables, and line ends.
OWN = re.compile(rb"\x1b\[[0-9;]*m")
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
BIDI_OR_TAG = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f\x80-\x9f]")


def printed_in_terminal(*arguments: str) -> bytes:
    """What a command that succeeds writes when its output is a terminal."""
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


@pytest.mark.parametrize(
    "command",
    [
        ["tools"],
        ["manifest"],
        ["search", "hostile text"],
        ["chat", "call the hostile tool", "--yes"],
    ],
    ids=lambda command: command[0],
)
def test_no_raw_control_character_reaches_the_terminal(command: list[str], config: str) -> None:
    assert_harmless(printed_in_terminal(*command, "--config", config, "--approve"))


def test_no_raw_control_character_of_the_record_reaches_it(toolsight: Toolsight, config: str) -> None:
    played = toolsight("chat", "call the hostile tool", "--yes", "--config", config, "--approve")
    assert played.exit_code == 0, played.stderr
    assert_harmless(printed_in_terminal("events"))


def assert_harmless(output: bytes) -> None:
    assert output
    assert not CONTROL.findall(OWN.sub(b"", output))
    assert not BIDI_OR_TAG.findall(output.decode("utf-8", "replace"))
