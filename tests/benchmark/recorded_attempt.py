"""The calls of a recorded run, how they ended, which were made again, and which a breaker would refuse."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from inspector.core.error import FailureKind
from inspector.core.settings import BreakerSettings
from inspector.mcp.recorded_link import RecordedRun
from inspector.reliability.breaker import Breaker, Permit, admitted, answered, failed
from inspector.reliability.breaking import AGAINST_SERVER, AGAINST_TOOL
from inspector.schema.json_value import JsonObject
from tests.benchmark.recorded_failure import Failure, failure_of_result

# What a call costs that was not answered in time: the limit of the harnesses that say it.
TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Attempt:
    """A call of a recorded run. `number` is its place among the calls, `step` that of its model call."""

    run: str
    task: str
    step: int
    number: int
    server: str
    tool: str
    arguments: JsonObject
    failure: Failure | None

    @property
    def key(self) -> tuple[str, str, str]:
        """Equal for equal calls."""
        return self.server, self.tool, json.dumps(self.arguments, sort_keys=True, default=str)

    @property
    def is_good(self) -> bool:
        return self.failure is None

    def is_of(self, kind: FailureKind) -> bool:
        return self.failure is not None and self.failure.kind is kind

    def __hash__(self) -> int:
        return hash((self.run, self.number))


@dataclass(frozen=True, slots=True)
class Repeat:
    """A failed call that repeats no other failed one, and the equal calls after it until one succeeds."""

    first: Attempt
    again: tuple[Attempt, ...]

    @property
    def is_next(self) -> bool:
        """Whether the run's next call was the same again."""
        return bool(self.again) and self.again[0].number == self.first.number + 1


@dataclass(frozen=True, slots=True)
class Refusals:
    """What the breakers of one run would have done: how often one opened, and which calls were refused."""

    opened: int
    refused: tuple[Attempt, ...]


def is_told(attempt: Attempt) -> bool:
    """Whether a call failed for a reason that may pass, by the words of its result."""
    return attempt.failure is not None and attempt.failure.kind.is_transient


def is_seen(attempt: Attempt) -> bool:
    """Whether it is the client that failed so: what retries and breakers go by."""
    return is_told(attempt) and attempt.failure is not None and attempt.failure.is_seen


def counts_today(attempt: Attempt) -> bool:
    """Whether a failure speaks against its tool or server as breakers are: the client saw it."""
    failure = attempt.failure
    return failure is not None and failure.is_seen and failure.kind in AGAINST_TOOL


def counts_by_words(attempt: Attempt) -> bool:
    """The same if what a tool says of its own failure counted, too."""
    return is_told(attempt) or counts_today(attempt)


def attempts_of(run: RecordedRun) -> Sequence[Attempt]:
    """The calls of a run in order. Where no server is recorded, it is what stands before the first hyphen."""
    found: list[Attempt] = []
    for number, step in enumerate(run.steps):
        for call in step.calls:
            server = call.server or call.tool.partition("-")[0]
            failure = failure_of_result(call.result)
            found.append(
                Attempt(run.id, run.task, number, len(found), server, call.tool, call.arguments, failure)
            )
    return found


def repeats_of(run: RecordedRun) -> Sequence[Repeat]:
    """The failed calls of a run with the equal calls that followed."""
    waiting: dict[tuple[str, str, str], list[Attempt]] = {}
    found: list[list[Attempt]] = []
    for attempt in attempts_of(run):
        chain = waiting.get(attempt.key)
        if chain is not None:
            chain.append(attempt)
            if attempt.is_good:
                del waiting[attempt.key]
        elif not attempt.is_good:
            waiting[attempt.key] = [attempt]
            found.append(waiting[attempt.key])
    return [Repeat(chain[0], tuple(chain[1:])) for chain in found]


def next_of_tool(run: RecordedRun, chosen: Callable[[Attempt], bool]) -> Sequence[tuple[Attempt, Attempt]]:
    """The chosen calls of a run, each with the next call of its tool, whatever its arguments are."""
    found: list[tuple[Attempt, Attempt]] = []
    waiting: dict[tuple[str, str], Attempt] = {}
    for attempt in attempts_of(run):
        before = waiting.pop((attempt.server, attempt.tool), None)
        if before is not None:
            found.append((before, attempt))
        if chosen(attempt):
            waiting[attempt.server, attempt.tool] = attempt
    return found


def refusals_of(
    run: RecordedRun, rules: BreakerSettings, counts: Callable[[Attempt], bool], *, pace: float
) -> Refusals:
    """What breakers of the run's servers and tools would have refused; `pace` is the seconds a model call.

    Of the failures, those that `counts` names speak against a tool or its server. A refused call ends as it
    did in the recording for nobody: no breaker learns of it.
    """
    breakers: dict[tuple[str, str], Breaker] = {}
    refused: list[Attempt] = []
    opened, waited = 0, 0.0
    for attempt in attempts_of(run):
        now = attempt.step * pace + waited
        kinds = {(attempt.server, ""): AGAINST_SERVER, (attempt.server, attempt.tool): AGAINST_TOOL}
        permits: dict[tuple[str, str], Permit] = {}
        for key in kinds:
            breakers[key], permit = admitted(breakers.get(key, Breaker()), now, rules, TIMEOUT_SECONDS)
            if permit is not None:
                permits[key] = permit
        if len(permits) < len(kinds):
            refused.append(attempt)
            continue
        kind = attempt.failure.kind if attempt.failure is not None and counts(attempt) else None
        if kind is FailureKind.TIMEOUT:
            waited += TIMEOUT_SECONDS
            now += TIMEOUT_SECONDS
        for key, against in kinds.items():
            before = breakers[key]
            if kind is not None and kind in against:
                breakers[key] = failed(before, permits[key], now, rules, kind)
            else:
                breakers[key] = answered(before, permits[key], now, rules)
            opened += breakers[key].opened - before.opened
    return Refusals(opened, tuple(refused))
