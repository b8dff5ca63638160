"""Preconditions of tools: small predicates over the state of a session (Tool Attention, section 5.4).

A predicate is written as one Python call with literal arguments, such as
`is_authenticated(scope="github:write")`, and is parsed, never evaluated as Python. Predicates check the
session's state and no text from anyone, so no wording of a request can get around them.
"""

import ast
import hashlib
import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from traceback import walk_tb
from types import ModuleType

from msgspec import Struct, field

from inspector.config.file import MEGABYTE, read_bytes
from inspector.core.error import ConfigError
from inspector.core.ports import OwnPredicate
from inspector.core.text import one_line, shortened

MAX_LENGTH = 500
_CALL_HINT = "Write one call, such as milestone_reached('plan_confirmed'), optionally preceded by `not`."
_ARGUMENT_HINT = "Arguments may be strings, numbers, True, False, None, and lists of these."


class Predicate(Struct, frozen=True):
    """One call: `args` and `kwargs` hold literals; `text` is the source."""

    name: str
    args: tuple[object, ...] = ()
    kwargs: Mapping[str, object] = field(default_factory=dict)
    text: str = ""
    negated: bool = False

    def __hash__(self) -> int:
        return hash(self.text)


class Facts(Struct, frozen=True):
    """What predicates can check: scopes the session holds, tools that returned output, milestones."""

    scopes: frozenset[str] = frozenset()
    outputs: frozenset[str] = frozenset()
    milestones: frozenset[str] = frozenset()


def is_authenticated(facts: Facts, scope: str) -> bool:
    """Whether the session holds the scope; a held scope ending in `*` covers all scopes with its prefix."""
    return scope in facts.scopes or any(
        held.endswith("*") and scope.startswith(held[:-1]) for held in facts.scopes
    )


def has_prior_tool_output(facts: Facts, prefix: str) -> bool:
    """Whether a tool whose id or plain name starts with `prefix` returned output."""
    return any(
        tool_id.startswith(prefix) or tool_id.partition(":")[2].startswith(prefix)
        for tool_id in facts.outputs
    )


def milestone_reached(facts: Facts, name: str) -> bool:
    """Whether the session has reached the milestone."""
    return name in facts.milestones


BUILT_IN: Mapping[str, Callable[..., bool]] = {
    "is_authenticated": is_authenticated,
    "has_prior_tool_output": has_prior_tool_output,
    "milestone_reached": milestone_reached,
}


def parse_predicate(text: str) -> Predicate:
    """Parse a predicate. Raises ConfigError, and nothing else, if the text is not one."""
    stripped = text.strip()
    if len(stripped) > MAX_LENGTH:
        raise _unreadable(stripped, f"is longer than {MAX_LENGTH} characters")
    if not stripped:
        raise _unreadable(stripped, "is empty")
    if len(stripped.splitlines()) > 1:
        raise _unreadable(stripped, "spans more than one line")
    try:
        return _predicate(stripped, _parsed(stripped))
    except SyntaxError as error:
        raise _unreadable(stripped, f"is not a call: {error.msg}") from error
    except (RecursionError, MemoryError) as error:
        raise _unreadable(stripped, "is nested too deeply") from error
    except ValueError as error:
        raise _unreadable(stripped, "contains characters that are not allowed") from error


def _parsed(text: str) -> ast.expr:
    with warnings.catch_warnings():
        # Python's warning about an odd escape in a string would print over the screen.
        warnings.simplefilter("ignore")
        return ast.parse(text, mode="eval").body


def _predicate(text: str, tree: ast.expr) -> Predicate:
    negated = isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not)
    call = tree.operand if isinstance(tree, ast.UnaryOp) and negated else tree
    if not isinstance(call, ast.Call):
        raise _unreadable(text, "is not a call")
    if not isinstance(call.func, ast.Name):
        raise _unreadable(text, "calls something other than a plain name")
    args = tuple(_literal(text, node) for node in call.args)
    return Predicate(call.func.id, args, _keywords(text, call.keywords), text, negated)


def _keywords(text: str, keywords: Sequence[ast.keyword]) -> Mapping[str, object]:
    literals: dict[str, object] = {}
    for keyword in keywords:
        if keyword.arg is None or keyword.arg in literals:
            raise _unreadable(text, "unpacks or repeats an argument", _ARGUMENT_HINT)
        literals[keyword.arg] = _literal(text, keyword.value)
    return literals


def _literal(text: str, node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError) as error:
        raise _unreadable(text, "has an argument that is not a literal", _ARGUMENT_HINT) from error


def _unreadable(text: str, problem: str, hint: str = _CALL_HINT) -> ConfigError:
    return ConfigError(f"the predicate {text[:80]!r} {problem}", hint=hint)


def milestones_in(texts: Iterable[str]) -> tuple[str, ...]:
    """The milestones that predicates require; unreadable texts are ignored."""
    names: list[str] = []
    for text in texts:
        try:
            predicate = parse_predicate(text)
        except ConfigError:
            continue
        if predicate.name == "milestone_reached":
            names += [str(value) for value in (*predicate.args, *dict(predicate.kwargs).values())]
    return tuple(dict.fromkeys(names))


# Every public function of a file whose first parameter is named `facts` is a predicate, such as
# `def holds_any(facts, *scopes)`; it returns True or False.
MAX_BYTES = MEGABYTE
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
    predicates = {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and value is not BUILT_IN.get(name) and _takes_facts(value)
    }
    if twice := BUILT_IN.keys() & predicates:
        raise ConfigError(f"{path}: {min(twice)} is a built-in predicate", hint="Give it another name.")
    if not predicates:
        raise ConfigError(f"{path} has no predicates", hint=_HINT)
    return predicates


def _read(path: Path) -> bytes:
    return read_bytes(path, "predicate", limit=MAX_BYTES)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _executed(path: Path, data: bytes, name: str) -> ModuleType:
    module = ModuleType(name)
    module.__file__ = str(path)
    # Data classes, among others, look up their own module.
    sys.modules[name] = module
    try:
        exec(compile(data, str(path), "exec", dont_inherit=True), module.__dict__)
    # A file may raise anything, even SystemExit; only Ctrl+C comes from the person.
    except BaseException as error:
        sys.modules.pop(name, None)
        if isinstance(error, KeyboardInterrupt):
            raise
        lines = [
            line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == str(path)
        ]
        place = f"{path}:{lines[-1]}" if lines else str(path)
        reason = shortened(one_line(f"{type(error).__name__}: {error}"), _MAX_REASON)
        raise ConfigError(f"{place}: {reason}", hint="It is executed when a session starts.") from error
    return module


def _takes_facts(value: object) -> bool:
    if not callable(value) or not inspect.isfunction(function := inspect.unwrap(value)):
        return False
    return next(iter(inspect.signature(function).parameters), "") == _FACTS
