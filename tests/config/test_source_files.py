"""The files that a command runs: scripts, what they import, and what a command goes through."""

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.config import source_files as reading
from inspector.config.source_files import source_files, unwatched
from inspector.core.server import ServerSpec
from tests.support.hostile import with_hostile_text

FILES = {
    "server.py": "import helper, json\nfrom pkg.deep import (\n    one,\n    two as other,\n)\n",
    "beside.py": "",
    "helper.py": "def f():\n    import late; import_module('pkg.named')\n",
    "late.py": "from nowhere import missing",
    "pkg/__init__.py": "",
    "pkg/__main__.py": "from . import sibling\nfrom .deep.two import x\nfrom ..other import y\n",
    "pkg/sibling.py": "import pkg.__init__",
    "pkg/named.py": "",
    "pkg/deep/__init__.py": "",
    "pkg/deep/one.py": "from ...server import z",
    "pkg/deep/two.py": "",
    "src/inside/cli.py": "from inside import part",
    "src/inside/part.py": "",
    "index.js": "import a from './lib/a'; require(\"./lib/b.js\"); import('../out.mjs'); import 'express'",
    "lib/a.ts": "export * from '.'",
    "lib/b.ts": "",
    "lib/index.js": "new Worker('./work.mjs'); open('./data.db')",
    "lib/work.mjs": "",
    "lib/data.db": "",
    "package.json": json.dumps(
        {
            "main": "lib/index.js",
            "scripts": {
                "start": "npm run -s serve",
                "preserve": "tsx lib/b.ts",
                "serve": "PORT=1 node index.js",
            },
        }
    ),
    "pyproject.toml": "[project.scripts]\nserve = 'inside.cli:main'\n",
    "uv.lock": "",
    "Makefile": "PY = python\nall: other\n\npython other.py\n"
    "serve: build\n\t@$(PY) -m pkg \\\n  --x\nbuild:\n"
    "\tnode lib/work.mjs; cd src && python inside/part.py\nother:\n\tpython late.py\n",
    "start.sh": '#!/bin/sh\ncd "$(dirname "$0")" || exit 1\n. ./env.sh # set\n'
    'exec python "$HERE/server.py" "$@"\n',
    "env.sh": "",
    "tool": "#!/usr/bin/env python3\nimport late\n",
    "node_modules/express/index.js": "",
}
SERVER = ["server.py", "beside.py", "helper.py", "late.py", "pkg/__init__.py", "pkg/deep/__init__.py"]
SERVER += ["pkg/deep/one.py", "pkg/deep/two.py", "pkg/named.py"]
PKG = ["pkg/__main__.py", "pkg/__init__.py", "pkg/sibling.py", "pkg/named.py", "pkg/deep/__init__.py"]
DEEP = "pkg/deep/two.py"
NODE = ["index.js", "lib/a.ts", "lib/b.ts", "lib/index.js", "lib/work.mjs"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name in ("start.sh", "tool"):
        (tmp_path / name).chmod(0o755)
    return tmp_path


def found(home: Path, *words: str, **env: str) -> tuple[list[str], tuple[str, ...]]:
    read = source_files(ServerSpec("s", words[0], words[1:], cwd=str(home), env=env))
    return [os.path.relpath(path, home) for path in read.files], read.uncovered


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("python3 server.py --port 1", SERVER),
        ("python -m pkg", [*PKG, DEEP]),
        ("python -u -m inside.cli", ["src/inside/cli.py", "src/inside/part.py"]),
        ("node index.js", NODE),
        ("node .", ["package.json", "lib/index.js", "lib/work.mjs"]),
        ("npm start", ["package.json", *NODE]),
        ("npm run serve", ["package.json", *NODE]),
        ("make serve", ["Makefile", "lib/work.mjs", "src/inside/part.py", "src/inside/cli.py", *PKG, DEEP]),
        ("uv run serve", ["pyproject.toml", "uv.lock", "src/inside/cli.py", "src/inside/part.py"]),
        ("uv run --with x server.py", ["pyproject.toml", "uv.lock", *SERVER]),
        ("./start.sh", ["start.sh", "env.sh", *SERVER]),
        ("env A=1 ./start.sh", ["start.sh", "env.sh", *SERVER]),
        (
            "sh -c 'cd pkg && python deep/two.py'",
            [DEEP, "pkg/deep/__init__.py", "pkg/deep/one.py", "server.py"],
        ),
        ("./tool", ["tool", "late.py"]),
        ("npx -y tsx lib/b.ts", ["lib/b.ts", "lib/a.ts", "lib/index.js", "lib/work.mjs"]),
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
        ("npm run absent", "the script absent, which is not in "),
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


def test_python_looks_where_the_server_is_told_to(home: Path) -> None:
    assert "src/inside/part.py" not in found(home, "python", "tool")[0]
    (home / "tool").write_text("import inside.part", encoding="utf-8")
    assert "elsewhere/inside/part.py" not in found(home, "python", "tool")[0]
    (home / "elsewhere").symlink_to(home / "src")
    assert "elsewhere/mod.py" not in found(home, "python", "tool")[0]
    (home / "src" / "only.py").write_text("", encoding="utf-8")
    (home / "tool").write_text("import only", encoding="utf-8")
    assert "src/only.py" in found(home, "python", "tool", PYTHONPATH="elsewhere")[0]


def deep(home: Path) -> None:
    """Folders that lead to themselves, files that import each other, and names that lead nowhere."""
    (home / "loop").symlink_to(home)
    (home / "self").symlink_to(home / "self")
    (home / "a.py").write_text("import b, self, loop.a\n", encoding="utf-8")
    (home / "b.py").write_text("import a, loop.loop.b\n", encoding="utf-8")


def endless(home: Path) -> None:
    """Each file imports two more."""
    for number in range(1_500):
        (home / f"m{number}.mjs").write_text(f"import './m{2 * number + 1}'; import './m{2 * number + 2}'")
    (home / "a.py").write_text("", encoding="utf-8")
    (home / "package.json").write_text(json.dumps({"scripts": {"start": "node m0.mjs && npm start"}}))


def huge(home: Path) -> None:
    """Texts that a careless pattern would read for ever."""
    for number, part in enumerate(("from a import (", "." * 99 + " ", ";" * 99, "$(", "`", "import a,b;")):
        (home / f"h{number}.py").write_text(part * (1_000_000 // len(part)), encoding="utf-8")
        (home / f"h{number}.sh").write_text(part * (1_000_000 // len(part)), encoding="utf-8")
    (home / "a.py").write_text("import h0, h1, h2, h3, h4, h5\n", encoding="utf-8")
    (home / "start.sh").write_text("".join(f". ./h{number}.sh\n" for number in range(6)), encoding="utf-8")


@pytest.mark.parametrize(
    ("make", "command"),
    [(deep, "python a.py"), (endless, "npm start"), (huge, "python a.py"), (huge, "./start.sh")],
)
def test_however_much_a_tree_holds_reading_it_ends(
    home: Path, make: Callable[[Path], None], command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_MOST_WORK", 4_000_000)
    make(home)
    files, uncovered = found(home, *command.split())
    assert files
    assert len(files) <= 1_000
    assert make is deep or uncovered


def test_what_lies_beside_a_script_in_a_huge_folder_is_said_to_be_uncovered(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_MOST_BESIDE", 3)
    files, uncovered = found(home, "python", "server.py")
    assert "beside.py" not in files
    assert "helper.py" in files
    assert "more than 3 files" in uncovered[0]


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
