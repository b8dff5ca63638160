"""Servers as child processes: how they start, misbehave and end."""

import asyncio
import json
import logging
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from inspector.core.error import ConnectError, ProtocolError, ServerExited
from inspector.core.redaction import SECRETS
from inspector.core.server import Era, ServerSpec
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.frame import LOG, MAX_BYTES, StderrLog, quiet_sdk
from inspector.mcp.port import Opening
from inspector.mcp.reaper import MARKER, Reaper
from tests.support.mcp_case import PATIENCE, SERVERS, faulty, is_alive, odd, opened, python


async def refusal(folder: Path, spec: ServerSpec, era: Era | None = None) -> ConnectError:
    with pytest.raises(ConnectError) as caught:
        async with opened(folder, spec, era=era):
            pass
    return caught.value


async def test_a_missing_command_is_named_with_what_to_do(tmp_path: Path) -> None:
    error = await refusal(tmp_path, ServerSpec("a", command="no-such-command"))
    assert "no-such-command" in error.message
    assert "PATH" in error.message
    assert "no-such-command" in error.hint
    error = await refusal(tmp_path, ServerSpec("a", command="cmd", args=("/c", "npx")))
    assert "without `cmd /c`" in error.hint


async def test_a_container_that_ends_at_once_is_told_what_it_lacks(tmp_path: Path) -> None:
    docker = tmp_path / "docker"
    docker.write_text("#!/bin/sh\n", encoding="utf-8")
    docker.chmod(0o700)
    error = await refusal(tmp_path, ServerSpec("a", command=str(docker), args=("run", "shop")))
    assert "needs `-i`" in error.hint


async def test_a_killed_process_is_told_from_one_that_ended(tmp_path: Path) -> None:
    suicide = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    error = await refusal(tmp_path, ServerSpec("a", command=sys.executable, args=("-c", suicide)))
    assert error.message == "The process was killed by SIGSEGV"


async def test_a_server_that_prints_on_stdout_is_told_what_it_printed(tmp_path: Path) -> None:
    talks = "print(); print('Server running on stdio'); print('second line')"
    error = await refusal(tmp_path, ServerSpec("a", command=sys.executable, args=("-c", talks)))
    assert "“Server running on stdio”" in error.hint
    assert "stderr" in error.hint


async def test_a_child_gets_the_few_usual_variables_and_the_configured_ones(tmp_path: Path) -> None:
    ours = {**os.environ, "HOME": "/home/here", "AWS_SECRET": "ours"}
    connector = McpConnector(tmp_path, environment=ours)
    spec = odd(env={"TOKEN": "theirs"})
    async with connector.connect(spec, Opening()) as link:
        result = await link.call("environment", {}, timeout=PATIENCE)
    seen = json.loads(result.text)
    assert (seen["HOME"], seen["TOKEN"]) == ("/home/here", "theirs")
    assert "AWS_SECRET" not in seen


async def test_a_result_that_is_no_object_is_an_error_and_one_that_breaks_its_schema_says_so(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path, odd()) as link:
        await link.list_tools()
        with pytest.raises(ProtocolError):
            await link.call("a_list", {}, timeout=PATIENCE)
        shown = (await link.call("breaks_its_schema", {}, timeout=PATIENCE)).text
        said = "not what the tool's output schema says: $.degrees: 'five' is not of type 'number'"
        assert shown == f"5 degrees\n[{said}]"


async def test_a_server_of_the_newer_protocol_only_is_reached_by_a_fresh_process(tmp_path: Path) -> None:
    async with opened(tmp_path, odd(env={"ODD": "modern_only"})) as link:
        assert (link.info.era, link.info.speaks) == (Era.MODERN, "2026-07-28, nothing older")
        assert (await link.call("pid", {}, timeout=PATIENCE)).text.isdecimal()
    starts = (tmp_path / "odd.stderr.log").read_text(encoding="utf-8").count("odd: starting")
    assert starts == 2


