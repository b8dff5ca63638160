"""Stored sessions as recorded runs: Toolsight's own, imported ones, and the recording that ships."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace

from inspector.core.error import ConfigError
from inspector.core.events import CallStarted, Record
from inspector.core.events.base import record_json
from inspector.core.tool import Tool
from inspector.features.agents.agent_session import AgentSession
from inspector.features.agents.importing import Importer
from inspector.features.agents.transcript import AgentTool, Answered, Asked, Begun, Called, Entry
from inspector.features.agents.transcript_file.format import Format
from inspector.features.agents.transcript_file.reader import open_transcript
from inspector.features.lab.runs.recorded_agent import known_runs
from inspector.features.lab.runs.recorded_batch import play_batch, setups
from inspector.features.lab.runs.recorded_run import Kept, RunSetup, play
from inspector.features.lab.runs.recording import profiles_for, read_runs, session_run
from inspector.mcp.recorded_link import RecordedMessage, RecordedRun, RecordedStep
from inspector.store.store import MemoryStore
from tests.core.test_event import json_lines
from tests.features.lab.runs.test_recorded_runs import LEND, SOIL, WATER, call, ports, run_of, step
from tests.support.fakes import WordCounter
from tests.support.recordings import LIBRARY, write
from tests.support.transcripts import FILES

TOOLS = (LEND, SOIL, WATER)


def session(run: RecordedRun, profile: str = "toolsight", tools: Sequence[Tool] = LIBRARY) -> list[Record]:
    """The records of a run that is played: a session as the store has it."""
    records: list[Record] = []

    class Listening(MemoryStore):
        def append(self, record: Record) -> None:
            records.append(record)
            super().append(record)

    listening = replace(ports(), store=Listening())
    setup = RunSetup(profile, profile, {"discovery.auto": "always"})
    asyncio.run(play(run, setup, tools, listening, Kept(), model="priced"))
    return records


def called(records: Sequence[Record]) -> list[str]:
    return [record.event.tool for record in records if isinstance(record.event, CallStarted)]


def again(records: Sequence[Record], profile: str) -> list[Record]:
    """The session played again, as a session of its own."""
    run = session_run(records, {})
    assert run is not None
    (known,) = known_runs([run], ()).runs
    return session(known, profile, known.tools)


words = st.sampled_from(("I lend a book.", "The soil?", "Water the beds.", "Qqq.", ""))
steps = st.builds(
    RecordedStep,
    words,
    st.lists(st.sampled_from(TOOLS).map(call), max_size=3).map(tuple),
    st.lists(st.sampled_from(("lend a book", "soil moisture")), max_size=1).map(tuple),
)
messages = st.builds(RecordedMessage, words, st.lists(steps, min_size=1, max_size=3).map(tuple))


@settings(max_examples=25, deadline=None)
@given(st.lists(messages, min_size=1, max_size=3), st.sampled_from(("toolsight", "static", "prd")))
def test_a_session_played_again_under_its_own_profile_calls_the_same_tools_in_the_same_order(
    said: list[RecordedMessage], profile: str
) -> None:
    first = session(RecordedRun("r", "t", tuple(said)), profile)
    if called(first):
        second = again(first, profile)
        assert called(second) == called(first)
        assert called(again(second, profile)) == called(first)


def imported(*entries: Entry) -> list[Record]:
    """The records of an agent's session, as an import stores them."""
    agent = AgentSession(Begun("claude-code", "s1", model="claude-x"), WordCounter(), "s1.jsonl")
    events = [agent.start(), *(event for entry in entries for event in agent.after(entry)), *agent.end()]
    return [Record("s1", seq, 0.0, event) for seq, event in enumerate(events, start=1)]


LENT = AgentTool("lend_book", "library", "mcp__library__lend_book")
ASKED = (
    Asked("Lend Emma.", 1.0),
    Answered("a1", "m", "I lend a book."),
    Called("c1", LENT, {"title": "Emma"}, "lent"),
    Called("c2", AgentTool("Bash"), {"command": "ls"}, "emma.txt"),
)


