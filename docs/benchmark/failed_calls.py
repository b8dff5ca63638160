"""Failed calls in runs of real agents, and what retries, breakers and substitutes would have changed in them.

    python -m docs.benchmark.failed_calls FOLDER... [--tools FILE] [--sample 100]

A folder has recordings in one of the formats of docs/papers/recorded-runs.md. With `--tools`, substitutes
are looked for among those tools. `--sample` prints results with what they were taken for, to check by
hand.

Nothing is played again: a call that a breaker would have refused, or that a retry would have answered, might
have changed all that follows. So what is printed is what could have been saved at most.
"""

import argparse
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from docs.benchmark import data, say
from docs.benchmark.recorded_failure import (
    Attempt,
    attempts_of,
    counts_by_words,
    counts_today,
    is_seen,
    is_told,
    next_of_tool,
    refusals_of,
    repeats_of,
    unwrapped,
)
from docs.benchmark.recordings import read_published
from inspector.cli.composition import counter_for
from inspector.core.error import FailureKind
from inspector.core.number import percent
from inspector.core.settings import BudgetSettings, FallbackSettings
from inspector.core.tool import Tool, contradiction
from inspector.features.lab.runs.recorded_agent import ToolNames
from inspector.loop.fallback import similar_tools
from inspector.mcp.recorded_link import RecordedCall, RecordedRun, read_definitions
from inspector.schema.narrowing import argument_mapping, mapped
from inspector.schema.schema import schema_problem
from inspector.search.answer.metric import share_estimate
from inspector.search.index.tool_index import ToolIndex
from tests.support.retrieval import semantic_index

Chosen = Callable[[Attempt], bool]
# Seconds between model calls that breakers are tried with; recordings keep no times.
PACES = (5.0, 10.0, 30.0)
_SHOWN = 300
# A looser similarity than the default, to see whether that is what stands in the way.
LOOSE = 0.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--tools", action="append", type=Path, default=[])
    parser.add_argument("--sample", type=int, default=0)
    given = parser.parse_args()
    for folder in given.folders:
        runs = read_published(folder).runs
        attempts = [attempt for run in runs for attempt in attempts_of(run)]
        if given.sample:
            sample(runs, given.sample)
            continue
        say(f"## {folder.name}: {len(runs):,} runs, {len(attempts):,} calls")
        failures(attempts)
        repeats(runs)
        breakers(runs)
        if given.tools:
            substitutes(attempts, read_definitions(given.tools))
        say()


def failures(attempts: Sequence[Attempt]) -> None:
    """How many calls failed, by kind, and for whom."""
    say("failed calls")
    _share("  all", attempts, lambda one: one.failure is not None)
    for kind in FailureKind:
        _share(f"  {kind}", attempts, partial(Attempt.is_of, kind=kind))
    _share("  transient, seen by the client", attempts, is_seen)
    _share("  transient, by the words of the result", attempts, is_told)
    for name, chosen in (("seen", is_seen), ("told", is_told)):
        of = Counter(f"{one.server}: {one.tool}" for one in attempts if chosen(one))
        tasks = len({one.task for one in attempts if chosen(one)})
        say(f"  {name}: {tasks} tasks; {', '.join(f'{tool} {times}' for tool, times in of.most_common(8))}")


def repeats(runs: Sequence[RecordedRun]) -> None:
    """How often agents made a failed call again, unchanged, what came of it, and what that took."""
    say("made again by the agent, with equal arguments")
    found = [repeat for run in runs for repeat in repeats_of(run)]
    kinds: Sequence[tuple[str, Chosen]] = (
        ("transient, seen", is_seen),
        ("transient, told", is_told),
        ("other failures", lambda one: not is_told(one)),
    )
    for name, chosen in kinds:
        of = [one for one in found if chosen(one.first)]
        again = [(one.first.task, one) for one in of if one.again]
        later = [pair for run in runs for pair in next_of_tool(run, _failed_so(chosen))]
        say(f"  {name}: {_text([(one.first.task, bool(one.again)) for one in of])}")
        say(f"    the first repeat succeeded: {_text([(task, one.again[0].is_good) for task, one in again])}")
        say(f"    it was the run's next call: {_text([(task, one.is_next) for task, one in again])}")
        recovered = _text([(one.task, after.is_good) for one, after in later])
        say(f"    the tool's next call succeeded, whatever its arguments: {recovered}")
        if name != "other failures":
            _spent(runs, chosen)


def _failed_so(chosen: Chosen) -> Chosen:
    return lambda one: not one.is_good and chosen(one)


def _spent(runs: Sequence[RecordedRun], chosen: Chosen) -> None:
    """The model calls that did nothing but make such calls again, and the conversation that each read."""
    count = counter_for(BudgetSettings().priced_as).count
    turns = tokens = 0
    for run in runs:
        again = Counter(
            one.step for repeat in repeats_of(run) if chosen(repeat.first) for one in repeat.again
        )
        steps = list(run.steps)
        for step, times in again.items():
            if len(steps[step].calls) == times:
                turns += 1
                tokens += sum(count(text) for text in _read_before(run, step))
    of = sum(1 for run in runs for _ in run.steps)
    say(f"    model calls for nothing else: {turns} of {of:,}, reading {tokens:,} tokens of conversation")


