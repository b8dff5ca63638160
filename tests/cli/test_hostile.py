"""Hostile text from a server, printed into a pseudo-terminal: nothing in it may drive the terminal."""

import errno
import json
import os
import pty
import re
import sys
from pathlib import Path

import pytest

SERVER = Path(__file__).resolve().parents[2] / "fixtures" / "servers" / "hostile_server.py"
# What the command line itself may print: colours of tables, and line ends.
OWN = re.compile(rb"\x1b\[[0-9;]*m")
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
BIDI_OR_TAG = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f\x80-\x9f]")


def run_in_terminal(arguments: list[str], environment: dict[str, str]) -> bytes:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-m", "inspector", *arguments], environment)
    output = b""
    try:
        while True:
            chunk = os.read(terminal, 65536)
            if not chunk:
                break
            output += chunk
    except OSError as error:
        # Linux says EIO when the other side of a pseudo-terminal is gone.
        if error.errno != errno.EIO:
            raise
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, output[-2000:]
    return output


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile") / "config.json"
    server = {"command": sys.executable, "args": [str(SERVER)], "defer_loading": True}
    path.write_text(json.dumps({"tool_discovery": {"enabled": True}, "mcpServers": {"hostile": server}}))
    return path


@pytest.mark.parametrize(
    "command",
    [
        ["tools"],
        ["manifest"],
        ["search", "hostile text"],
        ["chat", "call the hostile tool", "--yes"],
        ["events"],
    ],
    ids=lambda command: command[0],
)
def test_no_raw_control_character_reaches_the_terminal(command: list[str], config: Path) -> None:
    environment = {**os.environ, "TOOLSIGHT_DB": str(config.with_suffix(".db")), "COLUMNS": "120"}
    output = run_in_terminal([*command, "--config", str(config), "--approve"], environment)
    assert output
    assert not CONTROL.findall(OWN.sub(b"", output))
    assert not BIDI_OR_TAG.findall(output.decode("utf-8", "replace"))
