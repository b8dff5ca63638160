"""The files that a server's command runs, by content: its own, its interpreter, and scripts among its words.

What those import is not covered: a command does not tell.
"""

import hashlib
import os
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from stat import S_ISREG

from inspector.config.content import MEGABYTE, is_file, open_file
from inspector.core.error import ConfigError, ConnectError
from inspector.core.package_run import program_name
from inspector.core.server import Program, RunFile, ServerSpec

_SCRIPTS = (
    ".py .pyw .pyz .js .mjs .cjs .jsx .ts .mts .cts .tsx .sh .bash .zsh .rb .pl .php .lua .jar .ps1 .bat "
    ".cmd .wasm .r .jl .go .kts .exs .groovy .tcl"
)
# What runs its first word that is a file, whatever that is called.
_INTERPRETERS = (
    *("python", "pypy", "node", "bun", "deno", "ruby", "perl", "php", "lua", "rscript", "java"),
    *("bash", "sh", "zsh", "dash", "ksh", "fish"),
)
_FOLDER_OPTIONS = frozenset({"--directory", "--project", "--cwd", "--prefix", "-C"})
_HASHED = 16 * MEGABYTE
_COUNTED = 4 * MEGABYTE
_LOOKED_AT = 8_192
_SHARED = 0o022
_ROOT = 0


def run_files(spec: ServerSpec, program: Program, home: Path) -> tuple[RunFile, ...]:
    """The files that the command runs now; `home` is the folder of the configuration.

    A program of the system, which only its administrator can replace, is left out: upgrades are no one's to
    judge. A script is not.
    """
    named = [program.target or program.file, program.interpreter, *map(str, _scripts(spec))]
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


def _scripts(spec: ServerSpec) -> Iterator[Path]:
    """The scripts among the words of a command, and the module that `-m` names."""
    folders = [Path.cwd() / spec.cwd]
    runs_first = program_name(spec.command).rstrip("0123456789.") in _INTERPRETERS
    words = [part for word in spec.args for part in dict.fromkeys((word, word.partition("=")[2])) if part]
    for before, word in zip(("", *words), words, strict=False):
        if before.partition("=")[0] in _FOLDER_OPTIONS:
            folders.append(folders[0] / word)
        for folder in folders:
            if before == "-m":
                module = folder.joinpath(*word.split("."))
                yield from filter(is_file, (module.with_suffix(".py"), module / "__main__.py"))
            elif is_file(path := folder / word):
                if runs_first or path.suffix.lower() in _SCRIPTS.split() or _head(path, 2) == b"#!":
                    yield path
                runs_first = False


def _run_file(path: Path, home: Path) -> RunFile | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    if not S_ISREG(found.st_mode):
        return None
    is_closed = found.st_uid == _ROOT and not found.st_mode & _SHARED
    if is_closed and b"\0" in _head(path, _LOOKED_AT):
        return None
    return replace(_read(path), asks=not path.is_relative_to(home) or not _is_own(path))


def _head(path: Path, size: int) -> bytes:
    """The file's first bytes; none of what cannot be read."""
    try:
        with open_file(path, "script") as file:
            return file.read(size)
    except (OSError, ValueError, ConfigError):
        return b""


def _read(path: Path) -> RunFile:
    """The file by its content, or a large one by its size and when it was written."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return RunFile(str(path), "")
    is_large = found.st_size > _HASHED
    data = f"{found.st_size} {found.st_mtime_ns}".encode() if is_large else _head(path, _HASHED)
    is_script = not is_large and b"\0" not in data[:_LOOKED_AT]
    lines = tuple(map(zlib.crc32, data.splitlines())) if is_script and len(data) <= _COUNTED else ()
    return RunFile(str(path), hashlib.sha256(data).hexdigest(), lines)
