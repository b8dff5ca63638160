"""A race: one scenario run with every tool bound and again with discovery, compared call by call.

Two runs never take the same time, and a call's duration says nothing about its tokens. So the race is
aligned: the n-th model calls of both racers happen at the same moment, and a racer that needs more calls goes
on alone.
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from inspector.core.budget import Prices
from inspector.core.events import (
    ApprovalDecided,
    BudgetMeasured,
    CallFinished,
    CallRejected,
    Decision,
    Event,
    Failed,
    LoopDetected,
    ModelRequested,
    ModelResponded,
    ModelSwitched,
    Record,
    SearchPerformed,
    ServerFailed,
    SessionStarted,
    SettingsChanged,
    TurnEnded,
    UserSaid,
)
from inspector.core.number import count
from inspector.core.stream import Listener
from inspector.scenario.comparison import ANSWERED, ScenarioResult, charged, compare_profiles, share_saved
from inspector.scenario.ground import left_out, static_scenario, static_settings
from inspector.scenario.scenario import Scenario
from inspector.search.answer_text import answered
from inspector.tokens.plan import SolvedSteps

SECONDS_A_CALL = 0.6
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Racer:
    """One run so far, folded from its records. Tokens are input tokens; all except `present` are sums.

    `tool_tokens` are those of definitions, manifest and summaries, `search_tokens` those of searches and
    their results, `input_tokens` everything sent. `billed` is what a prompt cache charges for it, in input
    tokens at full price, and `dollars` its cost; both are None if unknown.
    `present` are tool and search tokens of the last model call, `bound` the tools in it. `last` says in a
    line what came of that call: raw text. `outcome` is
    `answered` while every message of the user was, else that of the first that was not; "" before any ended.
    `refused` names the tools of calls that needed an approval and did not get it, one for each call,
    `failed` the servers that did not start.
    """

    profile: str = ""
    model: str = ""
    tokenizer: str = ""
    message: int = 0
    calls: int = 0
    searches: int = 0
    bound: int = 0
    present: int = 0
    tool_tokens: int = 0
    search_tokens: int = 0
    input_tokens: int = 0
    billed: float | None = None
    dollars: float | None = None
    last: str = ""
    outcome: str = ""
    is_over: bool = False
    refused: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    solved: SolvedSteps = SolvedSteps()

    @property
    def dollars_per_step(self) -> float | None:
        """US dollars of input for each solved step; None without prices or solved steps."""
        return self.dollars / self.solved.count if self.dollars is not None and self.solved.count else None

    @property
    def tokens(self) -> int:
        """Tokens sent because of tools: their definitions and the searches that found them."""
        return self.tool_tokens + self.search_tokens

    @property
    def has_cache(self) -> bool:
        """Whether a prompt cache makes a difference."""
        return self.billed is not None and round(self.billed) != self.input_tokens

    def after(self, event: Event, prices: Prices | None = None) -> "Racer":
        """The racer after one more event; `prices` convert its tokens to dollars."""
        racer = replace(self, solved=self.solved.after(event))
        match event:
            case ModelRequested():
                return racer._sent(event, prices)
            case SessionStarted(model_label=label) | ModelSwitched(label=label):
                return replace(racer, model=label)
            case SettingsChanged(profile=profile):
                return replace(racer, profile=profile)
            case BudgetMeasured(budget=budget):
                return replace(racer, tokenizer=budget.tokenizer.label)
            case UserSaid():
                return replace(racer, message=racer.message + 1)
            case TurnEnded(outcome=outcome):
                return replace(racer, outcome=outcome) if racer.outcome in ("", ANSWERED) else racer
            case SearchPerformed(by="model"):
                racer = replace(racer, searches=racer.searches + 1)
            case ServerFailed(server=server):
                racer = replace(racer, failed=(*racer.failed, server))
            case ApprovalDecided(decision=Decision.NO, tool=tool):
                racer = replace(racer, refused=(*racer.refused, tool))
        said = _news(event)
        return replace(racer, last=f"{racer.last}, {said}" if racer.last else said) if said else racer

    def _sent(self, event: ModelRequested, prices: Prices | None) -> "Racer":
        parts, charge = event.tokens, charged(event)
        billed = charge.billed(event.terms) + (self.billed or 0.0) if event.charge.tokens else None
        dollars = prices.cost(charge, event.terms) + (self.dollars or 0.0) if prices is not None else None
        return replace(
            self,
            calls=self.calls + 1,
            bound=len(event.bound),
            present=parts.discovery_tokens,
            tool_tokens=self.tool_tokens + parts.tool_tokens,
            search_tokens=self.search_tokens + parts.searches,
            input_tokens=self.input_tokens + parts.input,
            billed=billed,
            dollars=dollars,
            last="",
        )


def _news(event: Event) -> str:
    """What a model call led to, in a few words; "" for events not worth showing."""
    match event:
        case ModelResponded(tool_calls=()):
            return f"{'thinks' if event.thought else 'answers'}: {_line(event.text)}"
        case SearchPerformed(by="model"):
            return f"{answered(event.report)}: {_line(event.report.request.label())}"
        case CallFinished():
            return f"{'calls' if event.ok else f'✕ {event.outcome}:'} {_line(event.tool)}"
        case CallRejected():
            return f"✕ rejected, {_line(event.reason)}: {_line(event.name)}"
        case LoopDetected():
            return f"⚠ loop broken: {_line(event.tool)}"
        case Failed():
            return f"✕ failed: {_line(event.message)}"
    return ""


def _line(text: str) -> str:
    cut = " ".join(text[:_LONGEST].split())
    return f"{cut}…" if len(text) > _LONGEST else cut


@dataclass(frozen=True, slots=True)
class RaceFrame:
    """Both racers, static binding first, a number of seconds after the start."""

    seconds: float
    racers: tuple[Racer, Racer]

    @property
    def call(self) -> int:
        """The number of the model call; a racer that needed fewer stands still."""
        return max(racer.calls for racer in self.racers)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a race ended. `saved` and `input_saved` are shares (0 to 1) of what static binding sent.

    They are negative if more was sent, and None if nothing was. `notes` say what to know before trusting
    them; `prices` are those used for the racers' dollars.
    """

    racers: tuple[Racer, Racer]
    notes: tuple[str, ...] = ()
    prices: Prices | None = None

    @property
    def shortfall(self) -> str:
        """Why the saving is no result, in a sentence; "" if both did the same work."""
        for racer in self.racers:
            if racer.outcome != ANSWERED:
                return f"No saving: {racer.profile} did not answer ({racer.outcome or 'no outcome'})."
        less, more = sorted(self.racers, key=lambda racer: racer.solved.count)
        if less.solved.count == more.solved.count:
            return ""
        did = f"{less.profile} solved {count(less.solved.count, 'step')}, {more.profile} {more.solved.count}"
        return f"No saving: {did}. Using fewer tokens for less work saves nothing."

    @property
    def saved(self) -> float | None:
        """The share saved of the tokens spent on tools."""
        return share_saved(*(racer.tokens for racer in self.racers))

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

    `profiles` are `static` and the other one. With `scripted` the model follows the scenario's script, for
    static binding the one from `static_scenario`. `prices` convert the tokens of future model calls to
    dollars. `notes` come before those of the verdict.
    """

    def __init__(
        self,
        scenario: Scenario,
        profiles: tuple[str, str],
        *,
        scripted: bool = True,
        prices: Prices | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.scenario = scenario
        self.profiles = profiles
        self.scripted = scripted
        self.prices = prices
        self._own_notes = notes
        self._tracks = (_Track(profiles[0]), _Track(profiles[1]))

    def listener(self, side: int) -> Listener:
        """The listener for the records of a run; side 0 is static binding."""
        track = self._tracks[side]
        return lambda record: track.after(record, self.prices)

    def end(self, side: int, result: ScenarioResult) -> None:
        """Mark a run as over."""
        self._tracks[side].end(result)

    @property
    def is_over(self) -> bool:
        return all(track.result is not None for track in self._tracks)

    @property
    def racers(self) -> tuple[Racer, Racer]:
        """The current state of both runs, which may be different moments of the race."""
        first, second = self._tracks
        return first.racer, second.racer

    def frames(self, seconds_a_call: float = SECONDS_A_CALL) -> tuple[RaceFrame, ...]:
        """The start, and every model call that both have finished or did not need.

        Once there is a second frame, existing frames never change.
        """
        first, second = self._tracks
        known = [len(track.steps) for track in self._tracks if track.result is None]
        frames = min(known) if known else max(len(first.steps), len(second.steps))
        return tuple(
            RaceFrame(round(number * seconds_a_call, 3), (first.at(number), second.at(number)))
            for number in range(frames)
        )

    @property
    def verdict(self) -> Verdict | None:
        """How the race ended; None while it is running."""
        results = [track.result for track in self._tracks if track.result is not None]
        if len(results) < len(self._tracks):
            return None
        script = left_out(self.scenario) if self.scripted else ""
        notes = compare_profiles(results, scripted=self.scripted).notes
        told = (*self._own_notes, *((script,) if script else ()), *notes, *_notes(self.racers))
        return Verdict(self.racers, told, self.prices)


class _Track:
    """One run: its racer after each model call; `steps[0]` is the start, `result` None until its end."""

    def __init__(self, profile: str) -> None:
        self.racer = Racer(profile)
        self.steps = [self.racer]
        self.result: ScenarioResult | None = None

    def at(self, number: int) -> Racer:
        """The racer after a number of model calls, or after its last."""
        return self.steps[min(number, len(self.steps) - 1)]

    def after(self, record: Record, prices: Prices | None) -> None:
        """Add one record."""
        if isinstance(record.event, ModelRequested | UserSaid):
            self._close()
        self.racer = self.racer.after(record.event, prices)
        if not self.racer.calls:
            self.steps[0] = self.racer

    def end(self, result: ScenarioResult) -> None:
        """Finish the track: no more records follow."""
        self.result = result
        self.racer = replace(self.racer, is_over=True)
        if len(self.steps) > self.racer.calls:
            self.steps[-1] = self.racer
        else:
            self._close()

    def _close(self) -> None:
        """Take the last model call, if there was one, as finished."""
        if len(self.steps) == self.racer.calls:
            self.steps.append(self.racer)


def _notes(racers: tuple[Racer, Racer]) -> list[str]:
    static, other = racers
    notes = []
    more = other.calls - static.calls
    if more:
        what = "more" if more > 0 else "fewer"
        why = ", each of which takes time" if more > 0 else ""
        notes.append(f"{other.profile}: {count(abs(more), f'{what} model call')} than {static.profile}{why}.")
    if not static.solved.count + other.solved.count:
        notes.append("Neither side made a successful tool call, so the number only covers definitions.")
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


@dataclass(frozen=True, slots=True)
class Side:
    """What one side of a race runs; number 0 is static binding. `model` plays its script, "" without one."""

    number: int
    profile: str
    scenario: Scenario
    model: str
    values: Mapping[str, Any]
    listen: Listener


async def run_race(
    race: Race,
    values: Mapping[str, Any],
    path: Path | None,
    play: Callable[[Side], Awaitable[ScenarioResult]],
) -> None:
    """Run both sides at once, each as `play` runs one, and end the race.

    `path` is the scenario's file, `values` are the settings, without those that would make another profile of
    static binding. On failure or cancellation, both sides have ended before the error propagates.
    """
    static = static_scenario(race.scenario)
    with tempfile.TemporaryDirectory(prefix="toolsight-race-") as folder:
        script = Path(folder) / "static.yaml"
        script.write_text(_script(static), encoding="utf-8")
        files = ((static, script, static_settings(values)), (race.scenario, path, values))

        async def run(number: int) -> None:
            scenario, file, own = files[number]
            model = f"demo/script:{file}" if race.scripted else ""
            side = Side(number, race.profiles[number], scenario, model, own, race.listener(number))
            race.end(number, await play(side))

        tasks = [asyncio.ensure_future(run(number)) for number in (0, 1)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def _script(scenario: Scenario) -> str:
    """What the model says and calls as YAML, without the rest of the scenario."""
    import yaml

    turns = [turn.model_dump(mode="json", include={"user", "steps"}) for turn in scenario.turns]
    return yaml.safe_dump({"title": scenario.title, "turns": turns})
