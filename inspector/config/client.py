"""Where MCP clients keep their server configurations on a machine, and what those say. Read only.

The paths are the ones each client documents; `client_format` reads what is in them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from inspector.config.client_format import load_file, place_of, servers_in, with_texts
from inspector.config.configuration import Configuration
from inspector.config.format import normalised
from inspector.config.reader import entry_problems, read, servers
from inspector.core.error import ConfigError
from inspector.core.server import ServerSpec

USER, PROJECT = "user", "project"
FILE = "File"
"""Stands in for the client when a person named the file: it may be any client's or Toolsight's."""
TOOLSIGHT, CLAUDE_CODE, GEMINI, QWEN = "Toolsight", "Claude Code", "Gemini CLI", "Qwen Code"
_EDITORS = (("VS Code", "Code"), ("VS Code Insiders", "Code - Insiders"))
_CLINE_HOSTS = ("Code", "Code - Insiders", "Cursor", "Windsurf")
_CLINE = Path("globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json")
_BELOW_HOME = (
    *(("Cursor", ".cursor/mcp.json"), ("Windsurf", ".codeium/windsurf/mcp_config.json")),
    *(("Cline", ".cline/data/settings/cline_mcp_settings.json"), (GEMINI, ".gemini/settings.json")),
    *(("Continue", ".continue/config.yaml"), ("Copilot CLI", ".copilot/mcp-config.json")),
    *((QWEN, ".qwen/settings.json"), ("Kiro", ".kiro/settings/mcp.json")),
)
_BELOW_CONFIG = (
    *(("Goose", "goose/config.yaml"), ("Zed", "zed/settings.json")),
    *(("opencode", "opencode/opencode.json"), ("opencode", "opencode/opencode.jsonc")),
)
_BELOW_PROJECT = (
    *((CLAUDE_CODE, ".mcp.json"), ("Cursor", ".cursor/mcp.json"), ("VS Code", ".vscode/mcp.json")),
    *((GEMINI, ".gemini/settings.json"), ("Codex", ".codex/config.toml"), ("Zed", ".zed/settings.json")),
    *(("opencode", "opencode.json"), ("opencode", "opencode.jsonc"), (QWEN, ".qwen/settings.json")),
    *(("Kiro", ".kiro/settings/mcp.json"), (TOOLSIGHT, "toolsight.json")),
)
# Gemini CLI, and Qwen Code that was made from it, also accept variables without braces.
_BARE_VARIABLE = re.compile(r"\$([A-Za-z_]\w*)")


class ClientFile(Struct, frozen=True):
    """A file that a client would read, whether it exists or not. `scope` is `user` or `project`."""

    client: str
    path: Path
    scope: str = USER


class ClientConfiguration(Struct, frozen=True):
    """What a client reads from one file, or from the part of it for one project.

    `configuration` has the readable servers; `faults` say by name why the others cannot be read.
    """

    client: str
    scope: str
    configuration: Configuration
    faults: Mapping[str, ConfigError] = field(default_factory=dict)


class Unreadable(Struct, frozen=True):
    """A file, or a part of one, that cannot be read as a configuration."""

    client: str
    scope: str
    path: Path
    error: ConfigError


def client_files(
    home: Path, folder: Path, platform: str, environment: Mapping[str, str]
) -> tuple[ClientFile, ...]:
    """Every file that a client on this machine would read in a project folder, each once.

    `platform` is `sys.platform`; `environment` can move the folders (XDG_CONFIG_HOME, APPDATA,
    CLAUDE_CONFIG_DIR, CODEX_HOME).
    """
    data = _data_folder(home, platform, environment)
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    places = ((home, USER, _BELOW_HOME), (config, USER, _BELOW_CONFIG), (folder, PROJECT, _BELOW_PROJECT))
    listed = [
        ClientFile("Claude Desktop", data / "Claude" / "claude_desktop_config.json"),
        ClientFile(CLAUDE_CODE, Path(environment.get("CLAUDE_CONFIG_DIR") or home) / ".claude.json"),
        ClientFile("Codex", Path(environment.get("CODEX_HOME") or home / ".codex") / "config.toml"),
        *_editors(data),
        *(ClientFile("Cline", data / host / "User" / _CLINE) for host in _CLINE_HOSTS),
        *(ClientFile(client, at / path, scope) for at, scope, files in places for client, path in files),
    ]
    return tuple({file.path.absolute(): file for file in reversed(listed)}.values())[::-1]


def client_file_of(path: Path, known: Iterable[ClientFile]) -> ClientFile:
    """The known place with this path, or else a place that may belong to any client."""
    for file in known:
        if file.path.absolute() == path.absolute():
            return replace(file, path=path)
    return ClientFile(CLAUDE_CODE if path.name == ".claude.json" else FILE, path, "")


def is_there(file: ClientFile) -> bool:
    """Whether the file exists. One without permission counts as existing, so that it is reported."""
    try:
        return file.path.is_file()
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False


def read_client_file(
    file: ClientFile, *, environment: Mapping[str, str], inputs: Mapping[str, str]
) -> tuple[ClientConfiguration | Unreadable, ...]:
    """The configurations in a file and its unreadable parts; empty if the client has no servers there."""
    try:
        data = load_file(file.path)
    except ConfigError as error:
        return (Unreadable(file.client, file.scope, file.path, error),)
    is_whole = file.client in (TOOLSIGHT, FILE)
    parts = iter([(file.scope, data)]) if is_whole else _parts(file, data)
    return tuple(_read(replace(file, scope=scope), part, environment, inputs) for scope, part in parts)


def _read(
    file: ClientFile, data: Mapping[str, Any], environment: Mapping[str, str], inputs: Mapping[str, str]
) -> ClientConfiguration | Unreadable:
    try:
        whole = read(file.path, data, environment=environment, inputs=inputs, client=file.client)
        return ClientConfiguration(file.client, file.scope, whole)
    except ConfigError as error:
        by_name: dict[str, ServerSpec | ConfigError] = {}
        # An error here is no server's: then there are no faults of servers.
        with suppress(ConfigError):
            by_name = servers(file.path, data, environment=environment, inputs=inputs, client=file.client)
        faults = {name: fault for name, fault in by_name.items() if isinstance(fault, ConfigError)}
        if not faults:
            return Unreadable(file.client, file.scope, file.path, error)
        specs = tuple(spec for spec in by_name.values() if isinstance(spec, ServerSpec))
        form = normalised(data, file.client)
        configuration = Configuration(
            str(file.path),
            specs,
            disabled=tuple(name for name in form.all_names if name not in by_name),
            problems=tuple(entry_problems(form)),
        )
        return ClientConfiguration(file.client, file.scope, configuration, faults)


def _parts(file: ClientFile, data: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The scopes in a client's file, each with its servers only: all other keys belong to the client."""
    yield from _part(file, file.scope, data)
    projects = data.get("projects") if file.client == CLAUDE_CODE else None
    for folder, project in projects.items() if isinstance(projects, dict) else ():
        if isinstance(project, dict):
            yield from _part(file, f"{PROJECT} {folder}", project)


