"""Which files a command runs, what of them counts, and that another content is not started unasked."""

import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from inspector.config import program
from inspector.config.program import file_to_start
from inspector.config.reader import read
from inspector.core.error import ConnectError
from inspector.core.server import RunFile, ServerSpec

ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A configuration's folder with scripts, data, and a script outside of it."""
    folder = tmp_path / "project"
    for name in ("server.py", "index.js", "run", "own/__main__.py", "own/part.py", "sub/server.py", "plain"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n" if name == "run" else "one\ntwo\n")
    (folder / "run").chmod(0o755)
    (folder / "data.db").write_bytes(b"SQLite\0")
    (folder / "rows.csv").write_text("a,b\n")
    (folder / "link.py").symlink_to(tmp_path / "outside.py")
    (tmp_path / "outside.py").write_text("one\n")
    os.mkfifo(folder / "pipe.py")
    return folder


def spec(home: Path, command: str, *args: str, cwd: str = ".") -> ServerSpec:
    path = home / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"a": {"command": command, "args": args, "cwd": cwd}}}))
    return read(path, environment=ENVIRONMENT).servers[0]


@pytest.mark.parametrize(
    ("words", "files"),
    [
        (("python3", "server.py"), ["server.py"]),
        (("python3", "-u", "server.py", "data.db", "rows.csv"), ["server.py"]),
        (("sh", "plain", "rows.csv"), ["plain"]),
        (("sh", "plain", "server.py"), ["plain", "server.py"]),
        (("python3", "-m", "own"), ["own/__main__.py"]),
        (("python3", "-m", "own.part"), ["own/part.py"]),
        (("env", "--directory", "sub", "server.py"), ["server.py", "sub/server.py"]),
        (("env", "--directory=sub", "run", "server.py"), ["run", "server.py", "sub/server.py"]),
        (("env", "--require=./index.js"), ["index.js"]),
        (("./run", "--db", "data.db"), ["run"]),
        (("env", "--database", "data.db", "rows.csv", "pipe.py", ".", "missing.py"), []),
        (("sh", "link.py"), ["../outside.py"]),
    ],
)
def test_the_scripts_of_a_command_are_found_and_data_is_not(
    home: Path, words: tuple[str, ...], files: list[str]
) -> None:
    found = [Path(file.path).resolve() for file in spec(home, *words).files]
    assert found == [(home / file).resolve() for file in files]


def test_a_script_counts_by_its_lines(home: Path) -> None:
    (before,) = spec(home, "python3", "server.py").files
    (home / "server.py").write_text("one\nother\n")
    (after,) = spec(home, "python3", "server.py").files
    assert (len(before.lines), before.lines[0]) == (2, after.lines[0])
    assert before.digest != after.digest


def test_only_a_script_outside_the_folder_or_of_another_owner_asks_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asks(*words: str) -> list[bool]:
        return [file.asks for file in spec(home, *words).files]

    assert asks("python3", "server.py") == [False]
    assert asks("python3", "link.py") == [True]
    assert asks("python3", str(home.parent / "outside.py")) == [True]
    other = SimpleNamespace(**{**vars(os), "geteuid": lambda: os.geteuid() + 1})
    monkeypatch.setattr(program, "os", other)
    assert asks("python3", "server.py") == [True]


def test_a_server_under_work_asks_nothing_about_a_person_s_own_files(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = spec(home, "python3", "link.py")
    assert [file.asks for file in program.under_work(outside).files] == [False]
    monkeypatch.setattr(program, "os", SimpleNamespace(geteuid=lambda: os.geteuid() + 1))
    assert [file.asks for file in program.under_work(outside).files] == [True]


def test_a_program_of_the_system_is_left_out_unless_others_may_write_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "program").write_bytes(b"\x7fELF\0")
    (home / "program").chmod(0o755)
    monkeypatch.setattr(program, "_ROOT", os.geteuid())
    assert spec(home, "./program").files == ()
    (home / "program").chmod(0o777)
    assert len(spec(home, "./program").files) == 1


def test_a_large_program_is_not_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_HASHED", 4)
    (before,) = spec(home, "python3", "server.py").files
    (home / "server.py").write_text("one\ntwo\nthree\n")
    (after,) = spec(home, "python3", "server.py").files
    assert (before.lines, after.lines) == ((), ())
    assert before.digest != after.digest


def test_what_asks_again_is_not_started_with_another_content_than_was_looked_at(home: Path) -> None:
    shown = spec(home, "python3", "link.py")
    assert file_to_start(shown, ENVIRONMENT)
    (home.parent / "outside.py").write_text("other\n")
    with pytest.raises(ConnectError, match=r"outside\.py changed after the configuration was opened"):
        file_to_start(shown, ENVIRONMENT)
    (home.parent / "outside.py").unlink()
    with pytest.raises(ConnectError, match="changed"):
        file_to_start(shown, ENVIRONMENT)


def test_a_script_that_is_edited_all_day_is_started_each_time(home: Path) -> None:
    shown = spec(home, "python3", "server.py")
    (home / "server.py").write_text("other\n")
    assert file_to_start(shown, ENVIRONMENT)
    asked = replace(shown, files=tuple(replace(file, asks=True) for file in shown.files))
    with pytest.raises(ConnectError):
        file_to_start(asked, ENVIRONMENT)


def test_a_file_that_cannot_be_read_is_one_without_content(home: Path) -> None:
    assert program._read(home / "missing.py") == RunFile(str(home / "missing.py"), "")


def test_a_script_of_the_system_counts(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_ROOT", os.geteuid())
    monkeypatch.setattr(program, "_COUNTED", 2)
    (file,) = spec(home, "python3", "server.py").files
    assert file.digest
    assert not file.lines
