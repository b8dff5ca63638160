"""Files that are read, and the files that a command runs."""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mcp.client.stdio import DEFAULT_INHERITED_ENV_VARS
from msgspec.structs import replace

from inspector.access.policy_file import load_policy
from inspector.config import program
from inspector.config.configuration import Configuration
from inspector.config.file import Looks, State, file_state, followed_lines, read_bytes
from inspector.config.predicate import digest
from inspector.config.program import INHERITED, file_to_start, program_of
from inspector.config.reader import read
from inspector.core.error import ConfigError, ConnectError
from inspector.core.server import Program, ServerSpec
from inspector.features.agents.transcript_file.reader import open_transcript
from inspector.features.lab.scenario import load_scenario
from inspector.features.marketplace.reader import read_catalog
from inspector.features.registry.export import read_export
from inspector.search.answer.evalset import is_there, read_cases
from tests.support.mcp_case import SUPPORT, opened

READERS: dict[str, Callable[[Path], object]] = {
    "configuration": lambda path: read(path, environment={}),
    "policy": load_policy,
    "predicates": digest,
    "catalog": read_catalog,
    "labelled requests": read_cases,
    "labelled requests to add to": is_there,
    "export": lambda path: list(read_export(path)),
    "transcript": open_transcript,
    "followed": lambda path: next(followed_lines(path, lambda: False)),
    "scenario": load_scenario,
}


def special(kind: str, folder: Path) -> Path:
    """A pipe that nobody writes to, a device without an end, or a link to it."""
    if kind == "pipe":
        os.mkfifo(folder / "pipe.json")
        return folder / "pipe.json"
    if kind == "device":
        return Path("/dev/zero")
    (folder / "linked.json").symlink_to("/dev/zero")
    return folder / "linked.json"


