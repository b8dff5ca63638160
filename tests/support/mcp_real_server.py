"""Installs other people's servers once, in a cache folder, and returns how to start them.

`npx -y` and `uv tool run` would ask their registries at every start. A server that cannot be installed within
the time limit raises NotInstalled, with the reason.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import platformdirs

from inspector.core.server import ServerSpec

CACHE_VARIABLE = "TOOLSIGHT_REAL_SERVERS_CACHE"
INSTALL_SECONDS = 90
_WORKDIR = "WORKDIR"


class NotInstalled(Exception):
    """A server could not be installed here; says why."""


def cache_folder() -> Path:
    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen) if chosen else platformdirs.user_cache_path("toolsight") / "real-servers"


def installed(name: str, entry: Mapping[str, Any], workdir: Path) -> ServerSpec:
    """The spec that starts an entry's server from the cache, with paths in `workdir`."""
    arguments = [str(argument).replace(_WORKDIR, str(workdir)) for argument in entry["args"]]
    install = {"npx": _npm, "uv": _uv}.get(entry["command"])
    if install is None:
        raise NotInstalled(f"do not know how to install `{entry['command']}`")
    command, rest = install(arguments)
    variables = {key: value.replace(_WORKDIR, str(workdir)) for key, value in entry.get("env", {}).items()}
    return ServerSpec(name, command=str(command), args=tuple(rest), env=variables, call_timeout=30)


def _npm(arguments: Sequence[str]) -> tuple[Path, Sequence[str]]:
    package, *rest = [argument for argument in arguments if argument != "-y"]
    name = package[: package.rindex("@")]
    folder = cache_folder() / "npm" / package.replace("/", "_")
    manifest = folder / "node_modules" / name / "package.json"
    if not manifest.is_file():
        quick = ("--no-audit", "--no-fund", "--fetch-retries=0", "--fetch-timeout=30000")
        _run(["npm", "install", *quick, "--prefix", str(folder), package])
    binaries = json.loads(manifest.read_text(encoding="utf-8"))["bin"]
    binary = name.rpartition("/")[2] if isinstance(binaries, str) else next(iter(binaries))
    return folder / "node_modules" / ".bin" / binary, rest


def _uv(arguments: Sequence[str]) -> tuple[Path, Sequence[str]]:
    rest = list(arguments[2:])  # after `tool run`
    options: dict[str, str] = {}
    while rest[0] in ("--from", "--with"):
        options[rest[0]] = rest[1]
        del rest[:2]
    command, _, version = rest.pop(0).partition("@")
    package = options.get("--from") or f"{command}=={version}"
    folder = cache_folder() / "uv" / package
    binary = folder / "bin" / command
    if not binary.exists():
        extra = ["--with", options["--with"]] if "--with" in options else []
        places = {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
        _run([_uv_command(), "tool", "install", "--python", sys.executable, package, *extra], **places)
    return binary, rest


def _uv_command() -> str:
    """The machine's uv, or one from PyPI in a separate environment."""
    found = shutil.which("uv")
    if found:
        return found
    folder = cache_folder() / "uv-command"
    command = folder / "bin" / "uv"
    if not command.exists():
        _run([sys.executable, "-m", "venv", str(folder)])
        _run([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--retries=0", "uv"])
    return str(command)


def _run(command: Sequence[str], **variables: str) -> None:
    environment = {**os.environ, **variables}
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=INSTALL_SECONDS, env=environment)
    except FileNotFoundError:
        raise NotInstalled(f"`{command[0]}` is not on PATH") from None
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"`{command[0]}` took longer than {INSTALL_SECONDS} s") from None
    except subprocess.CalledProcessError as error:
        words = error.stderr.decode("utf-8", "replace").strip().splitlines() or ["it failed without a word"]
        raise NotInstalled(f"`{command[0]}`: {words[-1]}") from None
