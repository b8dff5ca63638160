"""Events that a scenario expects, in their order, or never: read, compared, and what is told of each."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct, to_builtins

from inspector.core.error import ConfigError
from inspector.core.events import EVENT_TYPES, Event, Record
from inspector.core.text import closest
from inspector.schema.json_value import compact

_SHOWN = 80


class Operator(StrEnum):
    """How a field is compared; CONTAINS looks for text in a text or an item in a list."""

    EQUALS = "equals"
    CONTAINS = "contains"
    AT_LEAST = "at_least"
    AT_MOST = "at_most"


_WRITTEN = frozenset(Operator) - {Operator.EQUALS}
# Fields whose names say too little to a reader.
_WORDS = {"in_time": "times in the time window", "in_calls": "times in the last calls"}


class Condition(Struct, frozen=True):
    """A requirement on one field."""

    field: str
    how: Operator
    value: Any

    def holds(self, event: Event) -> bool:
        actual = getattr(event, self.field)
        if self.how == Operator.CONTAINS:
            return isinstance(actual, str | list | tuple) and self.value in actual
        if self.how == Operator.EQUALS:
            return _same(self.value, actual)
        if not _is_number(actual):
            return False
        return bool(actual >= self.value if self.how == Operator.AT_LEAST else actual <= self.value)

    @property
    def text(self) -> str:
        """`count at least 3`: the condition in words."""
        how = "" if self.how == Operator.EQUALS else f"{self.how.replace('_', ' ')} "
        return f"{_WORDS.get(self.field, self.field)} {how}{_shown(self.value)}"


class Expectation(Struct, frozen=True):
    """An event of one kind that meets every condition."""

    kind: str
    conditions: tuple[Condition, ...] = ()

    def unmet(self, record: Record) -> tuple[Condition, ...]:
        """The conditions that do not hold for a record of the kind."""
        return tuple(condition for condition in self.conditions if not condition.holds(record.event))

    def is_met(self, record: Record) -> bool:
        return record.kind == self.kind and not self.unmet(record)

    @property
    def text(self) -> str:
        """The event in words."""
        return ", ".join((self.kind, *(condition.text for condition in self.conditions)))


class Finding(Struct, frozen=True):
    """The outcome of one expectation.

    `seq` is the record that decided it: the one that met it, or else the nearest one, if any. `reason` is for
    people. A `forbidden` expectation is met if no record matches it.
    """

    expectation: Expectation
    met: bool
    reason: str
    seq: int | None = None
    forbidden: bool = False


def expectation(entry: Mapping[str, Any]) -> Expectation:
    """Read `{event: loop, tool: "weather:get_forecast", count: {at_least: 3}}`.

    A mapping with only `contains`, `at_least` and `at_most` is a condition; any other value must be equal.
    Raises ConfigError, with the nearest names, for an unknown event or field.
    """
    kind = entry.get("event")
    if not isinstance(kind, str):
        raise ConfigError("event is missing" if kind is None else "event must be text")
    if kind not in EVENT_TYPES:
        raise _unknown(f"there is no event '{kind}'", kind, EVENT_TYPES)
    known = [*EVENT_TYPES[kind].__struct_fields__, *EVENT_TYPES[kind].derived]
    conditions: list[Condition] = []
    for name, value in entry.items():
        if name == "event":
            continue
        if name not in known:
            raise _unknown(f"the event '{kind}' has no field '{name}'", name, known)
        conditions += _conditions(name, value)
    return Expectation(kind, tuple(conditions))


def check(
    records: Sequence[Record], expect: Sequence[Expectation], never: Sequence[Expectation] = ()
) -> tuple[Finding, ...]:
    """Return a finding for each of `expect`, which must occur in this order, then one for each of `never`.

    Each expectation takes the first matching record after the previous match, so an order is found if one
    exists. An unmet expectation does not affect those after it.
    """
    findings: list[Finding] = []
    position = 0
    for wanted in expect:
        met = next((n for n in range(position, len(records)) if wanted.is_met(records[n])), None)
        if met is None:
            findings.append(_missed(wanted, records, position))
        else:
            findings.append(Finding(wanted, True, f"met at {records[met].seq}", records[met].seq))
            position = met + 1
    return (*findings, *(_kept_out(unwanted, records) for unwanted in never))


def _missed(wanted: Expectation, records: Sequence[Record], position: int) -> Finding:
    """Explain an unmet expectation by the later record, or else the earlier one, closest to meeting it."""
    later = [record for record in records[position:] if record.kind == wanted.kind]
    alike = later or [record for record in records[:position] if record.kind == wanted.kind]
    early = next((record for record in records[:position] if wanted.is_met(record)), None)
    if early is not None:
        return Finding(wanted, False, f"not met in this order: it comes earlier, at {early.seq}", early.seq)
    if not alike:
        return Finding(wanted, False, f"not met: there is no {wanted.kind} event")
    nearest = min(alike, key=lambda record: len(wanted.unmet(record)))
    differs = "; ".join(
        f"{condition.field} is {_shown(getattr(nearest.event, condition.field))}"
        for condition in wanted.unmet(nearest)
    )
    return Finding(
        wanted, False, f"not met: the closest event is {nearest.seq}, where {differs}", nearest.seq
    )


def _kept_out(unwanted: Expectation, records: Sequence[Record]) -> Finding:
    met = next((record for record in records if unwanted.is_met(record)), None)
    if met is None:
        return Finding(unwanted, True, "did not occur", forbidden=True)
    return Finding(unwanted, False, f"occurs at {met.seq}", met.seq, forbidden=True)


def _conditions(name: str, value: Any) -> list[Condition]:
    if not isinstance(value, Mapping) or not value or not _WRITTEN.issuperset(value):
        return [Condition(name, Operator.EQUALS, value)]
    for how, bound in value.items():
        if how == Operator.CONTAINS and not isinstance(bound, str):
            raise ConfigError(f"{name}: {how} must be text")
        if how != Operator.CONTAINS and not _is_number(bound):
            raise ConfigError(f"{name}: {how} must be a number")
    return [Condition(name, Operator(how), bound) for how, bound in value.items()]


def _same(expected: Any, actual: Any) -> bool:
    """Compare as JSON: a list equals a tuple, a boolean never equals a number."""
    if isinstance(actual, Struct):
        actual = to_builtins(actual)
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return expected.keys() == actual.keys() and all(_same(expected[key], actual[key]) for key in expected)
    if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        return len(expected) == len(actual) and all(map(_same, expected, actual))
    return bool(expected == actual)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _unknown(problem: str, name: str, known: Sequence[str] | Mapping[str, Any]) -> ConfigError:
    near = closest(name, known) or tuple(known)
    return ConfigError(problem, hint=f"Known: {', '.join(near)}.")


def _shown(value: Any) -> str:
    if isinstance(value, Struct):
        value = to_builtins(value)
    text = compact(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
