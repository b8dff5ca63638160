"""`toolsight doctor`: whether what Toolsight needs works on this machine."""

import os
import platform
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click

from inspector import __version__
from inspector.cli.group import CommandGroup
from inspector.cli.options import Options, as_json as json_option, database as database_option
from inspector.cli.outcome import Exit
from inspector.cli.table import say, say_json, say_table
from inspector.core.breaker import BreakerState
from inspector.core.error import ToolsightError
from inspector.core.number import byte_size, count

_COMMANDS = {
    "models": "doctor.models",
    "orphans": "doctor.models",
    "breakers": "doctor.models",
}
_PACKAGES = ("textual", "mcp", "litellm", "fastembed", "tiktoken")
_MODEL = "openai/gpt-5"


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, whether it works, what was found, and what to do about it."""

    name: str
    works: bool
    found: str
    hint: str = ""


@click.group(cls=CommandGroup, modules=_COMMANDS, invoke_without_command=True)
@database_option
@json_option
@click.pass_context
def doctor(context: click.Context, /, database: Path | None, as_json: bool) -> None:
    """Check that everything works on this machine.

    Checks packages, database, tokenizer, embedding model, prices, terminal and more, without starting
    servers or downloading anything. The exit code is 1 if a check fails.

    \b
    toolsight doctor
    """
    if context.invoked_subcommand is not None:
        return
    checks = examine(Options(database=database))
    if as_json:
        say_json([asdict(check) for check in checks])
    else:
        rows = [("✓" if check.works else "✕", check.name, check.found) for check in checks]
        say_table(("", "what", "found"), rows, whole=frozenset({1}))
        for check in checks:
            if check.hint:
                say(f"{check.name}: {check.hint}")
    if not all(check.works for check in checks):
        sys.exit(Exit.FAILED)


def examine(options: Options) -> Sequence[Check]:
    """Every check, in the order of what depends on what; one that fails hides none of the others."""
    checks: dict[str, Callable[[], Check]] = {
        "program": _program,
        "packages": _packages,
        "database": partial(_database, options),
        "tokenizer": _tokenizer,
        "embedding model": _embedding,
        "prices": _prices,
        "configuration": _configuration,
        "terminal": _terminal,
        "orphans": partial(_orphans, options),
        "breakers": partial(_breakers, options),
    }
    return [_safely(name, check) for name, check in checks.items()]


def _safely(name: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except (ToolsightError, OSError) as error:
        if isinstance(error, ToolsightError):
            return Check(name, works=False, found=error.message, hint=error.hint)
        return Check(name, works=False, found=str(error.strerror or error))


def _program() -> Check:
    system = f"{platform.system()} {platform.machine()}"
    return Check("program", True, f"toolsight {__version__}, Python {platform.python_version()}, {system}")


def _packages() -> Check:
    versions = {name: _version(name) for name in _PACKAGES}
    missing = [name for name, number in versions.items() if not number]
    found = ", ".join(f"{name} {number or 'missing'}" for name, number in versions.items())
    return Check("packages", not missing, found, "Reinstall Toolsight." if missing else "")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _database(options: Options) -> Check:
    from inspector.cli.composition import open_store
    from inspector.cli.location import database_path

    path = database_path(options)
    sessions = len(open_store(options).sessions())
    return Check("database", True, f"{path}, {byte_size(path.stat().st_size)}, {count(sessions, 'session')}")


def _tokenizer() -> Check:
    from inspector.cli.models import counter_for

    counter = counter_for(_MODEL)
    counter.count("ready")
    return Check("tokenizer", True, f"{counter.tokenizer.name} works offline")


def _embedding() -> Check:
    from inspector.cli.composition import make_embedder

    embedder = make_embedder("packaged")
    assert embedder is not None
    (vector,) = embedder.embed(["ready"])
    return Check("embedding model", True, f"{embedder.name}, {len(vector)} dimensions")


def _prices() -> Check:
    from inspector.cli.composition import make_prices

    found = make_prices().prices(_MODEL)
    if found is None:
        return Check("prices", False, f"no price for {_MODEL}", "Reinstall litellm.")
    return Check("prices", True, f"{found.source}, {found.date}")


def _configuration() -> Check:
    from inspector.cli.run import found_in
    from inspector.config.client import client_files, is_there

    here = found_in(Path.cwd())
    files = client_files(Path.home(), Path.cwd(), sys.platform, os.environ)
    there = list(dict.fromkeys(file.client for file in files if is_there(file)))
    own = f"{here.name} in this folder" if here is not None else "none in this folder"
    return Check("configuration", True, f"{own}; on this machine: {', '.join(there) or 'no client has one'}")


def _terminal() -> Check:
    if not sys.stdout.isatty():
        return Check("terminal", True, "none, because output is redirected")
    width, height = shutil.get_terminal_size()
    colours = (
        "true colour" if os.environ.get("COLORTERM") in ("truecolor", "24bit") else "256 colours or fewer"
    )
    kind = os.environ.get("TERM", "unknown")
    is_large = width >= 80 and height >= 24
    hint = "" if is_large else "The app needs at least 80 columns and 24 rows."
    return Check("terminal", is_large, f"{kind}, {width}x{height}, {colours}", hint)


def _orphans(options: Options) -> Check:
    from inspector.cli.composition import open_leftovers

    left = open_leftovers(options).find()
    hint = "`toolsight doctor orphans --end` ends them." if left else ""
    return Check("orphans", not left, count(len(left), "orphaned process", "orphaned processes"), hint)


def _breakers(options: Options) -> Check:
    from inspector.cli.composition import open_breakers

    known = open_breakers(options).every().values()
    shut = sum(breaker.state is not BreakerState.CLOSED for breaker in known)
    hint = "`toolsight doctor breakers` lists them." if shut else ""
    return Check("breakers", not shut, f"{count(len(known), 'circuit breaker')}, {shut} not closed", hint)
