"""Decides which tools are closed because their preconditions do not hold (Tool Attention, section 5.4)."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache

from inspector.config.precondition import BUILT_IN, MAX_LENGTH, Facts, Predicate, parse_predicate
from inspector.core.closest import closest
from inspector.core.error import ConfigError
from inspector.core.live import LiveSettings
from inspector.core.ports import OwnPredicate

Table = Mapping[str, tuple[str, ...]]

_MAX_REASON = 120
_parsed = lru_cache(maxsize=1024)(parse_predicate)


@dataclass(frozen=True, slots=True)
class _Rule:
    """A pattern for tool ids and the predicates it requires."""

    matches: Callable[[str], object]
    texts: tuple[str, ...]


class Preconditions:
    """Evaluates the settings' predicates, each once per check; a failing predicate counts as not holding."""

    def __init__(self, live: LiveSettings, own: Mapping[str, OwnPredicate]) -> None:
        self._live = live
        self._predicates: Mapping[str, OwnPredicate] = {**own, **BUILT_IN}
        self._read: tuple[tuple[str, tuple[str, ...]], ...] = ()
        self._rules: tuple[_Rule, ...] = ()

    def unmet(self, tool_id: str, facts: Facts) -> tuple[str, ...]:
        """The texts of the predicates that keep this tool closed, including errors; () if it is open."""
        return self.closed((tool_id,), facts).get(tool_id, ())

    def closed(self, tool_ids: Iterable[str], facts: Facts) -> Mapping[str, tuple[str, ...]]:
        """The closed tools among these, each with the predicates that keep it closed."""
        rules = self._current_rules()
        if not rules:
            return {}
        unique = dict.fromkeys(text for rule in rules for text in rule.texts)
        reasons = {text: reason for text in unique if (reason := self._reason(text, facts))}
        barred = [
            (rule.matches, tuple(reasons[text] for text in rule.texts if text in reasons)) for rule in rules
        ]
        barred = [(matches, texts) for matches, texts in barred if texts]
        if not barred:
            return {}
        by_tool = {
            tool_id: dict.fromkeys(text for matches, texts in barred if matches(tool_id) for text in texts)
            for tool_id in tool_ids
        }
        return {tool_id: tuple(texts) for tool_id, texts in by_tool.items() if texts}

    def check(self) -> None:
        """Raise ConfigError for a predicate that is unreadable, unknown, or has the wrong arguments."""
        for pattern, texts in self._live.settings.access.preconditions.items():
            for text in texts:
                try:
                    self._check(parse_predicate(text))
                except ConfigError as error:
                    place = f"access.preconditions {pattern[:80]!r}"
                    raise ConfigError(f"{place}: {error.message}", hint=error.hint) from error

    def _check(self, predicate: Predicate) -> None:
        function = self._function(predicate)
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            return
        hint = f"Its signature is {predicate.name}({', '.join(list(signature.parameters)[1:])})."
        try:
            signature.bind(Facts(), *predicate.args, **predicate.kwargs)
        except TypeError as error:
            raise ConfigError(
                f"{predicate.text!r:.80} has the wrong arguments: {error}", hint=hint
            ) from error
        given = (*predicate.args, *predicate.kwargs.values())
        if predicate.name in BUILT_IN and not all(isinstance(value, str) for value in given):
            raise ConfigError(f"{predicate.text!r:.80} needs a string", hint=hint)

    def _function(self, predicate: Predicate) -> OwnPredicate:
        if predicate.name in self._predicates:
            return self._predicates[predicate.name]
        near = closest(predicate.name, self._predicates, limit=1)
        known = f"Did you mean `{near[0]}`?" if near else f"Known: {', '.join(self._predicates)}."
        raise ConfigError(f"there is no predicate {predicate.name!r:.80}", hint=known)

    def _current_rules(self) -> tuple[_Rule, ...]:
        read = tuple(self._live.settings.access.preconditions.items())
        if read != self._read:
            self._rules = tuple(_Rule(re.compile(translate(p)).match, texts) for p, texts in read if texts)
            self._read = read
        return self._rules

    def _reason(self, text: str, facts: Facts) -> str:
        """Why the predicate does not hold: its text, with the error if it failed; "" if it holds."""
        try:
            predicate = _parsed(text)
            holds = self._function(predicate)(facts, *predicate.args, **predicate.kwargs)
            if not isinstance(holds, bool):
                raise TypeError(f"it returned {type(holds).__name__}, not True or False")
        except KeyboardInterrupt:
            raise
        # A user's predicate may raise anything, even SystemExit; the session goes on.
        except BaseException as error:
            return f"{text[:MAX_LENGTH]} (failed: {_failure(error)})"
        return "" if holds is not predicate.negated else text


def _failure(error: BaseException) -> str:
    try:
        message = error.message if isinstance(error, ConfigError) else str(error)
    except Exception:
        message = ""
    line = " ".join(f"{type(error).__name__}: {message[: 4 * _MAX_REASON]}".split())
    return line if len(line) <= _MAX_REASON else f"{line[: _MAX_REASON - 1]}…"
