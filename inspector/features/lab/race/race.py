"""A race: one question asked with every tool bound and again with discovery, compared call by call.

Two runs never take the same time, and a call's duration says nothing about its tokens. So the race is
aligned: the n-th model calls of both racers happen at the same moment, and a racer that needs more calls goes
on alone.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.budget import Prices
from inspector.core.events import (
    ApprovalDecided,
    BudgetMeasured,
    CatalogBuilt,
    Decision,
    Failed,
    Record,
    ServerFailed,
    SettingsChanged,
)
from inspector.core.number import count
from inspector.core.stream import Listener
from inspector.core.turns import ModelCall, Rejection, Search, ToolCall, Turn, Turns
from inspector.features.lab.comparison import (
    ANSWERED,
    Offered,
    RunCosts,
    ScenarioResult,
    call_costs,
    compare_profiles,
    incomparable,
    offered,
    share_saved,
)
from inspector.features.lab.ground import static_settings
from inspector.features.lab.scenario import Scenario
from inspector.search.answer.answer_text import answered
from inspector.tokens.plan import solved_steps

_LONGEST = 400


class Racer(RunCosts, frozen=True):
    """One run so far. Dollars are of its input alone.

    `last` says in a line what came of the last model call: raw text. `refused` names the tools of calls that
    needed an approval and did not get it, one for each call, `failed` the servers that did not start.
    `catalog` has the tools that could be found or bound.
    """

    profile: str = ""
    model: str = ""
    tokenizer: str = ""
    last: str = ""
    is_over: bool = False
    catalog: Offered = frozenset()
    refused: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    @property
    def bound(self) -> int:
        """The tools in the last model call."""
        return self.costs[-1].bound if self.costs else 0

    @property
    def present(self) -> int:
        """The tokens of tools and searches in the last model call."""
        return self.costs[-1].discovery_tokens if self.costs else 0

    @property
    def billed(self) -> float | None:
        """What a prompt cache charges for the input, in tokens at full price; None if unknown."""
        known = [cost.billed for cost in self.costs if cost.billed is not None]
        return sum(known) if known and len(known) == len(self.costs) else None

    @property
    def has_cache(self) -> bool:
        """Whether a prompt cache makes a difference."""
        return self.billed is not None and round(self.billed) != self.input_tokens


def _steps(racer: Racer, told: Sequence[Turn], prices: Prices | None) -> list[Racer]:
    """The racer before its first model call, and after each."""
    steps, costs = [racer], call_costs(told, prices, lambda _: 0)
    for turn in told:
        racer = _in(racer, turn)
        steps = steps if racer.costs else [racer]
        solved = solved_steps(turn)
        for call in turn.calls:
            racer = replace(
                racer,
                costs=(*racer.costs, next(costs)),
                searches=racer.searches + sum(isinstance(act, Search) for act in call.acts),
                last=", ".join(_news(call)),
                steps=racer.steps + sum(act.call is call for act in solved),
            )
            steps.append(racer)
        if racer.outcome in ("", ANSWERED):
            racer = replace(racer, outcome=turn.outcome or racer.outcome)
        # A message that is not answered yet is none of the model call before it.
        if turn.calls or turn.outcome or turn.said is None:
            steps[-1] = racer
    return steps


def _in(racer: Racer, turn: Turn) -> Racer:
    """The racer in one more turn, before the model calls of that."""
    budgets, settings = turn.of(BudgetMeasured), turn.of(SettingsChanged)
    # What fails where no request was made belongs to what came of the one before.
    news = [racer.last, *(_failure(event) for event in turn.of(Failed) if not turn.calls)]
    refused = (event.tool for event in turn.of(ApprovalDecided) if event.decision is Decision.NO)
    return replace(
        racer,
        profile=settings[-1].profile if settings else racer.profile,
        model=turn.session.label or racer.model,
        tokenizer=budgets[-1].budget.tokenizer.label if budgets else racer.tokenizer,
        last=", ".join(filter(None, news)),
        catalog=offered(turn.of(CatalogBuilt), racer.catalog),
        failed=(*racer.failed, *(event.server for event in turn.of(ServerFailed))),
        refused=(*racer.refused, *refused),
    )


def _news(call: ModelCall) -> Iterator[str]:
    """What a model call led to, in a few words each."""
    if call.answer is not None and not call.answer.tool_calls:
        yield f"{'thinks' if call.answer.thought else 'answers'}: {_line(call.answer.text)}"
    for act in call.acts:
        match act:
            case Search(event=search):
                yield f"{answered(search.report)}: {_line(search.report.request.label())}"
            case ToolCall(end=end) if end is not None:
                yield f"{'calls' if end.ok else f'✕ {end.outcome}:'} {_line(end.tool)}"
            case Rejection(event=rejected):
                yield f"✕ rejected, {_line(rejected.reason)}: {_line(rejected.name)}"
        if act.loop is not None:
            yield f"⚠ loop broken: {_line(act.loop.tool)}"
    if call.failed is not None:
        yield _failure(call.failed)


def _failure(failed: Failed) -> str:
    return f"✕ failed: {_line(failed.message)}"


def _line(text: str) -> str:
    cut = " ".join(text[:_LONGEST].split())
    return f"{cut}…" if len(text) > _LONGEST else cut


class RaceFrame(Struct, frozen=True):
    """Both racers at one moment, static binding first."""

    racers: tuple[Racer, Racer]

    @property
    def call(self) -> int:
        """The number of the model call; a racer that needed fewer stands still."""
        return max(racer.model_calls for racer in self.racers)


class Verdict(Struct, frozen=True):
    """How a race ended. `saved` and `input_saved` are shares (0 to 1) of what static binding sent.

    They are negative if more was sent, and None if nothing was. `notes` say what to know before trusting
    them; `prices` are those used for the racers' dollars.
    """

    racers: tuple[Racer, Racer]
    notes: tuple[str, ...] = ()
    prices: Prices | None = None

    @property
    def shortfall(self) -> str:
        """Why the saving is no result, in a sentence; "" if both did the same work with the same tools."""
        if unequal := incomparable((racer.profile, racer.catalog) for racer in self.racers):
            return unequal
        for racer in self.racers:
            if racer.outcome != ANSWERED:
                return f"No saving: {racer.profile} did not answer ({racer.outcome or 'no outcome'})."
        less, more = sorted(self.racers, key=lambda racer: racer.steps)
        if not more.steps:
            return "No saving: neither side made a tool call that succeeded."
        if less.steps == more.steps:
            return ""
        did = f"{less.profile} solved {count(less.steps, 'step')}, {more.profile} {more.steps}"
        return f"No saving: {did}. Using fewer tokens for less work saves nothing."

    @property
    def saved(self) -> float | None:
        """The share saved of the tokens spent on tools."""
        return share_saved(*(racer.discovery_tokens for racer in self.racers))

    @property
    def input_saved(self) -> float | None:
        """The share saved of everything sent."""
        return share_saved(*(racer.input_tokens for racer in self.racers))

    @property
    def billed_saved(self) -> float | None:
        """The share saved of everything as a prompt cache charges it; None if no cache is known."""
        first, second = (racer.billed for racer in self.racers)
        return None if first is None or second is None else share_saved(first, second)


class Race:
    """Follows both runs and builds the race as far as both have come.

    `profiles` are `static` and the other one. `prices` convert the tokens of future model calls to dollars.
    `notes` come before those of the verdict.
    """

    def __init__(
        self,
        scenario: Scenario,
        profiles: tuple[str, str],
        *,
        prices: Prices | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.scenario = scenario
        self.profiles = profiles
        self.prices = prices
        self._own_notes = notes
        self._tracks = (_Track(profiles[0]), _Track(profiles[1]))

    def listener(self, side: int) -> Listener:
        """The listener for the records of a run; side 0 is static binding."""
        return self._tracks[side].after

    def end(self, side: int, result: ScenarioResult) -> None:
        """Mark a run as over."""
        self._tracks[side].result = result

    @property
    def is_over(self) -> bool:
        return all(track.result is not None for track in self._tracks)

    @property
    def racers(self) -> tuple[Racer, Racer]:
        """The current state of both runs, which may be different moments of the race."""
        first, second = (track.steps(self.prices)[-1] for track in self._tracks)
        return first, second

    def frames(self) -> tuple[RaceFrame, ...]:
        """The start, and every model call that both have finished or did not need.

        Once there is a second frame, existing frames never change.
        """
        first, second = (track.steps(self.prices, finished=True) for track in self._tracks)
        # A racer that needs fewer calls stands still; one that is not over yet may need more.
        both = [(one or first[-1], other or second[-1]) for one, other in zip_longest(first, second)]
        going = [len(steps) for steps in (first, second) if not steps[-1].is_over]
        return tuple(map(RaceFrame, both[: min(going, default=None)]))

    @property
    def verdict(self) -> Verdict | None:
        """How the race ended; None while it is running."""
        results = [track.result for track in self._tracks if track.result is not None]
        if len(results) < len(self._tracks):
            return None
        notes = compare_profiles(results, scripted=False).notes
        verdict = Verdict(self.racers, prices=self.prices)
        # What the verdict itself says is not said once more.
        others = [note for note in notes if note != verdict.shortfall]
        return replace(verdict, notes=(*self._own_notes, *others, *_notes(self.racers)))


class _Track:
    """One run; `result` is None until its end."""

    def __init__(self, profile: str) -> None:
        self._start = Racer(profile=profile)
        self._turns = Turns()
        self._ended: list[Turn] = []
        self._steps: list[Racer] = []
        self.result: ScenarioResult | None = None

    def after(self, record: Record) -> None:
        """Add one record."""
        self._ended += self._turns.after(record)
        self._steps = []

    def steps(self, prices: Prices | None, *, finished: bool = False) -> list[Racer]:
        """The racer at the start, and after each model call, or only after those that are `finished`."""
        self._steps = self._steps or _steps(self._start, (*self._ended, self._turns.turn), prices)
        steps = self._steps
        if self.result is not None:
            return [*steps[:-1], replace(steps[-1], is_over=True)]
        return steps[:-1] if finished and self._turns.turn.calls else steps


def _notes(racers: tuple[Racer, Racer]) -> list[str]:
    static, other = racers
    notes = []
    more = other.model_calls - static.model_calls
    if more:
        what = "more" if more > 0 else "fewer"
        why = ", each of which takes time" if more > 0 else ""
        notes.append(f"{other.profile}: {count(abs(more), f'{what} model call')} than {static.profile}{why}.")
    for racer in racers:
        if racer.failed:
            notes.append(f"{racer.profile}: {', '.join(racer.failed)} did not start.")
        if racer.refused:
            calls, which = count(len(racer.refused), "call"), ", ".join(dict.fromkeys(racer.refused))
            notes.append(
                f"{racer.profile}: {calls} skipped, because a race might change something twice: {which}. "
                "It only calls tools that a trusted server marks as read-only or that "
                "you have allowed in this session."
            )
        if racer.outcome != ANSWERED:
            why = racer.last if racer.outcome == "failed" and racer.last else racer.outcome or "no outcome"
            notes.append(f"{racer.profile}: a message got no answer ({why}).")
    return notes


class Side(Struct, frozen=True):
    """What one side of a race runs under; number 0 is static binding."""

    number: int
    profile: str
    values: Mapping[str, Any]
    listen: Listener


async def run_race(
    race: Race, values: Mapping[str, Any], play: Callable[[Side], Awaitable[ScenarioResult]]
) -> None:
    """Run both sides at once, each as `play` runs one, and end the race.

    `values` are the settings; static binding gets those that leave it what it is. On failure or cancellation,
    both sides have ended before the error propagates.
    """

    async def run(number: int, own: Mapping[str, Any]) -> None:
        side = Side(number, race.profiles[number], own, race.listener(number))
        race.end(number, await play(side))

    tasks = [asyncio.ensure_future(run(*one)) for one in enumerate((static_settings(values), values))]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