async def test_a_death_while_idle_is_noticed(tmp_path: Path) -> None:
    async with opened(tmp_path, odd()) as link:
        pid = int((await link.call("pid", {}, timeout=PATIENCE)).text)
        os.kill(pid, 9)
        async with asyncio.timeout(PATIENCE):
            error = await link.wait_closed()
    assert error.message == "The process was killed by SIGKILL"
    assert "odd: starting" in error.stderr_tail


@pytest.mark.slow
async def test_a_death_is_noticed_though_a_helper_holds_the_output_open(tmp_path: Path) -> None:
    async with opened(tmp_path, odd()) as link:
        with pytest.raises(ServerExited, match="exit code 8"):
            await link.call("exit_with_helper", {}, timeout=PATIENCE)


@pytest.mark.slow
async def test_closing_ends_the_helpers_of_a_server_too(tmp_path: Path) -> None:
    async with opened(tmp_path, odd()) as link:
        server = int((await link.call("pid", {}, timeout=PATIENCE)).text)
        helper = int((await link.call("helper", {}, timeout=PATIENCE)).text)
        assert is_alive(server)
        assert is_alive(helper)
    assert not is_alive(server)
    assert not is_alive(helper)


@pytest.mark.slow
async def test_a_closing_that_is_cancelled_again_still_ends_the_process(tmp_path: Path) -> None:
    pid = 0

    async def own() -> None:
        nonlocal pid
        async with opened(tmp_path, odd()) as link:
            pid = int((await link.call("stubborn", {}, timeout=PATIENCE)).text)
            connected.set()
            await asyncio.Event().wait()

    connected = asyncio.Event()
    owner = asyncio.create_task(own())
    async with asyncio.timeout(PATIENCE):
        await connected.wait()
    owner.cancel()
    await asyncio.wait({owner}, timeout=0.1)
    owner.cancel()
    with pytest.raises(asyncio.CancelledError):
        await owner
    [thread] = [thread for thread in threading.enumerate() if thread.name == "servers"]
    await asyncio.to_thread(thread.join, PATIENCE)
    assert not is_alive(pid)


def test_of_stderr_the_newest_megabyte_is_kept_while_it_is_written(tmp_path: Path) -> None:
    stderr, file = StderrLog(tmp_path, "big"), tmp_path / "big.stderr.log"
    stderr.begin()
    for number in range(400):
        stderr.write(f"line {number:>10}\n".encode() * 500)
        assert file.stat().st_size <= MAX_BYTES
    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines[-1] == stderr.tail().splitlines()[-1] == "line        399"
    assert {len(line) for line in lines} == {15}
    assert file.stat().st_size > MAX_BYTES / 3
    stderr.close()


def test_a_line_of_stderr_without_an_end_is_in_the_tail_and_takes_a_bounded_memory(tmp_path: Path) -> None:
    stderr = StderrLog(tmp_path, "endless")
    stderr.begin()
    stderr.write(b"Password: ")
    assert stderr.tail() == "Password:"
    for _ in range(100):
        stderr.write(b"x" * 100_000)
    assert len(stderr.tail()) < MAX_BYTES / 10
    stderr.end()
    stderr.close()
    assert (tmp_path / "endless.stderr.log").stat().st_size <= MAX_BYTES


def test_what_is_kept_of_stderr_has_no_secrets_and_is_its_owners_alone(tmp_path: Path) -> None:
    SECRETS.learn({"a.REF": "wsp-93fA71cd"})
    for _ in range(2):
        stderr = StderrLog(tmp_path / "logs", "told")
        stderr.begin()
        stderr.write(b"started with wsp-9")
        stderr.write(b"3fA71cd\nagain wsp-93fA71cd")
        assert stderr.tail() == "started with [redacted]\nagain [redacted]"
        stderr.end()
        stderr.close()
    log = tmp_path / "logs" / "told.stderr.log"
    assert log.read_bytes() == b"started with [redacted]\nagain [redacted]\n" * 2
    assert [path.stat().st_mode & 0o777 for path in (log.parent, log)] == [0o700, 0o600]


