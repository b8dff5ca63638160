"""The files that a command runs: the scripts that it names, and what is around them."""

import os
import shlex
from pathlib import Path

import pytest

from inspector.config import program as reading
from inspector.config.program import source_files, unwatched
from inspector.core.server import ServerSpec
from tests.support.hostile import with_hostile_text

FILES = {
    "server.py": "import helper",
    "helper.py": "",
    "pkg/__main__.py": "",
    "pkg/deep/one.py": "",
    "src/inside/cli.py": "",
    "lib/index.js": "",
    "lib/data.db": "",
    "package.json": "{}",
    "pyproject.toml": "",
    "Makefile": "",
    "start.sh": "#!/bin/sh\n",
    "bin/tool": "#!/usr/bin/env python3\n",
    "bin/part.py": "",
    "node_modules/express/index.js": "",
    ".venv/bin/activate.sh": "",
}
PROJECT = ["package.json", "pyproject.toml", "Makefile"]
EVERY = [name for name in FILES if name.endswith((".py", ".sh", ".js")) and name[0] not in ".n"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name in ("start.sh", "bin/tool"):
        (tmp_path / name).chmod(0o755)
    return tmp_path


def found(home: Path, *words: str) -> tuple[list[str], tuple[str, ...]]:
    read = source_files(ServerSpec("s", words[0], words[1:], cwd=str(home)))
    return [os.path.relpath(path, home) for path in read.files], read.uncovered


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("python3 server.py --port 1", EVERY),
        ("python -m pkg", ["pkg/__main__.py", "pkg/deep/one.py"]),
        ("python -u -m inside.cli", ["src/inside/cli.py"]),
        ("node lib/index.js", ["lib/index.js"]),
        ("node lib", ["lib/index.js"]),
        ("npm start", [*PROJECT, *EVERY]),
        ("make serve", [*PROJECT, *EVERY]),
        ("uv run serve", [*PROJECT, *EVERY]),
        ("uv run --with x lib/index.js", [*PROJECT, "lib/index.js"]),
        ("uv run --directory pkg serve", ["pkg/__main__.py", "pkg/deep/one.py"]),
        ("env A=1 ./start.sh", EVERY),
        ("sh -c 'python pkg/deep/one.py'", ["pkg/deep/one.py"]),
        ("./bin/tool", ["bin/tool", "bin/part.py"]),
        ("npx -y tsx lib/index.js --db=lib/data.db", ["lib/index.js"]),
    ],
)
def test_a_command_leads_to_its_own_files(home: Path, command: str, files: list[str]) -> None:
    now = found(home, *shlex.split(command))[0]
    assert sorted(now) == sorted(set(files))


@pytest.mark.parametrize(
    ("command", "uncovered"),
    [
        ("npx -y @scope/server", "@scope/server (npm): whatever version is newest"),
        ("npx -y @scope/server@1.2.3", "@scope/server (npm), whose version 1.2.3 your approval names"),
        ("uvx server", "server (pypi): whatever version is newest"),
        ("docker run -i --rm a/b", "a/b (oci): whatever version is newest"),
        ("python -m absent.part", "the Python package absent.part, which is not in "),
    ],
)
def test_what_no_file_covers_is_said(home: Path, command: str, uncovered: str) -> None:
    (said,) = found(home, *shlex.split(command))[1]
    assert said.startswith(uncovered)


def test_nothing_to_watch_is_said_with_the_reason(home: Path) -> None:
    absent = ServerSpec("s", "npx", ("-y", "shop"), cwd=str(home))
    assert unwatched(absent) == "s runs shop (npm): whatever version is newest."
    assert "at an address" in unwatched(ServerSpec("s", url="http://127.0.0.1:1/mcp"))
    assert unwatched(ServerSpec("s", "echo")) == "s runs no file that its command names."
    assert not unwatched(ServerSpec("s", "python3", ("server.py",), cwd=str(home)))


def test_a_stored_listing_is_its_own_file() -> None:
    assert source_files(ServerSpec("s", listing="/a.json")).files == (Path("/a.json"),)


@pytest.mark.parametrize("limit", ["_MOST_FILES", "_MOST_LOOKED_AT"])
def test_below_a_folder_with_too_much_nothing_is_covered_and_that_is_said(
    home: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    (home / "loop").symlink_to(home)
    monkeypatch.setattr(reading, limit, 3)
    files, uncovered = found(home, "python", "server.py")
    assert set(files) == {"server.py", "helper.py", "start.sh"}
    assert "too many files" in uncovered[0]


@with_hostile_text
def test_hostile_words_and_texts_lead_to_no_error(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    folder = tmp_path_factory.mktemp("hostile")
    for name in ("a.py", "a.js", "a.sh", "Makefile", "package.json", "pyproject.toml"):
        (folder / name).write_bytes(text.encode("utf-8", "surrogatepass"))
    for words in (("python", "a.py"), ("node", "a.js", text), ("sh", "a.sh"), ("make", text), ("npm", text)):
        found(folder, *words)
    found(folder, "uv", "run", text)
    found(folder, text or "x", text, "-m", text)
