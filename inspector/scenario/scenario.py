"""A scenario: what is said, answered and made to fail, on which settings, and what must happen."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from enum import StrEnum
from typing import Any

from inspector.core.breaker import FailureKind
from inspector.core.closest import closest
from inspector.core.error import (
    CallTimeout,
    ConfigError,
    ProtocolError,
    RateLimited,
    ServerExited,
    ToolsightError,
)
from inspector.core.events import EVENT_TYPES, Event, Record
from inspector.schema.json_value import JsonObject, compact


@dataclass(frozen=True, slots=True)
class Fault:
    """The next `times` calls of a server, or of its tool, fail like this."""

    server: str
    kind: FailureKind
    times: int = 1
    tool: str = ""
    retry_after: float | None = None

    def error(self, tool: str) -> ToolsightError:
        """What a call of the tool fails with."""
        hint = "The scenario lets it fail."
        match self.kind:
            case FailureKind.TIMEOUT:
                return CallTimeout(f"{tool} did not return in time", hint=hint)
            case FailureKind.RATE_LIMIT:
                message = f"{self.server} wants fewer requests"
                return RateLimited(message, hint=hint, retry_after=self.retry_after)
            case FailureKind.PROTOCOL:
                return ProtocolError(f"{tool}: invalid answer", hint=hint)
            case _:
                return ServerExited(f"{self.server} closed the connection", hint=hint)


_SHOWN = 80


class Operator(StrEnum):
    """How a field is compared; CONTAINS looks for text in a text or an item in a list."""

    EQUALS = "equals"
    CONTAINS = "contains"
    AT_LEAST = "at_least"
    AT_MOST = "at_most"


_WRITTEN = frozenset(Operator) - {Operator.EQUALS}


@dataclass(frozen=True, slots=True)
class Condition:
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
        return f"{self.field} {how}{_shown(self.value)}"


@dataclass(frozen=True, slots=True)
class Expectation:
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


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one expectation.

    `seq` is the record that decided it: the one that met it, or else the nearest one, if any. `reason` is for
    people. A `forbidden` expectation is met if no record matches it.
    """

    expectation: Expectation
    met: bool
    reason: str
    seq: int | None = None
    forbidden: bool = False

    @property
    def text(self) -> str:
        """The finding in one line."""
        never = "never " if self.forbidden else ""
        return f"{never}{self.expectation.text}: {self.reason}"


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
    known = [*(field.name for field in fields(EVENT_TYPES[kind])), *EVENT_TYPES[kind].derived]
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
    if is_dataclass(actual) and not isinstance(actual, type):
        actual = asdict(actual)
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
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    text = compact(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A call within a step. `name` is the wire name."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """One model call: what the model says and which tools it calls.

    `think` is its answer if it has to think before this step; `wait` is how many seconds it takes to answer.
    """

    say: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    think: str = ""
    wait: float = 0.0


@dataclass(frozen=True, slots=True)
class AddedTool:
    """A tool added to a server. Calling it returns `answer`, or an error without one."""

    id: str
    description: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class CatalogChange:
    """A change to one server's tools: ids to `remove`, tools to `add`, new descriptions, new parameters."""

    server: str
    remove: tuple[str, ...] = ()
    add: tuple[AddedTool, ...] = ()
    describe: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, JsonObject] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Viewer:
    """Whom the session is seen as from now on: a user of the policy, through an expert if one is named."""

    user: str
    expert: str = ""


@dataclass(frozen=True, slots=True)
class Preparation:
    """What happens before a user message, in this order.

    Another session begins, as somebody else sees it.
    Seconds pass, settings change (values by path), a milestone is reached, a server is stopped, a server's
    tools change (at once, or when it is back), a server is connected again, a server's next calls fail, a
    plugin of the marketplace is installed, a server is removed: the scenario's author stands for the person.
    """

    wait: float = 0.0
    milestone: str = ""
    change: CatalogChange | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    stop: str = ""
    reconnect: str = ""
    fault: Fault | None = None
    install: str = ""
    uninstall: str = ""
    see_as: Viewer | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """What the user says in each turn, and the model's steps for it.

    `users`, `turns` and `prepare` match by position. `settings` are values by setting path that override the
    profile. The events in `expect` must occur in that order, those in `never` must not occur. `window` is the
    scripted model's window in tokens, 0 for one that never fills.
    """

    title: str
    users: tuple[str, ...]
    turns: tuple[tuple[Step, ...], ...]
    about: str = ""
    profile: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    prepare: tuple[Preparation, ...] = ()
    expect: tuple[Expectation, ...] = ()
    never: tuple[Expectation, ...] = ()
    window: int = 0

    def preparation(self, turn: int) -> Preparation:
        """What happens before a turn, counted from 0; nothing if the scenario does not say."""
        return self.prepare[turn] if turn < len(self.prepare) else Preparation()

    @property
    def changes_servers(self) -> bool:
        """Whether it changes what servers list or how they answer."""
        return any(one.change is not None or one.fault is not None for one in self.prepare)
