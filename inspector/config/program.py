"""What the process of a server will be: its environment, its program, and the files that it runs.

A program is looked for as the platform does it: a command with a slash is a path from the folder of the
process; any other is searched in the process's own PATH, whose relative entries count from that folder, too.

The files are what consent covers and `--watch` follows: the scripts that a command names and every script in
their folders and below. Where it runs a project (`npm start`, `uv run`, `make`), they are the project's own
files and every script in its folder and below.
"""

import hashlib
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import dropwhile
from pathlib import Path
from stat import S_ISREG

from msgspec import Struct
from msgspec.structs import replace

from inspector.config.file import MEGABYTE, is_file, is_folder, open_file
from inspector.core.error import ConfigError, ConnectError
from inspector.core.package_run import SHELLS, WRAPPERS, PackageRun, package_run, program_name
from inspector.core.server import Program, RunFile, ServerSpec, is_registered

_HASHED = 16 * MEGABYTE
_LOOKED_AT = 8_192
_SHARED = 0o022
_ROOT = 0


def run_file(named: str, home: Path) -> RunFile | None:
    """The file of this name as it is now; None if consent does not cover it: see `run_files`."""
    path, home = Path(os.path.realpath(named)), Path(os.path.realpath(home))
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


def run_files(
    sources: Iterable[Path],
    program: Program,
    home: Path,
    read: Callable[[str, Path], RunFile | None] = run_file,
) -> tuple[RunFile, ...]:
    """The program and its sources as they are now; `home` is the folder of the configuration.

    A program of the system, which only its administrator can replace, is left out: upgrades are no one's to
    judge. A script is not. `read` is `run_file`, which servers of one folder may share.
    """
    named = [program.target or program.file, program.interpreter, *map(str, sources)]
    found = (read(each, home) for each in named if os.sep in each)
    return tuple(dict.fromkeys(file for file in found if file is not None))


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


def _read(path: Path) -> RunFile:
    """The file by its content, or a large one by its size and when it was written."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return RunFile(str(path), "")
    is_large = found.st_size > _HASHED
    data = f"{found.st_size} {found.st_mtime_ns}".encode() if is_large else head(path, _HASHED)
    return RunFile(str(path), hashlib.sha256(data).hexdigest())


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


_ENDINGS = ".py .pyw .pyz .sh .bash .zsh .rb .pl .php .lua .jar .ps1 .bat .cmd .wasm .r .jl .go .kts .exs"
_JAVASCRIPT_ENDINGS = ".js .mjs .cjs .jsx .ts .mts .cts .tsx"
_SCRIPTS = frozenset((*_ENDINGS.split(), *_JAVASCRIPT_ENDINGS.split(), ".groovy", ".tcl"))
# What runs its first word that is a file or a folder, whatever that is called.
_INTERPRETERS = SHELLS | {"python", "pypy", "node", "bun", "deno", "ruby", "perl", "php", "lua", "rscript"}
_RUNNERS = frozenset({"npm", "pnpm", "yarn", "make", "gmake", "uv", "poetry", "pdm", "rye", "hatch"})
_PROJECT_FILES = ("package.json", "pyproject.toml", "uv.lock", "GNUmakefile", "makefile", "Makefile")
_FOLDER_OPTIONS = frozenset({"--directory", "--project", "--cwd", "--prefix", "-C"})
_LIBRARIES = frozenset({"node_modules", "site-packages", "venv", "env", "__pycache__"})
_MOST_FILES, _MOST_LOOKED_AT = 1_000, 5_000


class SourceFiles(Struct, frozen=True):
    """The `files` that a command runs, its own script first; `uncovered` is what else it runs, as texts."""

    files: tuple[Path, ...] = ()
    uncovered: tuple[str, ...] = ()


def source_files(spec: ServerSpec) -> SourceFiles:
    """The files of a server; one that is only connected to has none. However much there is, it ends soon."""
    if spec.listing:
        return SourceFiles(() if is_registered(spec) else (Path(spec.listing),))
    if not spec.command:
        return SourceFiles((), ("at an address: Toolsight does not start it",))
    reading = _Reading(spec.env.get("PATH"))
    with suppress(FileNotFoundError):  # The folder that Toolsight was started in may be gone.
        reading.command(spec.argv, Path.cwd() / spec.cwd)
    return SourceFiles(tuple(reading.files), tuple(reading.uncovered))


def unwatched(spec: ServerSpec) -> str:
    """Why `--watch` cannot restart the server, in a sentence; "" if it has files."""
    found = source_files(spec)
    if found.files:
        return ""
    return f"{spec.name} runs {'; '.join(found.uncovered) or 'no file that its command names'}."


def head(path: Path, size: int) -> bytes:
    """The file's first bytes; none of what cannot be read."""
    try:
        with open_file(path, "script") as file:
            return file.read(size)
    except (OSError, ValueError, ConfigError):
        return b""