def test_the_log_of_the_sdk_has_no_secrets(tmp_path: Path) -> None:
    SECRETS.learn({"a.REF": "wsp-93fA71cd"})
    quiet_sdk(tmp_path / "logs")
    LOG.warning("it wrote %r", "wsp-93fA71cd")
    log = tmp_path / "logs" / "mcp.log"
    assert "it wrote '[redacted]'" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600


def test_servers_with_names_that_are_no_file_names_have_logs_of_their_own(tmp_path: Path) -> None:
    for name in ("a/b", "a_b", "../x", "x" * 300):
        log = StderrLog(tmp_path, name)
        log.begin()
        log.close()
    assert len(list(tmp_path.iterdir())) == 4


async def test_a_log_folder_that_cannot_be_written_keeps_no_server_from_starting(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    async with opened(blocked / "logs", odd()) as link:
        assert link.stderr_tail() == "odd: starting"


class Noted(Reaper):
    """A reaper that keeps what it was told, and starts no process."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[int] = []

    def prepare(self) -> dict[str, str]:
        return {MARKER: "here.1"}

    def watch(self, pid: int) -> None:
        self.told.append(pid)


async def test_a_server_has_the_mark_of_its_run_and_is_watched(tmp_path: Path) -> None:
    reaper = Noted()
    connector = McpConnector(tmp_path, reaper=reaper)
    async with connector.connect(odd(), Opening()) as link:
        assert reaper.told == [int((await link.call("pid", {}, timeout=PATIENCE)).text)]
        assert '"TOOLSIGHT_RUN": "here.1"' in (await link.call("environment", {}, timeout=PATIENCE)).text


async def test_neither_servers_nor_the_sdk_write_to_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for fault in ("noise", "crash_on_start"):
        with suppress(ConnectError):
            async with opened(tmp_path, faulty(fault)) as link:
                await link.list_tools()
    logging.getLogger("mcp.client").warning("sdk warning")
    assert capfd.readouterr() == ("", "")
    assert "sdk warning" in (tmp_path / "mcp.log").read_text(encoding="utf-8")


async def test_a_remembered_era_is_tried_first(tmp_path: Path) -> None:
    async with opened(tmp_path, odd(env={"ODD": "modern_only"}), era=Era.MODERN) as link:
        assert link.info.era is Era.MODERN
    assert (tmp_path / "odd.stderr.log").read_text(encoding="utf-8").count("odd: starting") == 1


async def test_who_wants_skills_starts_with_the_era_that_has_them_and_learns_nothing_of_the_older(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path, python(SERVERS / "calc.py", skills=True)) as link:
        assert (link.info.era, link.info.refuses_older) == (Era.MODERN, False)


async def test_how_long_a_list_may_be_kept_is_what_its_server_says(tmp_path: Path) -> None:
    script = tmp_path / "kept.py"
    script.write_text(
        """
import asyncio
from mcp import types
from mcp.server import Server
from mcp.server.caching import CacheHint
from mcp.server.stdio import stdio_server
async def listed(_context, _params):
    return types.ListToolsResult(tools=[])
async def main():
    hints = {"tools/list": CacheHint(ttl_ms=300_000, scope="public")}
    server = Server("kept", on_list_tools=listed, cache_hints=hints)
    async with stdio_server() as streams:
        await server.run(*streams, server.create_initialization_options())
asyncio.run(main())
"""
    )
    for era, kept in ((Era.MODERN, (300.0, "public")), (Era.LEGACY, (None, ""))):
        async with opened(tmp_path, python(script, era=era)) as link:
            await link.list_tools()
            assert (link.info.list_kept, link.info.list_scope) == kept
