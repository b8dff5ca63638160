"""What a command line comes down to: the package that a runtime fetches and runs, or code of its own.

A catalog can say of a command what it likes. What is shown and marked is read from the words themselves.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

from msgspec import Struct

from inspector.core.text import expression

SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ash", "fish", "ksh"})
_SHELLS = SHELLS | {"cmd", "powershell", "pwsh"}
# Programs that only start another one.
WRAPPERS = frozenset({"env", "sudo", "doas", "nohup", "nice", "timeout", "setsid", "stdbuf", "xargs"})
_WRAPPERS = WRAPPERS | {"busybox", "time", "script"}
_PROGRAM = expression(r"\.(?:exe|cmd|bat|ps1)$")
_VERSIONED = expression(r"[\d.]+$")
# Programs that run code given by an option of theirs, or load a file that an option names.
_INTERPRETERS = frozenset({"python", "pypy", "node", "nodejs", "bun", "deno", "perl", "ruby", "php", "lua"})
_INLINE = expression(r"-[A-Za-z]*[ceEprRB].*|--(?:eval|print|require|import|loader)(?:=.*)?|eval")
_MODULE = expression(r"-[A-Za-z]*m")
# Options of those programs that take the next word.
_TAKING = frozenset({"-W", "-X", "-C", "--conditions", "-I", "-d"})


FETCHING: Final = 120.0
"""Seconds that a start may take in which a package may be fetched, with all that it depends on."""


class PackageKind(StrEnum):
    """How a plugin is installed: by which program, or by an address alone."""

    NPM = "npm"
    PYPI = "pypi"
    OCI = "oci"
    MODULE = "module"
    REMOTE = "remote"


class PackageRun(Struct, frozen=True):
    """A package that a runtime fetches and runs; `name` is "" if the words do not tell which.

    `options` are the words for the runtime itself, without those that every package is run with.
    """

    kind: PackageKind
    name: str
    version: str
    options: tuple[str, ...]

    @property
    def label(self) -> str:
        """Its kind, name and version; "" without a name."""
        return " ".join(filter(None, (self.kind, self.name, self.version))) if self.name else ""

    def is_in(self, argv: Sequence[str], *, but: Callable[[str], bool]) -> bool:
        """Whether another command runs the package, with its options `but` for those of any value.

        Of a command that is not known any word may name it: `cmd /c npx …`.
        """
        other = package_run(argv)
        if other is None:
            return any(_name_and_version(self.kind, word)[0] == self.name for word in argv[1:])
        wanted = {word for word in self.options if not but(word)}
        return (other.kind, other.name) == (self.kind, self.name) and wanted <= set(other.options)

    @property
    def is_exact(self) -> bool:
        """Whether the version is a single one, which a registry does not replace by a newer one."""
        return bool(_EXACT[self.kind].fullmatch(self.version))


class _Runtime(Struct, frozen=True):
    """`flags` take no value, `usual` are not worth a word, `choosing` name the package in place of a word."""

    kind: PackageKind
    flags: frozenset[str]
    usual: frozenset[str]
    choosing: frozenset[str] = frozenset()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DOCKER = _Runtime(
    PackageKind.OCI,
    _words(
        "-i --interactive -t --tty -d --detach -P --publish-all -q --quiet --rm --init "
        "--privileged --read-only --no-healthcheck --oom-kill-disable"
    ),
    frozenset({"-i", "--interactive", "--rm"}),
)
_RUNTIMES = {
    "npx": _Runtime(
        PackageKind.NPM,
        _words(
            "-y --yes --no -q --quiet -s --silent -d -dd -ddd --verbose --offline "
            "--prefer-offline --prefer-online --no-install --ignore-existing --ignore-scripts "
            "-ws --workspaces"
        ),
        frozenset({"-y", "--yes"}),
        frozenset({"-p", "--package"}),
    ),
    "uvx": _Runtime(
        PackageKind.PYPI,
        _words(
            "-q --quiet -v --verbose --offline --isolated -n --no-cache --refresh --reinstall "
            "-U --upgrade --no-index --no-config --native-tls --no-progress --no-build "
            "--no-env-file --lfs"
        ),
        frozenset(),
        frozenset({"--from"}),
    ),
    "docker": _DOCKER,
    "podman": _DOCKER,
}
_PASSED = frozenset({"-e", "--env"})
_EXACT: Mapping[PackageKind, re.Pattern[str]] = {
    PackageKind.NPM: expression(r"v?\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?"),
    PackageKind.PYPI: expression(r"\d[0-9A-Za-z.!+_-]*"),
    PackageKind.OCI: expression(r"(?!latest$).+"),
}
_PYTHON_PACKAGE = expression(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?(?:(?:===?|@)(.*))?")


def package_run(argv: Sequence[str]) -> PackageRun | None:
    """Which package the words of a command run; None for a command that fetches none."""
    runtime = _RUNTIMES.get(program_name(argv[0])) if argv else None
    if runtime is None:
        return None
    words = list(argv[1:])
    if runtime.kind is PackageKind.OCI:
        if words[:1] != ["run"]:
            return PackageRun(runtime.kind, "", "", tuple(words))
        del words[0]
    options, rest = _options(words, runtime.flags)
    chosen = [_value(one) for one in options if one[0].partition("=")[0] in runtime.choosing] or rest[:1]
    name, version = _name_and_version(runtime.kind, chosen[0]) if len(chosen) == 1 else ("", "")
    told = tuple(word for one in options if not _is_usual(one, runtime) for word in one)
    return PackageRun(runtime.kind, name, version, told)


# What many a package, file or folder is called.
_COMMON = _words("index main cli __main__ mcp mcp-server src lib bin dist build out scripts")
_COMMON_PACKAGES = _COMMON | _words("server start run")
_SUFFIX = expression(r"(?<=[^/@])[@:][^/]*$")
_INSTALLED = expression(r".*[/\\](?:node_modules|site-packages)[/\\]((?:@[^/\\]+[/\\])?[^/\\]+).*")
_SCRIPT = expression(r"\.(?:[cm]?[jt]s|py|rb)$")


def own_name(argv: Sequence[str]) -> str:
    """What distinguishes a command from others: its package, module or script, or else its program."""
    run = package_run(argv)
    if run is not None and run.name:
        return _distinct(run.name)
    words = list(argv)
    if "-m" in words[:-1] and not any(map(_SCRIPT.search, words[: words.index("-m")])):
        return _distinct(words[words.index("-m") + 1].replace(".", "/"))
    if installed := next(filter(None, map(_INSTALLED.fullmatch, words)), None):
        return _distinct(installed[1])
    if script := next(filter(_SCRIPT.search, words), ""):
        return _distinct(_SCRIPT.sub("", str(Path(script).absolute())), _COMMON)
    others = [word for word in words[1:] if not word.startswith("-")]
    named = next((word for word in others if "/" in word or "-" in word), words[0])
    return _distinct(_SUFFIX.sub("", named))


def _distinct(path: str, common: frozenset[str] = _COMMON_PACKAGES) -> str:
    """The last piece of a path that is not called as many others are."""
    pieces = [piece.lstrip("@") for piece in re.split(r"[/\\]", path) if piece]
    own = (piece for piece in reversed(pieces) if piece.lower() not in common)
    return next(own, pieces[-1] if pieces else path)


def runs_anything(argv: Sequence[str]) -> str:
    """Why the words may run anything, in a sentence; "" if they name a program and no more."""
    program = program_name(argv[0]) if argv else ""
    if program in _SHELLS:
        return "starts a shell, which may run anything"
    if program in _WRAPPERS:
        return f"{program} starts another program, which may run anything"
    words = iter(argv[1:])
    for word in words if _VERSIONED.sub("", program) in _INTERPRETERS else ():
        if _MODULE.fullmatch(word):
            break
        if _INLINE.fullmatch(word):
            return "runs code from the command line"
        if not word.startswith("-"):
            break
        if word in _TAKING:
            next(words, None)
    return ""


def program_name(command: str) -> str:
    """A program's own name, whatever its folder and however its system ends it."""
    return _PROGRAM.sub("", re.split(r"[/\\]", command)[-1].lower())