def _part(file: ClientFile, scope: str, data: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    entries, place = servers_in(data), place_of(data)
    if not entries:
        return
    if file.client in (GEMINI, QWEN):
        entries = with_texts(entries, lambda text: _BARE_VARIABLE.sub(r"${\1}", text))
    above = data if len(place) == 1 else data[place[0]]
    part = {place[-1]: entries, "inputs": above.get("inputs")}
    yield scope, {"mcp": data.get("mcp"), **part} if len(place) == 1 else {place[0]: part}


def _data_folder(home: Path, platform: str, environment: Mapping[str, str]) -> Path:
    """Where desktop applications keep their settings."""
    if platform == "darwin":
        return home / "Library" / "Application Support"
    if platform == "win32":
        return Path(environment.get("APPDATA") or home / "AppData" / "Roaming")
    return Path(environment.get("XDG_CONFIG_HOME") or home / ".config")


def _editors(data: Path) -> Iterator[ClientFile]:
    """The files of VS Code and Insiders; every profile has its own beside the default profile's."""
    for client, name in _EDITORS:
        user = data / name / "User"
        yield ClientFile(client, user / "mcp.json")
        yield ClientFile(client, user / "settings.json")
        yield from (ClientFile(client, path) for path in sorted(user.glob("profiles/*/mcp.json")))
