"""Loads a person's own predicates from a Python file, executed after consent with Toolsight's permissions.

    def holds_any(facts, *scopes):
        return not facts.scopes.isdisjoint(scopes)

Every public function whose first parameter is named `facts` is a predicate; it returns True or False.
"""

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from traceback import walk_tb
from types import CodeType, ModuleType

from inspector.config import content
from inspector.config.precondition import BUILT_IN
from inspector.core.error import ConfigError
from inspector.core.ports import OwnPredicate

MAX_BYTES = content.MEGABYTE
_FACTS = "facts"
_HINT = "A predicate is a function such as: def is_ready(facts, name): return name in facts.milestones"
_MAX_REASON = 200


def digest(path: Path) -> str:
    """The SHA-256 of the file's bytes, as hex digits. Raises ConfigError."""
    return _digest(_read(path))


def load_predicates(path: Path, expected_digest: str) -> Mapping[str, OwnPredicate]:
    """Execute the file and return its predicates by name.

    What is executed is exactly what was hashed. Raises ConfigError if the file no longer has
    `expected_digest`, the digest that consent was given for, or cannot be read, fails, or has no predicates.
    """
    data = _read(path)
    if _digest(data) != expected_digest:
        raise ConfigError(
            f"{path} has changed since it was approved, so it was not executed",
            hint="Open the configuration again to review and approve the new version.",
        )
    module = _executed(path, data, f"toolsight_predicates_{expected_digest}")
    predicates = dict(_predicates(path, module))
    if not predicates:
        raise ConfigError(f"{path} has no predicates", hint=_HINT)
    return predicates


def _read(path: Path) -> bytes:
    return content.read_bytes(path, "predicate", limit=MAX_BYTES)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _executed(path: Path, data: bytes, name: str) -> ModuleType:
    code = _compiled(path, data)
    module = ModuleType(name)
    module.__file__ = str(path)
    # Data classes, among others, look up their own module.
    sys.modules[name] = module
    try:
        exec(code, module.__dict__)
    # A file may raise anything, even SystemExit; only Ctrl+C comes from the person.
    except BaseException as error:
        sys.modules.pop(name, None)
        if isinstance(error, KeyboardInterrupt):
            raise
        hint = "The file is executed when a session starts; it can import only installed packages."
        raise ConfigError(f"{_place(path, error)}: {_failure(error)}", hint=hint) from error
    return module


def _compiled(path: Path, data: bytes) -> CodeType:
    try:
        return compile(data, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        place = f"{path}:{error.lineno}" if error.lineno else str(path)
        raise ConfigError(f"{place}: {error.msg}", hint="The file must be Python.") from error
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        raise ConfigError(f"{path}: {_failure(error)}", hint="The file must be Python.") from error


def _place(path: Path, error: BaseException) -> str:
    """The file, and the line that was being executed."""
    lines = [line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == str(path)]
    return f"{path}:{lines[-1]}" if lines else str(path)


def _failure(error: BaseException) -> str:
    try:
        message = str(error)
    except Exception:
        message = ""
    return " ".join(f"{type(error).__name__}: {message}"[:_MAX_REASON].split()).removesuffix(":")


def _predicates(path: Path, module: ModuleType) -> Iterator[tuple[str, OwnPredicate]]:
    for name, value in list(vars(module).items()):
        if name in BUILT_IN:
            if value is BUILT_IN[name]:
                continue
            hint = "Give it another name."
            raise ConfigError(f"{_where(path, value)}: {name} is a built-in predicate", hint=hint)
        if name.startswith("_") or not _takes_facts(value):
            continue
        if any(is_later(value) for is_later in _LATER):
            hint = "Define it with def, without await or yield."
            raise ConfigError(f"{_where(path, value)}: {name} is async or a generator", hint=hint)
        yield name, value


_LATER: tuple[Callable[[object], bool], ...] = (
    inspect.iscoroutinefunction,
    inspect.isgeneratorfunction,
    inspect.isasyncgenfunction,
)


def _takes_facts(function: object) -> bool:
    if isinstance(function, type) or not callable(function):
        return False
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return bool(parameters) and parameters[0].name == _FACTS and parameters[0].kind in positional


def _where(path: Path, value: object) -> str:
    code = getattr(inspect.unwrap(value) if callable(value) else value, "__code__", None)
    if isinstance(code, CodeType) and code.co_filename == str(path):
        return f"{path}:{code.co_firstlineno}"
    return str(path)