@pytest.mark.parametrize("kind", ["pipe", "device", "link to a device"])
@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_or_a_device_is_refused_and_never_waited_for(reader: str, kind: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not a regular file") as refused:
        READERS[reader](special(kind, tmp_path))
    assert "pipe or device" in refused.value.hint


def test_what_became_a_pipe_after_the_look_is_not_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    regular, pipe = tmp_path / "a.json", special("pipe", tmp_path)
    regular.write_text("{}")
    before = regular.stat()
    monkeypatch.setattr(Path, "stat", lambda *_, **__: before)
    with pytest.raises(ConfigError, match="is not a regular file"):
        read_bytes(pipe, "configuration")


def test_a_change_is_told_once_and_only_when_it_is_over(tmp_path: Path) -> None:
    file, other = tmp_path / "server.py", tmp_path / "tools.py"
    file.write_text("one")

    def look() -> State:
        return file_state(tmp_path.glob("*.py"))

    looks = Looks(look())
    assert not looks.changed(look())
    file.write_text("one and")
    assert not looks.changed(look())
    file.write_text("one and more")
    assert [looks.changed(look()) for _ in range(3)] == [False, True, False]
    other.write_text("new")
    assert [looks.changed(look()) for _ in range(3)] == [False, True, False]
    other.unlink()
    assert [looks.changed(look()) for _ in range(3)] == [False, True, False]


def test_a_file_that_goes_while_it_is_looked_at_is_no_error(tmp_path: Path) -> None:
    assert file_state([tmp_path / "gone.py"]) == {}


SERVER = f'#!/bin/sh\necho "started $0" >&2\nexec {sys.executable} {SUPPORT / "light_server.py"}\n'
WHO = '#!/bin/sh\necho "$0"\n'


def script(path: Path, text: str = WHO, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Folders with files named `prog`, some of which the platform passes over."""
    for place in ("a", "b", "here", "here/sub"):
        script(tmp_path / place / "prog")
    script(tmp_path / "plain" / "prog", mode=0o644)
    script(tmp_path / "broken" / "prog", "#!/no/such/shell\n")
    (tmp_path / "folder" / "prog").mkdir(parents=True)
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "prog").symlink_to(tmp_path / "b" / "prog")
    return tmp_path


async def started(spec: ServerSpec) -> str:
    """The absolute file that the platform starts by itself; "" if there is none."""
    try:
        process = await asyncio.create_subprocess_exec(
            *spec.argv, env=dict(spec.env), cwd=spec.cwd, stdout=asyncio.subprocess.PIPE
        )
    except OSError:
        return ""
    output, _ = await process.communicate()
    return str(Path(spec.cwd) / output.decode().strip())


@pytest.mark.parametrize(
    "search",
    [
        *("{0}/a:{0}/b", "{0}/b:{0}/a", "/nowhere:{0}/b", "{0}/plain:{0}/b", "{0}/folder:{0}/b"),
        *("{0}/broken:{0}/b", "sub:{0}/a", ".:{0}/a", "", ":{0}/a", "{0}/a:", "{0}/link:{0}/a", "/nowhere"),
    ],
)
async def test_a_bare_command_is_the_file_that_the_platform_starts(folder: Path, search: str) -> None:
    env = {"PATH": search.format(folder)}
    spec = ServerSpec("a", "prog", env=env, cwd=str(folder / "here"))
    # Toolsight's own PATH has no say where the configuration has one.
    assert program_of(spec, {"PATH": str(folder / "a")}).file == await started(spec)


def test_a_script_is_run_by_what_its_own_search_path_finds(folder: Path) -> None:
    script(folder / "a" / "tool", "#!/usr/bin/env -S prog --flag\n")
    spec = ServerSpec("a", str(folder / "a" / "tool"), env={"PATH": str(folder / "b")})
    assert program_of(spec, {}).interpreter == str(folder / "b" / "prog")
    assert program_of(replace(spec, env={"PATH": "/nowhere"}), {}).interpreter == "prog"
    assert program_of(ServerSpec("a", str(folder / "a" / "prog")), {}).interpreter == "/bin/sh"


def test_a_pipe_or_a_text_that_is_no_path_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for command in (str(tmp_path / "pipe"), "x" * 5000, "a/" * 3000):
        assert program_of(ServerSpec("a", command), {}) == Program()


def test_a_process_inherits_what_the_sdk_hands_on() -> None:
    assert sorted(INHERITED) == sorted(DEFAULT_INHERITED_ENV_VARS)


def read_entry(folder: Path, entry: dict[str, Any]) -> Configuration:
    path = folder / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"tricky": entry}}), encoding="utf-8")
    return read(path, environment=os.environ)


def tricky(folder: Path) -> Configuration:
    """A configuration whose own search path has an `npx` before the real one."""
    script(folder / "evil" / "npx", SERVER)
    env = {"PATH": f"{folder / 'first'}:{folder / 'evil'}:{os.environ['PATH']}"}
    return read_entry(folder, {"command": "npx", "args": ["-y", "shop"], "env": env})


async def test_the_file_that_was_found_is_the_one_that_is_started(tmp_path: Path) -> None:
    (spec,) = tricky(tmp_path).servers
    assert spec.program == Program(str(tmp_path / "evil" / "npx"), interpreter="/bin/sh")
    async with opened(tmp_path, spec) as link:
        assert len((await link.list_tools()).tools) == 4
        assert f"started {tmp_path / 'evil' / 'npx'}" in link.stderr_tail()


async def test_what_is_started_keeps_the_name_it_was_called_by(tmp_path: Path) -> None:
    link = tmp_path / "bin" / "my-python"
    link.parent.mkdir()
    link.symlink_to(sys.executable)
    code = "import sys; print(sys.orig_argv[0], file=sys.stderr)"
    (spec,) = read_entry(
        tmp_path, {"command": "my-python", "args": ["-c", code], "env": {"PATH": str(link.parent)}}
    ).servers
    with pytest.raises(ConnectError) as caught:
        async with opened(tmp_path, spec):
            pass
    assert caught.value.stderr_tail.strip() == "my-python"


async def test_a_file_that_comes_before_the_one_that_was_shown_is_not_started(tmp_path: Path) -> None:
    shown = tricky(tmp_path)
    script(tmp_path / "first" / "npx", f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    with pytest.raises(ConnectError) as caught:
        async with opened(tmp_path, shown.servers[0]):
            pass
    for file in (tmp_path / "evil" / "npx", tmp_path / "first" / "npx"):
        assert str(file) in caught.value.message
    assert "Open the configuration again" in caught.value.hint
    assert not (tmp_path / "ran").exists()
    assert tricky(tmp_path).consent_items() != shown.consent_items()


async def test_a_command_that_was_missing_when_it_was_asked_about_is_not_started_later(
    tmp_path: Path,
) -> None:
    shown = read_entry(tmp_path, {"command": "./server", "cwd": "."})
    with pytest.raises(ConnectError, match="Command not found"):
        async with opened(tmp_path, shown.servers[0]):
            pass
    script(tmp_path / "server", SERVER)
    with pytest.raises(ConnectError, match="led to no file when"):
        async with opened(tmp_path, shown.servers[0]):
            pass


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


def test_links_are_followed_and_pipes_and_data_are_no_scripts(home: Path) -> None:
    read_files = [Path(file.path) for file in spec(home, "env", "data.db", "pipe.py", "link.py").files]
    assert (home.parent / "outside.py").resolve() in read_files
    assert not {home / "data.db", home / "pipe.py"}.intersection(read_files)


def test_only_a_script_outside_the_folder_or_of_another_owner_asks_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asks(*words: str) -> list[bool]:
        return [file.asks for file in spec(home, *words).files][:1]

    assert asks("python3", "server.py") == [False]
    assert asks("python3", "link.py") == [True]
    assert asks("python3", str(home.parent / "outside.py")) == [True]
    other = SimpleNamespace(**{**vars(os), "geteuid": lambda: os.geteuid() + 1})
    monkeypatch.setattr(program, "os", other)
    assert asks("python3", "server.py") == [True]


def test_a_server_under_work_asks_nothing_about_a_person_s_own_files(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = spec(home, "python3", str(home.parent / "outside.py"))
    assert [file.asks for file in program.under_work(outside).files][:1] == [False]
    monkeypatch.setattr(program, "os", SimpleNamespace(geteuid=lambda: os.geteuid() + 1))
    assert [file.asks for file in program.under_work(outside).files][:1] == [True]


def test_a_program_of_the_system_is_left_out_unless_others_may_write_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "program").write_bytes(b"\x7fELF\0")
    (home / "program").chmod(0o755)
    monkeypatch.setattr(program, "_ROOT", os.geteuid())
    assert spec(home, "./program").files == ()
    (home / "program").chmod(0o777)
    assert len(spec(home, "./program").files) == 1


def test_what_asks_again_is_not_started_with_another_content_than_was_looked_at(home: Path) -> None:
    shown = spec(home, "python3", "link.py")
    assert file_to_start(shown, ENVIRONMENT)
    (home.parent / "outside.py").write_text("other\n")
    with pytest.raises(ConnectError, match=r"outside\.py changed after the configuration was opened"):
        file_to_start(shown, ENVIRONMENT)
    (home.parent / "outside.py").unlink()
    with pytest.raises(ConnectError, match="changed"):
        file_to_start(shown, ENVIRONMENT)


async def test_a_link_that_leads_elsewhere_now_is_not_started(tmp_path: Path) -> None:
    for name in ("old", "new"):
        script(tmp_path / name, SERVER)
    link = tmp_path / "server"
    link.symlink_to(tmp_path / "old")
    shown = read_entry(tmp_path, {"command": str(link)})
    link.unlink()
    link.symlink_to(tmp_path / "new")
    with pytest.raises(ConnectError, match=r"now leads to .*new"):
        async with opened(tmp_path, shown.servers[0]):
            pass
