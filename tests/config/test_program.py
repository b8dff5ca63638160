"""The file that a command comes down to: what the platform would start, and what is started."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp.client.stdio import DEFAULT_INHERITED_ENV_VARS

from inspector.config.configuration import Configuration
from inspector.config.program import INHERITED, file_to_start, program_of
from inspector.config.reader import read
from inspector.core.error import ConnectError
from inspector.core.server import Program, ServerSpec
from inspector.mcp.client import process
from tests.support.mcp_case import SUPPORT, opened

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


@pytest.mark.parametrize("command", ["./prog", "sub/prog", "../a/prog", "{0}/b/prog", "sub/none"])
async def test_a_path_counts_from_the_folder_of_the_process(folder: Path, command: str) -> None:
    spec = ServerSpec("a", command.format(folder), env={"PATH": "/bin"}, cwd=str(folder / "here"))
    assert program_of(spec, {}).file == await started(spec)


def test_without_a_path_of_its_own_a_process_has_the_persons(folder: Path) -> None:
    mine = {"PATH": str(folder / "b")}
    assert program_of(ServerSpec("a", "prog"), mine).file == str(folder / "b" / "prog")
    assert program_of(ServerSpec("a", "prog", env={"PATH": str(folder / "a")}), mine).file == str(
        folder / "a" / "prog"
    )


def test_links_are_followed_to_their_end(folder: Path) -> None:
    found = program_of(ServerSpec("a", "prog", env={"PATH": str(folder / "link")}), {})
    assert (found.file, found.target) == (str(folder / "link" / "prog"), str(folder / "b" / "prog"))


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


async def test_what_was_looked_at_is_started_whatever_comes_before_it_in_the_next_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look_and_be_overtaken(spec: ServerSpec, environment: Mapping[str, str]) -> str | None:
        file = file_to_start(spec, environment)
        script(tmp_path / "first" / "npx", "#!/bin/sh\nexit 1\n")
        return file

    monkeypatch.setattr(process, "file_to_start", look_and_be_overtaken)
    async with opened(tmp_path, tricky(tmp_path).servers[0]) as link:
        assert f"started {tmp_path / 'evil' / 'npx'}" in link.stderr_tail()


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


async def test_an_edit_of_a_file_in_its_place_keeps_the_consent(tmp_path: Path) -> None:
    shown = tricky(tmp_path)
    script(tmp_path / "evil" / "npx", SERVER + "# edited\n")
    entry = json.loads((tmp_path / "mcp.json").read_text())["mcpServers"]["tricky"]
    assert read_entry(tmp_path, entry).consent_items() == shown.consent_items()
    async with opened(tmp_path, shown.servers[0]) as link:
        assert len((await link.list_tools()).tools) == 4
