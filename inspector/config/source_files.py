"""The files that a command runs, as far as they can be told: what consent covers and `--watch` follows.

Those are the scripts that it names and every script in their folders and below. Where it runs a project (`npm
start`, `uv run`, `make`), they are the project's own files and every script in its folder and below.
"""

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path

from inspector.config.file import is_file, is_folder, open_file
from inspector.core.error import ConfigError
from inspector.core.package_run import SHELLS, WRAPPERS, PackageRun, package_run, program_name
from inspector.core.server import ServerSpec, is_registered

_SCRIPTS = frozenset(
    (
        *(".py", ".pyw", ".pyz", ".sh", ".bash", ".zsh", ".rb", ".pl", ".php", ".lua", ".jar", ".ps1"),
        *(".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".wasm", ".r", ".jl", ".go"),
        *(".kts", ".exs", ".groovy", ".tcl", ".bat", ".cmd"),
    )
)
# What runs its first word that is a file or a folder, whatever that is called.
_INTERPRETERS = SHELLS | {"python", "pypy", "node", "bun", "deno", "ruby", "perl", "php", "lua", "rscript"}
_RUNNERS = frozenset({"npm", "pnpm", "yarn", "make", "gmake", "uv", "poetry", "pdm", "rye", "hatch"})
_PROJECT_FILES = ("package.json", "pyproject.toml", "uv.lock", "GNUmakefile", "makefile", "Makefile")
_FOLDER_OPTIONS = frozenset({"--directory", "--project", "--cwd", "--prefix", "-C"})
_LIBRARIES = frozenset({"node_modules", "site-packages", "venv", "env", "__pycache__"})
_MOST_FILES, _MOST_LOOKED_AT = 1_000, 5_000


@dataclass(frozen=True, slots=True)
class SourceFiles:
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