class _Reading:
    """Collects the files of a command."""

    def __init__(self, search: str | None) -> None:
        """`search` is the PATH of the command."""
        self.files: dict[Path, None] = {}
        self.uncovered: dict[str, None] = {}
        self._search = search

    def command(self, words: Sequence[str], folder: Path) -> None:
        """Take the scripts that a command names, or the project that it runs, and what is around them."""
        own = list(dropwhile(_starts_another, words))
        if not own:
            return
        program, rest = program_name(own[0]).rstrip("0123456789."), own[1:]
        folders = [folder, *(folder / word for before, word in _pairs(rest) if before in _FOLDER_OPTIONS)]
        if program in SHELLS and "-c" in rest[:-1]:
            with suppress(ValueError):
                rest = shlex.split(rest[rest.index("-c") + 1], comments=True)
        if (fetched := package_run(own)) is not None:
            self.uncovered[_version(fetched)] = None
        runs_project = program in _RUNNERS or (program == "bun" and rest[:1] == ["run"])
        if program not in _INTERPRETERS and not runs_project and fetched is None:
            command = folder / (shutil.which(own[0], path=self._search) or own[0])
            if _is_script(command):
                self._take([command], command.parent if os.sep in own[0] else None)
        self._scripts(rest, folders, runs_any=program in _INTERPRETERS and not runs_project)
        if runs_project:
            files = [folders[-1] / name for name in _PROJECT_FILES]
            self._take(files, None if self.files else folders[-1])

    def _scripts(self, words: Sequence[str], folders: Sequence[Path], *, runs_any: bool) -> None:
        """Take the scripts among the words of a command, and the module that `-m` names.

        With `runs_any`, the first word that is a file or a folder is one, whatever it is called.
        """
        for before, word in _pairs(words):
            if before == "-m":
                self._module(word, folders)
                return
            for path in (folder / word for folder in folders):
                if is_file(path) and (runs_any or _is_script(path)):
                    self._take([path], path.parent)
                    runs_any = False
                elif runs_any and word[:1] != "-" and before not in _FOLDER_OPTIONS and is_folder(path):
                    self._take([path / name for name in _PROJECT_FILES], path)
                    runs_any = False

    def _module(self, name: str, folders: Sequence[Path]) -> None:
        """Take a module that Python runs, with the package around it."""
        for root in (*folders, *(folder / "src" for folder in folders)):
            path = root.joinpath(*name.split("."))
            if is_file(path.with_suffix(".py")) or is_file(path / "__main__.py"):
                self._take([path.with_suffix(".py")], root / name.partition(".")[0])
                return
        self.uncovered[f"the Python package {name}, which is not in {folders[0]}"] = None

    def _take(self, paths: Sequence[Path], root: Path | None) -> None:
        """Take those of the paths that are files, and the scripts in a folder and below."""
        around, is_all = _below(root) if root is not None else ([], True)
        if not is_all:
            self.uncovered[f"what is below {root}, which has too many files"] = None
        named = (path for path in paths if is_file(path))
        self.files.update(dict.fromkeys(Path(os.path.normpath(path)) for path in (*named, *around)))


def _below(root: Path) -> tuple[list[Path], bool]:
    """The scripts in a folder and below, or where there is too much in it alone; whether that is all."""
    found: list[Path] = []
    looked_at = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(one for one in folders if one[0] != "." and one not in _LIBRARIES)
        scripts = (Path(folder, name) for name in sorted(names) if Path(name).suffix.lower() in _SCRIPTS)
        found += filter(is_file, scripts)
        looked_at += 1 + len(folders) + len(names)
        if looked_at > _MOST_LOOKED_AT or len(found) > _MOST_FILES:
            return [path for path in found if path.parent == root][:_MOST_FILES], False
    return found, True


def _starts_another(word: str) -> bool:
    """Whether a command goes on behind the word: a variable that is set, or a program that starts others."""
    return bool(re.match(r"\w+=|\d+$", word)) or program_name(word) in WRAPPERS | {"exec"}


def _pairs(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each word, and what stands behind an `=` in it, with the option before it."""
    for before, word in zip(("", *words), words, strict=False):
        yield before, word
        name, _, value = word.partition("=")
        if value:
            yield name, value


def _version(run: PackageRun) -> str:
    """What is fetched, which no file covers."""
    exact = f"{run.name or 'a package'} ({run.kind}), whose version {run.version} your approval names"
    newest = f"{run.name or 'a package'} ({run.kind}): whatever version is newest"
    return exact if run.is_exact else newest


def _is_script(path: Path) -> bool:
    return is_file(path) and (path.suffix.lower() in _SCRIPTS or head(path, 2) == b"#!")
