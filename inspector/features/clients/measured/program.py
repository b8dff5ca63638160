"""How a real client is given the stand-in and the marked server: by its settings, in a folder of its own."""

import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspector.clients.rule import written_table
from inspector.core.error import ConfigError
from inspector.core.redaction import open_private, private_folder
from inspector.features.clients.measured.marks import SERVER, SMALL
from inspector.mcp.reaper import Reaper

_ASKED = "Call the tools of the server that you are given."
# Of the person's own variables a client gets these alone; so no key of theirs, and no proxy.
_OWN = ("PATH", "LANG", "LC_ALL", "TERM", "TMPDIR", "SYSTEMROOT")
_END_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Setting:
    """What a client is started with: a folder for all its files, its model's address, and its servers.

    `servers` are command lines by name. All of them write to `log`; if `slow`, some calls take long.
    """

    folder: Path
    address: str
    servers: Mapping[str, tuple[str, ...]]
    log: Path
    model: str = ""
    slow: bool = True

    @property
    def entries(self) -> Mapping[str, Mapping[str, Any]]:
        """The servers as configurations have them, by name."""
        env = {"MARKED_LOG": str(self.log), **({"MARKED_SLOW": "1"} if self.slow else {})}
        return {
            name: {"command": line[0], "args": list(line[1:]), "env": env}
            for name, line in self.servers.items()
        }

    @property
    def servers_json(self) -> str:
        """A configuration of servers as most clients read it."""
        return json.dumps({"mcpServers": self.entries}, indent=2)


@dataclass(frozen=True, slots=True)
class Start:
    """A command line, the variables that it needs, and the files to write before, by their paths."""

    argv: tuple[str, ...]
    variables: dict[str, str]
    files: Mapping[Path, str]


def _claude_code(setting: Setting) -> Start:
    # https://code.claude.com/docs/en/env-vars and /cli-reference. Without ENABLE_TOOL_SEARCH, it defers tools
    # for Anthropic's own address alone.
    servers = setting.folder / "servers.json"
    argv = ["claude", "--print", _ASKED, "--mcp-config", str(servers), "--strict-mcp-config"]
    argv += [
        "--allowedTools",
        ",".join(f"mcp__{name}" for name in setting.servers),
        *(["--model", setting.model] if setting.model else []),
    ]
    variables = {
        "CLAUDE_CONFIG_DIR": str(setting.folder / "configuration"),
        "ANTHROPIC_BASE_URL": setting.address,
        "ANTHROPIC_API_KEY": "any",
        "ENABLE_TOOL_SEARCH": "true",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    return Start(tuple(argv), variables, {servers: setting.servers_json})


def _codex(setting: Setting) -> Start:
    # https://developers.openai.com/codex/config-reference. A required server is there from the first request.
    home = setting.folder / "configuration"
    lines = [
        *([f"model = {json.dumps(setting.model)}"] if setting.model else []),
        'model_provider = "stand-in"',
        "[model_providers.stand-in]",
        'name = "Stand-in"',
        f"base_url = {json.dumps(setting.address + '/v1')}",
        'wire_api = "responses"',
    ]
    for name, entry in setting.entries.items():
        more = {"required": True, "startup_timeout_sec": 60, "default_tools_approval_mode": "approve"}
        lines += written_table(f"[mcp_servers.{name}]", {**entry, **more})
    argv = ("codex", "exec", "--skip-git-repo-check", "--sandbox", "read-only", _ASKED)
    return Start(argv, {"CODEX_HOME": str(home)}, {home / "config.toml": "\n".join(lines) + "\n"})


STARTS: Mapping[str, Callable[[Setting], Start]] = {"claude-code": _claude_code, "codex": _codex}
"""The clients that can be started here; any other is started by hand."""


def installed(name: str, program: str) -> str:
    """The file of a client's program. Raises ConfigError if there is none on PATH."""
    found = shutil.which(program)
    if found is None:
        hint = (
            f"Install it, or add --by-hand to start it yourself: toolsight clients measure {name} --by-hand"
        )
        raise ConfigError(f"{name} is not installed: there is no program `{program}` on PATH", hint=hint)
    return found


def by_hand_text(setting: Setting) -> str:
    """What a person does with any client."""
    return (
        f"Point your client at this address in place of its model's, with any key:\n"
        f"  Anthropic  ANTHROPIC_BASE_URL={setting.address}\n"
        f"  OpenAI     OPENAI_BASE_URL={setting.address}/v1\n"
        f"Give it this server, and no other:\n{setting.servers_json}\n"
        f"Then let it say anything in a new conversation, and allow the tools that it asks for."
    )


def write(start: Start) -> None:
    """Write the files of a start. Raises OSError."""
    for path, text in start.files.items():
        private_folder(path.parent)
        with open_private(path, "w", encoding="utf-8") as file:
            file.write(text)


def environment(start: Start, setting: Setting) -> dict[str, str]:
    """All variables of the program. Its home is the folder, so that it finds nothing of the person's."""
    own = {name: os.environ[name] for name in _OWN if name in os.environ}
    return own | {"HOME": str(setting.folder)} | start.variables


@asynccontextmanager
async def running(
    start: Start, setting: Setting, reaper: Reaper
) -> AsyncIterator[asyncio.subprocess.Process]:
    """The program, until the context is left; then everything in its process group has ended.

    Raises ConfigError if it cannot be started. What it prints goes to the file `output.txt`.
    """
    work = setting.folder / "work"
    private_folder(work)
    variables = environment(start, setting) | dict(await asyncio.to_thread(reaper.prepare))
    with open_private(setting.folder / "output.txt", "wb") as output:
        try:
            process = await asyncio.create_subprocess_exec(
                *start.argv,
                env=variables,
                cwd=work,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        except OSError as error:
            raise ConfigError(f"{start.argv[0]} cannot be started: {error.strerror or error}") from error
    reaper.watch(process.pid)
    try:
        yield process
    finally:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)
                with suppress(TimeoutError):
                    await asyncio.wait_for(process.wait(), _END_SECONDS)


def server_commands(fixtures: Path) -> Mapping[str, tuple[str, ...]]:
    """The commands that start the marked servers, by the names under which a client gets them."""
    folder = fixtures / "servers"
    small = {name: (sys.executable, str(folder / "marked_small.py"), name) for name in SMALL}
    return {SERVER: (sys.executable, str(folder / "marked.py")), **small}
