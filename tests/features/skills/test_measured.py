"""`toolsight clients measure NAME --skills`: a client whose list is made up, and what is read from it."""

import json
import sys
from pathlib import Path

import pytest

from inspector.features.clients.measured.start import STARTS
from tests.features.skills.test_command import FINE, write
from tests.support.commands import Toolsight

# Sends the names of its skills, and of the first what fits in so many characters of its description; also a
# drawing of the folder, which is no list. Without skills it has no tools.
CLIENT = """
import json, os, pathlib, urllib.request
if "--version" in os.sys.argv:
    raise SystemExit(print("codex-cli 9.9.9"))
found = sorted(pathlib.Path(".agents/skills").glob("*/SKILL.md"))
texts = [file.read_text().split("description: ")[1].split("\\n")[0] for file in found]
lines = [f"- {file.parent.name}: {text[:CUT]}" for file, text in zip(found, texts)][:SHOWN]
drawn = [f"│   ├───{file.parent.name}.md" for file in found]
said = "\\n".join(["Here are your skills.", *lines, *drawn])
tools = [{"type": "function", "name": "shell", "parameters": {"type": "object"}}] if found else []
body = {"model": "m", "instructions": said, "input": [], "tools": tools, "stream": False}
request = urllib.request.Request(
    os.environ["ADDRESS"] + "/responses", json.dumps(body).encode(), {"Content-Type": "application/json"}
)
urllib.request.urlopen(request).read()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cut", "shown", "told"),
    [
        (99, 9, ["whole", "whole"]),
        (25, 9, ["cut", "cut"]),
        (0, 9, ["name alone"] * 2),
        (99, 1, ["whole", "gone"]),
    ],
)
def test_what_a_client_shows_of_skills_is_read_from_its_request(
    toolsight: Toolsight,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cut: int,
    shown: int,
    told: list[str],
) -> None:
    for name in ("letters", "numbers"):
        write(tmp_path / "skills", name, FINE.replace("Write", f"Carefully write the {name[:3]}"))
    script = tmp_path / "codex.py"
    script.write_text(CLIENT.replace("CUT", str(cut)).replace("SHOWN", str(shown)))
    program = tmp_path / "codex"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {script} "$@"\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setitem(
        STARTS, "codex", {**STARTS["codex"], "argv": ["codex"], "variables": {"ADDRESS": "{openai}"}}
    )
    done = toolsight("clients", "measure", "codex", "--yes", "--skills", str(tmp_path / "skills"), "--json")
    found = json.loads(done.stdout)
    assert [one["measured"] for one in found["skills"]] == told
    assert [one["agrees"] for one in found["skills"]] == [one == "whole" for one in told]
    assert found["version"] == "9.9.9"
    if told == ["whole", "whole"]:
        # A list without the paths that Codex adds.
        assert 0 < found["tokens"] < found["known_tokens"]


def test_only_a_known_client_can_be_measured_with_a_folder_of_skills(
    toolsight: Toolsight, tmp_path: Path
) -> None:
    done = toolsight("clients", "measure", "codex", "--yes", "--skills", str(tmp_path / "none"))
    assert "is no folder" in done.stderr
    assert toolsight("clients", "measure", "--all-installed", "--skills").exit_code == 2