def _options(words: Sequence[str], flags: frozenset[str]) -> tuple[list[tuple[str, ...]], list[str]]:
    """The options at the start, each with its value, and the words behind them."""
    options: list[tuple[str, ...]] = []
    place = 0
    while place < len(words) and words[place].startswith("-"):
        word = words[place]
        place += 1
        if word == "--":
            break
        end = place + 1 if _takes_next(word, flags) else place
        options.append((word, *words[place:end]))
        place = end
    return options, list(words[place:])


def _takes_next(word: str, flags: frozenset[str]) -> bool:
    if word in flags or "=" in word:
        return False
    if word.startswith("--"):
        return True
    # Letters stand together: the first that takes a value has the rest of the word, or the next word.
    taking = next((at for at, letter in enumerate(word[1:], 1) if f"-{letter}" not in flags), len(word))
    return taking == len(word) - 1


def _value(option: tuple[str, ...]) -> str:
    return option[1] if len(option) > 1 else option[0].partition("=")[2]


def _is_usual(option: tuple[str, ...], runtime: _Runtime) -> bool:
    passes_on = runtime is _DOCKER and option[0] in _PASSED and len(option) > 1 and "=" not in option[1]
    return passes_on or (len(option) == 1 and option[0] in runtime.usual)


def _name_and_version(kind: PackageKind, word: str) -> tuple[str, str]:
    if kind is PackageKind.NPM:
        # A scope begins with an @ of its own.
        name, _, version = word[1:].partition("@")
        return word[:1] + name, version
    if kind is PackageKind.PYPI:
        found = _PYTHON_PACKAGE.fullmatch(word)
        return (found[1], found[2] or "") if found is not None else (word, "")
    name, at, digest = word.partition("@")
    path, colon, tag = name.rpartition(":")
    if not colon or "/" in tag:
        path, tag = name, ""
    return path, digest if at else tag
