"""The files that a command runs, as far as they can be read: what consent covers and `--watch` follows.

Those are the scripts that it names, what lies beside them, and what they import of a person's own; where it
goes through a shell script, package.json, a Makefile or pyproject.toml, also those and the commands in them.
"""

import json
import os
import re
import shlex
import shutil
import tomllib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import dropwhile, islice
from pathlib import Path
from typing import Any

from inspector.config.file import MEGABYTE, is_file, is_folder, open_file
from inspector.core.error import ConfigError
from inspector.core.package_run import SHELLS, WRAPPERS, PackageRun, package_run, program_name
from inspector.core.server import ServerSpec, is_registered

_PYTHON, _SHELL = frozenset({".py", ".pyw"}), frozenset({".sh", ".bash", ".zsh"})
_JAVASCRIPT = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
_OTHERS = ".pyz .rb .pl .php .lua .jar .ps1 .bat .cmd .wasm .r .jl .go .kts .exs .groovy .tcl"
_SCRIPTS = frozenset(_OTHERS.split()).union(_PYTHON, _SHELL, _JAVASCRIPT)
# What runs its first word that is a file, whatever that is called.
_INTERPRETERS = SHELLS | {"python", "pypy", "node", "bun", "deno"}
_INTERPRETERS |= {"ruby", "perl", "php", "lua", "rscript", "java"}
_LANGUAGES = {"python": "py", "node": "js", **dict.fromkeys(SHELLS, "sh")}
_FOLDER_OPTIONS = frozenset({"--directory", "--project", "--cwd", "--prefix", "-C"})
# Options that take the next word, of what runs a command of a file.
_TAKING = _FOLDER_OPTIONS | {"--with", "--extra", "--group", "--env-file", "--python", "-p", "-f", "-w"}
_MOST_FILES, _MOST_BESIDE, _LONGEST = 1_000, 2_000, 4 * MEGABYTE
# So much is read in all, in bytes; what takes as long as reading some counts as those.
_MOST_WORK, _LOOK, _COMMAND, _SHELL_CHARACTER = 32 * MEGABYTE, 500, 10_000, 20
_FIRST_LINE = 256


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
    reading = _Reading(spec.env)
    with suppress(FileNotFoundError):  # The folder that Toolsight was started in may be gone.
        reading.read(spec.argv, Path.cwd() / spec.cwd)
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
    """Collects files. Commands, and files that lead to others, wait: nothing recurs, however deep it is."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.files: dict[Path, None] = {}
        self.uncovered: dict[str, None] = {}
        self._env = env
        self._commands: set[tuple[tuple[str, ...], Path]] = set()
        self._waiting: deque[Callable[[], None]] = deque()
        self._work = 0

    def read(self, words: Sequence[str], folder: Path) -> None:
        """Take the files of a command, and what they lead to."""
        self._command(words, folder)
        while self._waiting:
            self._waiting.popleft()()

    def _file(self, path: Path, folder: Path, roots: tuple[Path, ...], runner: str) -> None:
        """Take what a file leads to. A shell script may name files from its own folder."""
        language = _language(path) or _LANGUAGES.get(runner, "")
        if language == "sh":
            for place in dict.fromkeys((folder, path.parent)):
                self._shell(_text(path), place)
        elif language:
            found = _imported(path, roots) if language == "py" else _required(path)
            self._add(found, folder, roots)

    def _command(self, words: Sequence[str], folder: Path) -> None:
        """Take a command: its scripts, or the file that says what it runs."""
        own = list(dropwhile(_starts_another, words))
        if not own or (key := (tuple(words), folder)) in self._commands or self._spend(_COMMAND):
            return
        self._commands.add(key)
        program, rest = program_name(own[0]).rstrip("0123456789."), own[1:]
        folders = [folder, *(folder / word for before, word in _pairs(words) if before in _FOLDER_OPTIONS)]
        plain = _plain(rest)
        if program in ("npm", "pnpm", "yarn") or (program == "bun" and plain[:1] == ["run"]):
            self._package_json(folders[-1], plain)
        elif program in ("make", "gmake"):
            self._makefile(folders[-1], [word for before, word in _pairs(rest) if before == "-f"], plain)
        elif (fetched := package_run(own)) is not None:
            self._miss(_version(fetched))
            self._scripts(words[1:], folders)
        elif program in ("uv", "poetry", "pdm", "rye", "hatch") and "run" in rest:
            self._project(folders, rest[rest.index("run") + 1 :])
        elif program in SHELLS and "-c" in rest[:-1]:
            self._shell(rest[rest.index("-c") + 1], folder)
        else:
            command = folder / (shutil.which(words[0], path=self._env.get("PATH")) or words[0])
            if program not in _INTERPRETERS and _is_script(command):
                self._enter(command, folders)
            self._scripts(words[1:], folders, program if program in _INTERPRETERS else "")

    def _scripts(self, words: Sequence[str], folders: Sequence[Path], runner: str = "") -> None:
        """Take the scripts among the words of a command, and the module that `-m` names.

        A `runner` runs the first that is a file, whatever that is called.
        """
        for before, word in _pairs(words):
            for folder in () if self._spend(_LOOK) else folders:
                path = folder / word
                if before == "-m":
                    self._module(word, folders)
                    break
                if runner and is_file(main := path / "package.json"):
                    self._add([main], folder)
                    path /= str(_table(json.loads, _text(main)).get("main", "index.js"))
                elif runner and is_file(main := path / "__main__.py"):
                    path = main
                if is_file(path) and (runner or _is_script(path)):
                    self._enter(path, folders, runner)
                    runner = ""

    def _module(self, name: str, folders: Sequence[Path]) -> None:
        """Take a module that Python runs, with the packages around it."""
        roots = self._roots(folders)
        parts = name.split(".")
        for root in roots:
            named = (root.joinpath(*parts).with_suffix(".py"), root.joinpath(*parts, "__main__.py"))
            if main := next(filter(is_file, named), None):
                self._enter(main, folders)
                self._add(_of_module(root, name), folders[0], roots)
                return
        self._miss(f"the Python package {name}, which is not in {folders[0]}")

    def _roots(self, folders: Sequence[Path]) -> tuple[Path, ...]:
        """Where Python looks for what is not installed."""
        given = filter(None, self._env.get("PYTHONPATH", "").split(os.pathsep))
        return (*folders, *(folder / "src" for folder in folders), *(folders[0] / one for one in given))

    def _enter(self, path: Path, folders: Sequence[Path], runner: str = "") -> None:
        """Take a script that a command names, and those beside it, which it may load by any name."""
        roots, beside = (path.parent, *self._roots(folders)), list[Path]()
        if path.suffix in _SCRIPTS - _SHELL:
            with suppress(OSError), os.scandir(path.parent) as entries:
                names = [entry.name for entry in islice(entries, _MOST_BESIDE + 1)]
            if len(names) > _MOST_BESIDE:
                self._miss(f"what else is in {path.parent}, which has more than {_MOST_BESIDE:,} files")
            else:
                beside = [path.parent / name for name in sorted(names) if name.endswith(path.suffix)]
        self._add([path], folders[0], roots, runner)
        self._add(beside, folders[0], roots)

    def _add(
        self, paths: Iterable[Path], folder: Path, roots: tuple[Path, ...] = (), runner: str = ""
    ) -> None:
        """Take those of the paths that are files and are not known yet."""
        for path in map(Path, map(os.path.normpath, paths)):
            if self._spend(_LOOK):
                break
            if path in self.files or not is_file(path):
                continue
            size = 0
            with suppress(OSError):
                size = path.stat().st_size
            if len(self.files) >= _MOST_FILES:
                self._miss(f"more than {_MOST_FILES:,} files")
            if len(self.files) >= _MOST_FILES or (self._spend(size) and self.files):
                break
            self.files[path] = None
            self._waiting.append(partial(self._file, path, folder, roots, runner))

    def _spend(self, work: int) -> bool:
        """Count what was read or looked for; return whether it is too much."""
        self._work += work
        if self._work > _MOST_WORK:
            self._miss("more than can be read in a few seconds")
        return self._work > _MOST_WORK

    def _miss(self, what: str) -> None:
        self.uncovered[what] = None

    def _shell(self, text: str, folder: Path) -> None:
        """Take the commands of a shell script; a path that begins with a variable may be one beside it."""
        if self._spend(len(text) * _SHELL_CHARACTER):
            return
        text = _VARIABLE.sub("x", _BEFORE_PATH.sub(r"\1", text.replace("\\\n", " ")))
        for words in (words for line in text.splitlines() for words in _commands(line)):
            if words[0] == "cd" and is_folder(folder / words[-1]):
                folder /= words[-1]
            words = ["sh", *words[1:]] if words[0] in ("source", ".") else words
            self._waiting.append(partial(self._command, words, folder))

    def _package_json(self, folder: Path, plain: Sequence[str]) -> None:
        path = folder / "package.json"
        self._add([path], folder)
        scripts = _table(json.loads, _text(path), "scripts")
        name = next((word for word in plain if word not in ("run", "run-script")), "start")
        for one in (f"pre{name}", name, f"post{name}"):
            self._shell(str(scripts.get(one, "node server.js" if one == "start" else "")), folder)
        if name not in scripts:
            self._miss(f"the script {name}, which is not in {path}")

    def _project(self, folders: Sequence[Path], words: Sequence[str]) -> None:
        """Take what `uv run` and its like start: a script that pyproject.toml declares, or any command."""
        path, plain = folders[-1] / "pyproject.toml", _plain(words)
        self._add([path, path.with_name("uv.lock")], folders[-1])
        scripts = _table(tomllib.loads, _text(path, MEGABYTE), "project", "scripts")
        if plain and plain[0] in scripts:
            self._module(str(scripts[plain[0]]).partition(":")[0], folders)
        else:
            self._scripts(words, folders, "python")

    def _makefile(self, folder: Path, named: Sequence[str], targets: Sequence[str]) -> None:
        paths = [folder / name for name in named or ("GNUmakefile", "makefile", "Makefile")]
        path = next(filter(is_file, paths), paths[-1])
        self._add([path], folder)
        for recipe in _recipes(_text(path).replace("\\\n", " "), targets):
            self._shell(recipe, folder)


_VARIABLE = re.compile(r"\$\(\w+\)|\$\{\w+\}")
_BEFORE_PATH = re.compile(r"(?:\$\([^()]*\)|\$\{[^{}]*\}|\$\w+)(\"?)/")
_RULE = re.compile(r"^([^\s#:=][^:=#\n]*)::?(?!=)([^=\n#;]*)[^\n]*\n?((?:\t[^\n]*\n?)*)", re.MULTILINE)


def _recipes(text: str, targets: Sequence[str]) -> Iterator[str]:
    """The recipes of a Makefile that the targets lead to, or its first target."""
    rules = {name: (needs, recipe) for names, needs, recipe in _RULE.findall(text) for name in names.split()}
    waiting = deque(targets or [name for name in rules if not name.startswith(".")][:1])
    while waiting:
        needs, recipe = rules.pop(waiting.popleft(), ("", ""))
        waiting.extend(needs.split())
        yield "\n".join(line.lstrip("\t @-+") for line in recipe.splitlines())


def _commands(line: str) -> Iterator[list[str]]:
    """The commands of a line of shell, as their words."""
    words: list[str] = []
    with suppress(ValueError):
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        for token in (*lexer, ";"):
            if token.strip(";&|()<>"):
                words.append(token)
            elif words:
                yield words
                words = []


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


def _plain(words: Sequence[str]) -> list[str]:
    """The words that are neither options nor their values."""
    pairs = zip(("", *words), words, strict=False)
    return [word for before, word in pairs if before not in _TAKING and word[:1] != "-" and "=" not in word]


def _version(run: PackageRun) -> str:
    """What is fetched, which no file covers."""
    exact = f"{run.name or 'a package'} ({run.kind}), whose version {run.version} your approval names"
    newest = f"{run.name or 'a package'} ({run.kind}): whatever version is newest"
    return exact if run.is_exact else newest


def _table(parse: Callable[[str], Any], text: str, *keys: str) -> dict[str, Any]:
    """The table there in a file of JSON or TOML; an empty one without it."""
    value: Any = None
    with suppress(ValueError, RecursionError):
        value = parse(text)
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _is_script(path: Path) -> bool:
    return path.suffix.lower() in _SCRIPTS or head(path, 2) == b"#!"


def _text(path: Path, limit: int = _LONGEST) -> str:
    return head(path, limit).decode("utf-8", "replace")


def _language(path: Path) -> str:
    """Which of the languages that are read a file is in: "py", "js", "sh", or ""."""
    suffix = path.suffix.lower()
    first = b"" if suffix in _SCRIPTS else head(path, _FIRST_LINE).partition(b"\n")[0]
    runs = set(re.findall(r"[a-z]+", first.decode("ascii", "replace"))) if first[:2] == b"#!" else set[str]()
    if suffix in _PYTHON or "python" in runs:
        return "py"
    if suffix in _JAVASCRIPT or runs & {"node", "bun", "deno"}:
        return "js"
    return "sh" if suffix in _SHELL or runs & SHELLS else ""


# Also within functions, and in texts that only look like it: no more than what is a file counts.
_IMPORT = re.compile(
    r"(?:^|;)[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]{0,10000}\)|[^\n#;]+)"
    r"|import[ \t]+([^\n#;]+))"
    r"|(?:import_module|__import__)\([ \t\n]*[\"']([\w.]+)[\"']",
    re.MULTILINE,
)
_NAME = re.compile(r"([\w.]+)(?:[ \t]+as[ \t]+\w+)?")
_RELATIVE = re.compile(r"[\"'`](\.{1,2}/[^\"'`\n]{1,300}|\.{1,2})[\"'`]")


def _imported(path: Path, roots: Sequence[Path]) -> Iterator[Path]:
    """Where the modules may be that a Python file imports."""
    for base, names, modules, called in _IMPORT.findall(_text(path)):
        level = len(base) - len(base.lstrip("."))
        places = [path.parents[min(level, len(path.parents)) - 1]] if level else roots
        for name in _NAME.findall(names or modules or called):
            for root in places:
                yield from _of_module(root, f"{base}.{name}")


def _of_module(root: Path, name: str) -> Iterator[Path]:
    """The files of a module, and of the packages around it."""
    for part in filter(None, name.split(".")):
        yield from (root / f"{part}.py", root / part / "__init__.py")
        root /= part


def _required(path: Path) -> Iterator[Path]:
    """Where the files may be that JavaScript or TypeScript names by a path from its own."""
    for name in dict.fromkeys(_RELATIVE.findall(_text(path))):
        target = path.parent / name
        yield target if target.suffix in (*_JAVASCRIPT, ".json", ".node") else target / "index.js"
        # The file that is compiled may be named as what comes of it, and without a suffix.
        bare = target.with_suffix("") if target.suffix in _JAVASCRIPT else target
        yield from (bare.with_name(bare.name + suffix) for suffix in _JAVASCRIPT)
        yield from (bare / f"index{suffix}" for suffix in _JAVASCRIPT)
