"""Recorded runs, played again through the loop in one or more setups."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from inspector.cli.composition import model_for
from inspector.core.budget import Prices
from inspector.core.events import Event, Record
from inspector.core.events.call import CallFinished
from inspector.core.events.session import UserSaid
from inspector.core.tool import Tool
from inspector.mcp.recorded_link import NO_RESULT, RecordedCall, RecordedMessage, RecordedRun, RecordedStep
from inspector.scenario.recorded_agent import Reason, ToolNames, known_runs
from inspector.scenario.recorded_batch import play_batch, setups
from inspector.scenario.recorded_run import Kept, PlayedRun, RunSetup, play
from inspector.session.assembly import Ports
from inspector.store.memory import MemoryServerMemory, MemoryStore
from tests.support.fakes import CharacterCounter, FixedApprover, ManualClock, MemoryPrices
from tests.support.memory_servers import MemoryConnector
from tests.support.memory_vectors import MemoryVectors
from tests.support.recordings import LIBRARY

BOOK, LEND, WATER, SOIL = (f"{tool.server}:{tool.name}" for tool in LIBRARY)
PRICES = Prices("priced", input=0.001, output=0.01, cache_read=0.0001)


def ports() -> Ports:
    return Ports(
        MemoryConnector({}),
        MemoryStore(),
        MemoryServerMemory(),
        ManualClock(),
        FixedApprover(),
        model_for=model_for,
        counter_for=lambda _: CharacterCounter(),
        embedder_for=lambda _: None,
        vectors=MemoryVectors(),
        prices=MemoryPrices(PRICES),
    )


def call(tool_id: str, result: str = "ok", **arguments: Any) -> RecordedCall:
    server, name = tool_id.split(":")
    return RecordedCall(name, arguments, result, server=server)


def step(text: str, *calls: RecordedCall, searches: tuple[str, ...] = ()) -> RecordedStep:
    return RecordedStep(text, calls, searches)


def run_of(*steps: RecordedStep, asked: str = "Please.", solved: bool | None = True) -> RecordedRun:
    return RecordedRun("r", "t", (RecordedMessage(asked, steps),), solved)


def played(
    run: RecordedRun, profile: str = "toolsight", tools: Sequence[Tool] = LIBRARY, **values: Any
) -> PlayedRun:
    chosen = {path.replace("__", "."): value for path, value in values.items()}
    chosen.setdefault("discovery.auto", "always")
    chosen.setdefault("discovery.min_probability", 0.0)
    chosen.setdefault("discovery.min_closest", 0.0)
    setup = RunSetup(profile, profile, chosen)
    return asyncio.run(play(run, setup, tools, ports(), Kept(), model="priced"))


def searched(run: PlayedRun) -> dict[str, int]:
    return {reason.value: number for reason, number in run.searches.items() if number}


LENDING = run_of(step("I lend a book.", call(LEND)), step("Done."))


def test_an_agent_without_the_tool_searches_with_its_own_words_and_then_calls_it() -> None:
    run = played(LENDING)
    assert (searched(run), run.calls, run.model_calls, run.rejected) == ({"first": 1}, 1, 3, 0)
    (need,) = run.needs
    assert (need.tool, need.rank, need.returned, need.reached) == (LEND, 1, True, True)


def test_what_no_search_with_its_words_brings_is_looked_up_by_name_and_not_counted_as_found() -> None:
    run = played(run_of(step("Zzz.", call(LEND)), step("Done."), asked="Qqq."), discovery__ranker="bm25")
    assert searched(run) == {"first": 1, "named": 1}
    assert (run.discovered, run.used) == (0, 0)
    (need,) = run.needs
    assert (need.rank, need.returned, need.reached) == (0, False, False)
    assert run.calls == 1
    assert not run.whole


def test_the_agents_own_searches_are_made_again_and_alone_say_what_was_found() -> None:
    own = run_of(step("", searches=("soil moisture",)), step("I lend a book.", call(LEND)), step("Done."))
    run = played(own, discovery__ranker="bm25")
    assert searched(run) == {"own": 1, "first": 1}
    (need,) = run.needs
    assert (need.rank, need.returned, need.reached) == (0, False, True)


def test_a_call_of_an_evicted_tool_hurts_and_is_searched_for_with_what_found_it() -> None:
    alternating = run_of(
        step("I water the plants.", call(WATER)),
        step("I lend a book to a reader.", call(LEND)),
        step("Zzz.", call(WATER, bed=2)),
        step("Done."),
    )
    run = played(alternating, binding__capacity=1, discovery__max_search_results=1)
    assert searched(run) == {"first": 2, "again": 1}
    assert [(lack.tool, lack.cause) for lack in run.evicted] == [(WATER, "lru")]
    assert run.rejected == 0


def test_a_guard_that_steps_in_is_counted_with_the_call_that_it_cost() -> None:
    again = [step("", call(SOIL, "dry")) for _ in range(4)]
    run = played(run_of(*again, step("Done."), asked="The soil's moisture?"))
    assert run.loops >= 1
    assert [lack.cause for lack in run.evicted] == ["loop"]
    assert run.calls == 4


@pytest.mark.parametrize("delivery", ["append", "rewrite", "call_tool", "text"])
def test_every_delivery_makes_the_recorded_calls(delivery: str) -> None:
    two = run_of(
        step("I lend a book and water the plants.", call(LEND, title="Emma"), call(WATER)), step("Done.")
    )
    run = played(two, binding__delivery=delivery)
    assert (run.calls, run.rejected, searched(run)) == (2, 0, {"first": 1})


def events(run: RecordedRun, profile: str = "static", **values: Any) -> list[Event]:
    """The events of a played run, which are not kept afterwards."""
    copied: list[Event] = []

    class Listening(MemoryStore):
        def append(self, record: Record) -> None:
            copied.append(record.event)
            super().append(record)

    listening = replace(ports(), store=Listening())
    chosen = {
        "discovery.auto": "always",
        **{path.replace("__", "."): value for path, value in values.items()},
    }
    asyncio.run(play(run, RunSetup("s", profile, chosen), LIBRARY, listening, Kept(), model="priced"))
    assert listening.store.sessions() == []
    return copied


def test_what_belongs_to_a_message_is_done_after_it_even_if_the_one_before_was_cut_short() -> None:
    first = RecordedMessage("First.", (step("", call(LEND)),))
    second = RecordedMessage("Second.", (step("", call(WATER)), step("Done.")))
    said = events(RecordedRun("r", "t", (first, second)))
    order = [
        event.text if isinstance(event, UserSaid) else event.tool
        for event in said
        if isinstance(event, UserSaid | CallFinished)
    ]
    assert order == ["First.", LEND, "Second.", WATER]


def test_a_call_without_a_recorded_result_says_so() -> None:
    unknown = RecordedCall("lend_book", {}, None, server="library")
    run = played(run_of(RecordedStep("I lend a book.", (unknown,)), step("Done.")), "static")
    # The text is in the conversation of the second call only.
    with_result = played(run_of(step("I lend a book.", call(LEND, NO_RESULT)), step("Done.")), "static")
    assert run.spent == with_result.spent


def test_costs_are_the_models_prices_with_and_without_its_cache() -> None:
    # A prompt cache holds nothing that is shorter than its minimum.
    asked = "Please. " * 200
    spent = played(run_of(*LENDING.steps, asked=asked), "static").spent
    assert spent.uncached == pytest.approx(spent.input * PRICES.input + spent.output * PRICES.output)
    assert spent.cost < spent.uncached


def test_runs_that_share_an_index_and_counts_are_as_alone() -> None:
    kept, shared = Kept(), ports()

    def once(setup: RunSetup) -> PlayedRun:
        return asyncio.run(play(LENDING, setup, LIBRARY, shared, kept, model="priced"))

    chosen = setups(["toolsight", "static", "prd"], {}, {"binding.capacity": [1, 8]})
    first = [once(setup) for setup in chosen]
    assert [once(setup) for setup in reversed(chosen)] == first[::-1]


def test_calls_without_a_definition_are_left_out_and_named_and_void_the_bill() -> None:
    run = RecordedRun(
        "r",
        "t",
        (
            RecordedMessage(
                "Please.",
                (
                    step("First this.", RecordedCall("nap", server="local")),
                    step("Now that.", call(LEND)),
                    step("Done."),
                ),
            ),
        ),
        input_tokens=100,
    )
    known = known_runs([run, run_of(step("", RecordedCall("nap", server="local")))], LIBRARY)
    assert known.without == {"local/nap": 2}
    assert (known.calls, known.dropped, len(known.runs)) == (3, 1, 1)
    assert known.runs[0].input_tokens is None
    assert [one.text for one in known.runs[0].steps] == ["First this.\n\nNow that.", "Done."]


@pytest.mark.parametrize(
    ("server", "name", "found"),
    [
        ("library", "lend_book", LEND),
        ("", "library-lend_book", LEND),
        ("", "library__lend_book", LEND),
        ("", "lend_book", LEND),
        ("unheard-of", "lend_book", None),
        ("garden", "lend_book", None),
        ("", "Lend_Book", None),
        ("", "find_book", None),
    ],
)
def test_a_recordings_name_finds_its_tool_only_if_it_can_mean_no_other(
    server: str, name: str, found: str | None
) -> None:
    tool = ToolNames([*LIBRARY, Tool("garden", "find_book")]).find(RecordedCall(name, server=server))
    assert (tool.id if tool else None) == found


def test_a_batch_compares_every_setup_with_the_first_on_the_same_runs() -> None:
    runs = [
        RecordedRun(f"r{n}", f"t{n % 2}", LENDING.messages, solved=n % 2 == 0, input_tokens=3000)
        for n in range(4)
    ]
    known = known_runs(runs, LIBRARY)
    chosen = setups(["toolsight"], {"discovery.auto": "always"}, {"discovery.max_search_results": [1, 4]})
    chosen += setups(["static"], {}, {})
    batch = play_batch(known, LIBRARY, chosen, ports(), model="priced")
    few, many, static = batch.summaries
    assert [one.setup.name for one in batch.summaries] == [
        "toolsight max_search_results 1",
        "toolsight max_search_results 4",
        "static",
    ]
    assert (few.runs, few.tasks, few.solved) == (4, 2, 2)
    assert few.cost_ratio is not None
    assert few.cost_ratio.mean == few.cost_ratio.low == few.cost_ratio.high == 1
    assert many.cost_ratio is not None
    assert many.cost_ratio.mean > 1
    assert static.recall[5] is None
    assert batch.bills["static"].mean == pytest.approx(3000 / batch.played["static"][0].spent.input)


def test_a_batch_that_is_stopped_tells_of_the_runs_so_far() -> None:
    known, answers = known_runs([LENDING] * 3, LIBRARY), iter([False, True])
    chosen = setups(["static"], {}, {})
    batch = play_batch(known, LIBRARY, chosen, ports(), model="priced", stopped=lambda: next(answers))
    assert batch.summaries[0].runs == 1


def test_a_run_may_have_only_the_servers_that_it_called() -> None:
    known, chosen = known_runs([LENDING], LIBRARY), setups(["static"], {}, {})
    alone, among = (
        play_batch(known, LIBRARY, chosen, ports(), model="priced", own_servers=own).summaries[0].tool_tokens
        for own in (True, False)
    )
    assert alone is not None
    assert among is not None
    assert alone.mean < among.mean


def test_reasons_are_told_apart_in_the_summary() -> None:
    known = known_runs([LENDING], LIBRARY)
    values = {"discovery.auto": "always", "discovery.min_probability": 0.0, "discovery.min_closest": 0.0}
    chosen = setups(["toolsight"], values, {})
    (summary,) = play_batch(known, LIBRARY, chosen, ports(), model="priced").summaries
    assert summary.searches == {Reason.OWN: 0, Reason.FIRST: 1, Reason.AGAIN: 0, Reason.NAMED: 0}
    assert summary.whole is not None
    assert summary.whole.mean == 1
    assert summary.used is not None
    assert 0 < summary.used.mean <= 1


def test_a_run_that_did_not_reach_its_tools_costs_but_counts_as_no_solved_one() -> None:
    known = known_runs([LENDING], LIBRARY)
    values = {"gate.ranker": "bm25", "gate.threshold": 1000.0}
    chosen = setups(["attention"], values, {})
    (summary,) = play_batch(known, LIBRARY, chosen, ports(), model="priced").summaries
    assert summary.cost is not None
    assert summary.cost_reached is None
