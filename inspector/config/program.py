"""What the process of a server will be: its environment, its program, and the files that it runs.

A program is looked for as the platform does it: a command with a slash is a path from the folder of the
process; any other is searched in the process's own PATH, whose relative entries count from that folder, too.
What it runs beside that is found in `source_files.py`.
"""

import hashlib
import os
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from stat import S_ISREG

from inspector.config.file import MEGABYTE, is_file
from inspector.config.source_files import head
from inspector.core.error import ConnectError
from inspector.core.server import Program, RunFile, ServerSpec

_HASHED = 16 * MEGABYTE
_COUNTED = 4 * MEGABYTE
_LOOKED_AT = 8_192
_SHARED = 0o022
_ROOT = 0


def run_files(sources: Iterable[Path], program: Program, home: Path) -> tuple[RunFile, ...]:
    """The program and its sources as they are now; `home` is the folder of the configuration.

    A program of the system, which only its administrator can replace, is left out: upgrades are no one's to
    judge. A script is not.
    """
    named = [program.target or program.file, program.interpreter, *map(str, sources)]
    paths = dict.fromkeys(os.path.realpath(each) for each in named if os.sep in each)
    return tuple(file for each in paths if (file := _run_file(Path(each), Path(os.path.realpath(home)))))


def require_unchanged(spec: ServerSpec) -> None:
    """Raises ConnectError if a file is not as it was when consent was checked, and a change of it asks."""
    for file in spec.files:
        if file.asks and _read(Path(file.path)).digest != file.digest:
            raise ConnectError(
                f"`{spec.command}` was not started: {file.path} changed after the configuration was opened",
                hint="Open the configuration again to review and approve the change.",
            )


def under_work(spec: ServerSpec) -> ServerSpec:
    """The server of a person who works on it: a changed file of their own asks nothing, wherever it lies."""
    files = (replace(file, asks=file.asks and not _is_own(Path(file.path))) for file in spec.files)
    return replace(spec, files=tuple(files))


def _is_own(path: Path) -> bool:
    try:
        return path.stat().st_uid == os.geteuid()
    except (OSError, ValueError):
        return False


def _run_file(path: Path, home: Path) -> RunFile | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    if not S_ISREG(found.st_mode):
        return None
    is_closed = found.st_uid == _ROOT and not found.st_mode & _SHARED
    if is_closed and b"\0" in head(path, _LOOKED_AT):
        return None
    return replace(_read(path), asks=not path.is_relative_to(home) or not _is_own(path))


def _read(path: Path) -> RunFile:
    """The file by its content, or a large one by its size and when it was written."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return RunFile(str(path), "")
    is_large = found.st_size > _HASHED
    data = f"{found.st_size} {found.st_mtime_ns}".encode() if is_large else head(path, _HASHED)
    is_script = not is_large and b"\0" not in data[:_LOOKED_AT]
    lines = tuple(map(zlib.crc32, data.splitlines())) if is_script and len(data) <= _COUNTED else ()
    return RunFile(str(path), hashlib.sha256(data).hexdigest(), lines)


INHERITED = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
"""The variables that the MCP SDK hands on to every process."""
# So much of a file's first line does Linux read.
_FIRST_LINE = 256


def child_environment(spec: ServerSpec, environment: Mapping[str, str]) -> dict[str, str]:
    """The few variables that the SDK passes on, or all of them, overridden by the configured ones."""
    names = environment if spec.inherits_environment else INHERITED
    inherited = {name: environment[name] for name in names if name in environment}
    # A value that starts like this is an exported shell function, which the SDK leaves out as a risk.
    kept = {name: value for name, value in inherited.items() if not value.startswith("()")}
    return {**kept, **spec.env}


def program_of(spec: ServerSpec, environment: Mapping[str, str]) -> Program:
    """The files that the command comes down to now; `environment` is Toolsight's own."""
    try:
        folder = Path.cwd() / spec.cwd
    except OSError:
        return Program()
    search = os.get_exec_path(child_environment(spec, environment))
    file = _found(spec.command, search, folder)
    if file is None:
        return Program()
    real = os.path.realpath(file)
    return Program(str(file), real if real != str(file) else "", _interpreter(file, search, folder))


def file_to_start(spec: ServerSpec, environment: Mapping[str, str]) -> str | None:
    """The file that consent was given for; None if the command alone decides.

    Raises ConnectError if the command comes down to another file now, or to one with other content that needs
    consent, and FileNotFoundError if to none.
    """
    if spec.program is None:
        return None
    now = program_of(spec, environment)
    if now != spec.program:
        raise ConnectError(
            f"`{spec.command}` was not started: it now leads to {_spelled(now)}, but led to "
            f"{_spelled(spec.program)} when the configuration was opened",
            hint="Open the configuration again to review and approve the change.",
        )
    if not now.file:
        raise FileNotFoundError(f"no file found for {spec.command}")
    require_unchanged(spec)
    return now.file


def _found(command: str, search: list[str], folder: Path) -> Path | None:
    if os.sep in command:
        return path if is_file(path := folder / command) else None
    files = [path for entry in search if is_file(path := folder / entry / command)]
    runnable = (path for path in files if os.access(path, os.X_OK) and _can_be_interpreted(path, folder))
    # The platform, too, fails with the reason why the first one cannot be started.
    return next(runnable, files[0] if files else None)


def _can_be_interpreted(path: Path, folder: Path) -> bool:
    """Whether what runs a script is there: the platform goes on to the next file of the name otherwise."""
    words = _script_words(path)
    return not words or is_file(folder / words[0])


def _interpreter(path: Path, search: list[str], folder: Path) -> str:
    """What runs a script; for `env NAME` what that finds, or the name if it finds nothing."""
    words = iter(_script_words(path))
    first = next(words, "")
    if Path(first).name != "env":
        return first
    name = next((word for word in words if not word.startswith("-") and "=" not in word), "")
    found = _found(name, search, folder) if name else None
    return str(found) if found is not None else name or first


def _script_words(path: Path) -> list[str]:
    """The words after `#!` in a script's first line; none for any other file."""
    if not is_file(path):
        # To open a pipe would wait for someone to write to it.
        return []
    try:
        with path.open("rb") as file:
            start = file.read(_FIRST_LINE)
    except OSError:
        return []
    if not start.startswith(b"#!"):
        return []
    return os.fsdecode(start[2:].partition(b"\n")[0]).split()


def _spelled(program: Program) -> str:
    if not program.file:
        return "no file"
    parts = [program.file]
    parts += [f"a link to {program.target}"] if program.target else []
    parts += [f"run by {program.interpreter}"] if program.interpreter else []
    return ", ".join(parts)
