"""Recorded runs: how they are read, and how they are played again."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from inspector.cli.composition import model_for
from inspector.core.budget import Prices
from inspector.core.error import ConfigError
from inspector.core.tool import Tool
from inspector.features.lab.runs.recorded_agent import ToolNames, known_runs
from inspector.features.lab.runs.recorded_batch import play_batch, setups
from inspector.features.lab.runs.recorded_run import Kept, PlayedRun, RunSetup, play
from inspector.features.lab.runs.recording import read_runs
from inspector.mcp.recorded_link import (
    RecordedCall,
    RecordedMessage,
    RecordedRun,
    RecordedStep,
    read_definitions,
)
from inspector.session.assembly import Ports
from inspector.store.server_memory import MemoryServerMemory
from inspector.store.store import MemoryStore
from tests.support.fakes import CharacterCounter, FixedApprover, ManualClock, MemoryPrices
from tests.support.memory_servers import MemoryConnector
from tests.support.memory_vectors import MemoryEmbedder, MemoryVectors
from tests.support.recordings import LIBRARY, write, write_lines

BOOK, LEND, WATER, SOIL = (f"{tool.server}:{tool.name}" for tool in LIBRARY)
# Every search returns what it ranks.
FREE = {"discovery.auto": "always", "discovery.min_probability": 0.0, "discovery.min_closest": 0.0}
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
    setup = RunSetup(profile, profile, FREE | {path.replace("__", "."): one for path, one in values.items()})
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


@pytest.mark.parametrize("delivery", ["append", "rewrite", "call_tool", "text", "code"])
def test_every_delivery_makes_the_recorded_calls(delivery: str) -> None:
    two = run_of(
        step("I lend a book and water the plants.", call(LEND, title="Emma"), call(WATER)), step("Done.")
    )
    run = played(two, binding__delivery=delivery)
    assert (run.calls, run.rejected, searched(run)) == (2, 0, {"first": 1})


def test_a_script_makes_the_calls_of_several_steps_and_keeps_what_nobody_reads_from_the_model() -> None:
    first = call(LEND, '{"loan": "loan-4711", "text": "' + "words " * 40 + '"}', title="Emma")
    run = run_of(
        step("I lend a book and water the plants.", first, call(WATER, "first", bed=1)),
        step("", call(WATER, "second", bed="loan-4711")),
        step("Done."),
    )
    one, two = (played(run, binding__delivery=way) for way in ("call_tool", "code"))
    assert (one.calls, two.calls, one.rejected, two.rejected) == (3, 3, 0, 0)
    assert (one.model_calls, two.model_calls) == (4, 3)


def test_runs_that_share_an_index_and_counts_are_as_alone() -> None:
    embedder = MemoryEmbedder()
    kept, shared = Kept(), replace(ports(), embedder_for=lambda _: embedder)

    def once(setup: RunSetup) -> PlayedRun:
        return asyncio.run(play(LENDING, setup, LIBRARY, shared, kept, model="priced"))

    chosen = setups(["toolsight", "static", "prd", "attention"], {}, {"binding.capacity": [1, 8]})
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


def test_a_run_whose_searches_led_to_no_call_counts_unsolved_and_at_its_cost_for_every_setup() -> None:
    run = run_of(step("I look.", searches=("teleport",)), step("There is none."), solved=False)
    known = known_runs([run, run_of(step("Hello."))], LIBRARY)
    assert (known.runs, known.dropped) == ((run,), 1)
    for profile in ("static", "toolsight"):
        one = played(run, profile)
        assert (one.solved, one.calls, one.needs) == (False, 0, ())
        assert one.spent.input > 0


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


def test_only_a_call_that_was_answered_as_unknown_has_a_wrong_name() -> None:
    made_up, other = call("library:steal_book", "Unknown tool: steal_book"), call("library:burn_book")
    told = call(LEND, "Unknown tool: of a garden")
    known = known_runs([run_of(step("Go.", made_up, other, told))], LIBRARY)
    assert known.unknown == {"library/steal_book": 1}
    assert set(known.without) == {"library/steal_book", "library/burn_book"}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path / "absent", "absent does not exist"),
        (lambda path: write(path / "x.json", {"a": 1}).parent, "no recorded runs"),
        (lambda path: _bytes(path / "cut.json", b'{"messages": [{"ro'), "cut.json is not JSON"),
        (lambda path: _bytes(path / "deep.json", b"[" * 200_000), "nested too deeply"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_file_and_hint(
    tmp_path: Path, make: Callable[[Path], Path], said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        read_runs(make(tmp_path))
    assert said in caught.value.message
    assert caught.value.hint


def _bytes(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path.parent


@pytest.mark.parametrize(
    "form", ["by server", "one server", "list", "lines", "nested", "functions", "answer"]
)
def test_definitions_are_read_in_every_usual_form(tmp_path: Path, form: str) -> None:
    tools = [
        {"name": tool.name, "description": tool.description, "inputSchema": {"type": "object"}}
        for tool in LIBRARY
        if tool.server == "garden"
    ]
    functions = [
        {"type": "function", "function": {"name": one["name"], "parameters": one["inputSchema"]}}
        for one in tools
    ]
    values = {
        "by server": {"garden": {"tools": tools}},
        "one server": {"tools": tools},
        "list": tools,
        "nested": [{"name": "Garden MCP", "tools": {"garden": {"server_name": "garden", "tools": tools}}}],
        "functions": {"tools": functions},
        "answer": {"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}},
    }
    path = tmp_path / "garden.json"
    if form == "lines":
        write_lines(path, *tools)
    else:
        write(path, values[form])
    assert [tool.id for tool in read_definitions([path])] == ["garden:water_plants", "garden:soil_report"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "has no tools"),
        ('{"tools": [{"description": "nameless"}]}', "has no tools"),
        ('{"tools": [{"name": "a", "inputSchema": 3}]}', "inputSchema must be an object"),
        ("{", "is not JSON"),
    ],
)
def test_a_faulty_file_of_tools_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "tools.json"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_definitions([path])
    assert str(path) in caught.value.message
    assert said in caught.value.message
    assert caught.value.hint