def _read_before(run: RecordedRun, step: int) -> Iterable[str]:
    """What the model read of the conversation before a step, definitions apart."""
    yield from (message.text for message in run.messages)
    for earlier in list(run.steps)[:step]:
        yield earlier.text
        yield from (f"{call.arguments}{call.result or ''}" for call in earlier.calls)


def breakers(runs: Sequence[RecordedRun]) -> None:
    """What breakers with the default rules would have refused, each run with its own."""
    say("breakers with the default rules")
    for name, chosen in (("seen", counts_today), ("told", counts_by_words)):
        for pace in PACES:
            found = [refusals_of(run, chosen, pace=pace) for run in runs]
            refused = [one for refusals in found for one in refusals.refused]
            opened, where = sum(one.opened for one in found), sum(one.opened > 0 for one in found)
            say(f"  {name}, {pace:g} s a model call: opened {opened} times in {where} runs")
            fine = _text([(one.task, one.is_good) for one in refused])
            say(f"    refused {len(refused)}, of them fine: {fine}")


def substitutes(attempts: Sequence[Attempt], tools: Sequence[Tool]) -> None:
    """Print for how many transiently failed calls another tool takes the arguments, and which."""
    index, names = semantic_index(tools, data.semantics()), ToolNames(tools)
    say("substitutes")
    for name, chosen in (("seen", is_seen), ("told", is_told)):
        calls = [(one, _tool(one, names)) for one in attempts if chosen(one)]
        known = [(one, tool) for one, tool in calls if tool is not None]
        say(f"  {name}: {len(calls)} calls, {len(known)} of them of tools with a definition")
        say(f"    known to only read: {sum(_reads(tool) for _, tool in known)}")
        for least in (FallbackSettings().min_similarity, LOOSE):
            found = [(one, tool, fitting(one, tool, index, least=least)) for one, tool in known]
            some = [(one, tool, others) for one, tool, others in found if others]
            both = [others for _, tool, others in some if _reads(tool) and any(map(_reads, others))]
            say(f"    similarity {least:g}: {len(some)} with a tool that takes the arguments, {len(both)} of")
            say("      them where both are known to only read")
            for pair in sorted({f"{tool.id} -> {others[0].id}" for _, tool, others in some}):
                say(f"      {pair}")


def fitting(attempt: Attempt, tool: Tool, index: ToolIndex, *, least: float) -> Sequence[Tool]:
    """The tools at least that similar which take the call's arguments, the most similar first."""
    found = []
    for other_id, _ in similar_tools(index, tool.id, least=least):
        other = index.tools[index.position[other_id]]
        mapping = argument_mapping(attempt.arguments, tool.input_schema, other.input_schema)
        if mapping is not None and not schema_problem(other.input_schema, mapped(attempt.arguments, mapping)):
            found.append(other)
    return found


def _tool(attempt: Attempt, names: ToolNames) -> Tool | None:
    return names.find(RecordedCall(attempt.tool, server=attempt.server)) or names.find(
        RecordedCall(attempt.tool)
    )


def _reads(tool: Tool) -> bool:
    """Whether its server claims so, and nothing in the tool contradicts; every server is trusted here."""
    return bool(tool.annotations.read_only) and not contradiction(tool)


def sample(runs: Sequence[RecordedRun], size: int) -> None:
    """Print results at random: as many that were taken for failures as that were not."""
    known = [(one, text) for run in runs for one, text in _with_texts(run)]
    for failed in (True, False):
        of = [pair for pair in known if (pair[0].failure is not None) is failed]
        for one, text in random.Random(0).sample(of, min(size, len(of))):
            kind = f"{one.failure.kind}{' seen' if one.failure.is_seen else ''}" if one.failure else "fine"
            plain = " ".join(unwrapped(text)[0].split())
            say(f"{kind}\t{one.tool}\t{plain[:_SHOWN]} … {plain[-80:]}")


def _with_texts(run: RecordedRun) -> Iterable[tuple[Attempt, str]]:
    results = [call.result for call in run.calls]
    return ((one, text) for one, text in zip(attempts_of(run), results, strict=True) if text is not None)


def _share(name: str, attempts: Sequence[Attempt], chosen: Chosen) -> None:
    cases = [(one.task, chosen(one)) for one in attempts]
    if any(holds for _, holds in cases):
        say(f"{name}: {_text(cases)}")


def _text(cases: Sequence[tuple[str, bool]]) -> str:
    """A share with its interval, attempts at one task taken together."""
    if not cases:
        return "none"
    found = share_estimate([holds for _, holds in cases], [task for task, _ in cases])
    held = sum(holds for _, holds in cases)
    interval = f"[{percent(found.low, 1)}, {percent(found.high, 1)}]"
    return f"{held:,} of {len(cases):,}: {percent(found.mean, 1)} {interval}"


if __name__ == "__main__":
    main()