def test_a_connected_server_defines_a_tool_that_a_transcript_only_names() -> None:
    connected = {tool.id: tool for tool in LIBRARY}
    run = session_run(imported(*ASKED), connected)
    assert run is not None
    assert [tool.id for tool in run.tools] == [LEND]
    known = known_runs([run], ())
    assert known.without == {"claude-code/Bash": 1}
    assert called(session(known.runs[0], tools=run.tools)) == [LEND]


def test_a_transcripts_own_definition_is_used_before_that_of_a_connected_server() -> None:
    own = {"name": "lend_book", "description": "Lend, as it was then.", "parameters": {}}
    defined = replace(LENT, definition=own)
    run = session_run(
        imported(*ASKED[:2], replace(ASKED[2], tool=defined)), {tool.id: tool for tool in LIBRARY}
    )
    assert run is not None
    assert [tool.description for tool in run.tools] == ["Lend, as it was then."]


@pytest.mark.parametrize("kind", FILES)
def test_a_session_of_every_agent_is_a_run_with_its_messages_and_calls(kind: Format) -> None:
    store = MemoryStore()
    done = Importer(store, lambda _: WordCounter()).run(
        open_transcript(FILES[kind]).entries(), file="f", at=1.0
    )
    runs = [session_run(store.read(one.id), {}) for one in done.sessions]
    calls = [called(store.read(one.id)) for one in done.sessions]
    assert any(calls)
    for run, tools in zip(runs, calls, strict=True):
        assert [f"{one.server}:{one.tool}" for one in (run.calls if run else ())] == tools


def test_a_session_that_was_printed_as_events_is_read_with_its_tools(tmp_path: Path) -> None:
    records = session(run_of(step("I lend a book.", call(LEND)), step("Done."), asked="Lend\nEmma."))
    write(tmp_path / "one.json", [record_json(record) for record in records])
    (tmp_path / "two.jsonl").write_text(json_lines(records))
    found = read_runs(tmp_path)
    assert found.formats == {"Toolsight session": 2}
    for run in found.runs:
        assert (run.task, run.solved, run.profile) == ("Lend Emma.", None, "toolsight")
        assert {tool.id for tool in run.tools} == {tool.id for tool in LIBRARY}
        assert [call.result for call in run.calls] == ["ok"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"session": "s", "seq": "x", "kind": "user", "event": {"text": "a"}}, "[0]: seq"),
        ({"session": "s", "seq": 1, "kind": "user", "event": {}}, "does not fit this version"),
        ({"session": "s", "seq": 1, "kind": "user", "event": 3}, "[0]: event"),
    ],
)
def test_a_faulty_event_is_an_error_with_its_place(tmp_path: Path, line: object, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_runs(write(tmp_path / "s.json", [line]))
    assert said in caught.value.message


def test_costs_are_those_of_a_run_if_nobody_knows_which_were_solved() -> None:
    run = run_of(step("I lend a book.", call(LEND)), step("Done."), solved=None)
    known, chosen = known_runs([run, replace(run, id="q")], LIBRARY), setups(["static"], {}, {})
    batch = play_batch(known, LIBRARY, chosen, ports(), model="priced")
    (summary,) = batch.summaries
    assert (summary.judged, summary.solved) == (0, 0)
    assert summary.cost is not None
    assert summary.cost.mean == pytest.approx(batch.played["static"][0].spent.cost)


@pytest.mark.parametrize(
    ("recorded", "played"),
    [
        ((), ("toolsight", "static", "attention")),
        (("toolsight", "static"), ("toolsight", "static", "attention")),
        (("kaman", "prd", "kaman"), ("toolsight", "static", "kaman")),
        (("of another version",), ("toolsight", "static", "attention")),
    ],
)
def test_the_profile_that_runs_were_recorded_under_is_among_the_three(
    recorded: tuple[str, ...], played: tuple[str, ...]
) -> None:
    runs = [replace(run_of(step("Done.")), profile=profile) for profile in recorded]
    assert profiles_for(runs) == played
