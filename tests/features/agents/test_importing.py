"""Imports: each session once, whole, without a secret, whatever stopped an import before."""

from collections.abc import Callable

import pytest
from hypothesis import assume, given, strategies as st
from msgspec.structs import replace

from inspector.core.events import Record, SessionStarted
from inspector.core.message import ToolCall
from inspector.features.agents import importing
from inspector.features.agents.agent_session import session_id
from inspector.features.agents.importing import Imported, Importer
from inspector.features.agents.transcript import (
    AgentTool,
    Answered,
    Asked,
    Begun,
    Called,
    Compacted,
    Entry,
    Interrupted,
    Searched,
    ServerAnnounced,
    ToolsOffered,
)
from inspector.store.codec import encode
from inspector.store.store import MemoryStore
from tests.support.fakes import WordCounter

BEGUN = Begun("claude-code", "6d1f2c9a-1", at=100.0)
SECRETS = (
    "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
)
LATE = AgentTool("late_orders", "shop", "mcp__shop__late_orders")

calls = st.integers(0, 3).map(lambda number: Called(f"c{number}", LATE, {"week": number}, "late"))
answers = st.builds(
    lambda id_, text: Answered(id_, "m", text), st.sampled_from("abc"), st.sampled_from(["", "hi"])
)
entries = st.lists(
    st.sampled_from(
        [
            Asked("which?", 101.0),
            Searched("s1", "late orders", found=(LATE,), at=102.0),
            Compacted("all of it"),
            Interrupted("stop", by_user=True),
            ToolsOffered((LATE,), deferred=True),
            ServerAnnounced("shop", "Ask."),
        ]
    )
    | calls
    | answers,
    max_size=20,
)


def imported(
    store: MemoryStore, *said: Entry, stopped: Callable[[], bool] = lambda: False, file: str = "a.jsonl"
) -> Imported:
    return Importer(store, lambda _: WordCounter()).run(said, file=file, stopped=stopped)


def streams(store: MemoryStore) -> dict[str, list[Record]]:
    return {summary.id: store.read(summary.id) for summary in store.sessions()}


def of(*said: Entry) -> dict[str, list[Record]]:
    """What one import of these entries stores."""
    store = MemoryStore()
    imported(store, *said)
    return streams(store)


@given(entries)
def test_importing_twice_changes_nothing(said: list[Entry]) -> None:
    store = MemoryStore()
    first = imported(store, BEGUN, *said)
    before = streams(store)
    again = imported(store, BEGUN, *said)
    assert streams(store) == before
    assert (first.new, first.added) == (1, len(before[first.sessions[0].id]))
    assert (again.new, again.added) == (0, 0)


@given(entries, entries)
def test_a_transcript_that_grew_ends_up_as_if_imported_at_once(said: list[Entry], more: list[Entry]) -> None:
    # What is offered last is stored at the end of what there is, and else with what follows it.
    told = [one for one in said if not isinstance(one, Asked | Compacted | Interrupted)]
    assume(not told or isinstance(told[-1], Answered | Searched | Called))
    store = MemoryStore()
    imported(store, BEGUN, *said)
    imported(store, BEGUN, *said, *more)
    assert streams(store) == of(BEGUN, *said, *more)


@given(entries, st.integers(0, 20))
def test_a_shorter_copy_without_times_takes_nothing_away(said: list[Entry], kept: int) -> None:
    timeless: list[Entry] = [replace(BEGUN, at=None), *(replace(entry, at=None) for entry in said)]
    store = MemoryStore()
    importer = Importer(store, lambda _: WordCounter())
    importer.run(timeless, file="a.jsonl", at=1000.0)
    [before] = streams(store).values()
    importer.run(timeless[: kept + 1], file="copy.jsonl", at=2000.0)
    [after] = streams(store).values()
    # How the last turn ended may be told by either.
    assert after[: len(before) - 1] == before[:-1]
    assert len(after) == len(before)


@given(entries, st.integers(1, 20))
def test_a_stopped_import_leaves_a_session_that_the_next_one_completes(said: list[Entry], after: int) -> None:
    store, left = MemoryStore(), iter(range(after))
    imported(store, BEGUN, *said, stopped=lambda: next(left, None) is None)
    [stream] = streams(store).values()
    assert [record.seq for record in stream] == list(range(1, len(stream) + 1))
    imported(store, BEGUN, *said)
    assert streams(store) == of(BEGUN, *said)


def test_a_session_that_another_program_writes_is_left_to_it() -> None:
    store = MemoryStore()
    imported(store, BEGUN, Asked("one"))
    before = streams(store)
    store.written_elsewhere |= before.keys()
    done = imported(store, BEGUN, Asked("one"), Asked("two"))
    assert (done.held, done.sessions) == (list(before), [])
    assert streams(store) == before


def test_an_answer_that_was_half_written_is_replaced_by_the_whole_one() -> None:
    store = MemoryStore()
    imported(store, BEGUN, Asked("hi"), Answered("a", text="It is"))
    whole = (BEGUN, Asked("hi"), Answered("a", text="It is late."), Asked("thanks"))
    imported(store, *whole)
    assert streams(store) == of(*whole)


def test_what_other_rules_imported_is_imported_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "_COMPARED", 1)
    store = MemoryStore()
    imported(store, BEGUN, Asked("hi"), Asked("there"))
    [(session, stream)] = streams(store).items()
    first = stream[0].event
    assert isinstance(first, SessionStarted)
    assert first.origin is not None
    store.cut(session, 0)
    old = replace(first, origin=replace(first.origin, reading=0))
    store.append_all([replace(stream[0], event=old), *stream[2:]])
    store.release(session)
    assert imported(store, BEGUN, Asked("hi"), Asked("there")).added == len(stream)
    assert streams(store)[session] == stream


@pytest.mark.parametrize("secret", SECRETS)
@given(entries, st.data())
def test_a_secret_in_a_transcript_is_never_stored(
    secret: str, said: list[Entry], data: st.DataObject
) -> None:
    texts = (f"use {secret}", f"Authorization: Bearer {secret}", f'{{"api_key": "{secret}"}}')
    text = data.draw(st.sampled_from(texts))
    told: list[Entry] = [
        Asked(text),
        Answered("x", text=text, calls=(ToolCall("c", "f", {"token": secret, "deep": [{"a": text}]}),)),
        Called("c", LATE, {"password": secret, "note": text}, text),
        Searched("s", text, names=(text,), error=text),
        ServerAnnounced("shop", text),
        ToolsOffered((replace(LATE, definition={"description": text, "parameters": {"default": text}}),)),
        Compacted(text),
        Interrupted(text),
    ]
    place = data.draw(st.integers(0, len(said)))
    found = of(replace(BEGUN, folder=text), *said[:place], *data.draw(st.permutations(told)), *said[place:])
    stored = "".join(encode(record.event) for stream in found.values() for record in stream)
    assert secret not in stored
    assert "[redacted" in stored


def test_times_are_the_transcripts_and_what_has_none_has_the_last_one() -> None:
    [stream] = of(BEGUN, Asked("hi", 105.5), Called("c", LATE), Asked("there", 107.0)).values()
    assert [record.at for record in stream if record.kind in ("session", "user")] == [100.0, 105.5, 107.0]
    assert {record.at for record in stream if record.kind in ("call", "result")} == {105.5}


def test_several_sessions_of_one_file_stay_apart() -> None:
    other = replace(BEGUN, session="other")
    alone = {**of(BEGUN, Asked("one"), Asked("two")), **of(other, Asked("three"))}
    mixed = of(BEGUN, Asked("one"), other, Asked("three"), BEGUN, Asked("two"))
    events = {id_: [record.event for record in stream] for id_, stream in mixed.items()}
    assert events == {id_: [record.event for record in stream] for id_, stream in alone.items()}


def test_a_transcript_that_does_not_say_whose_it_is_is_a_session_too() -> None:
    store = MemoryStore()
    done = Importer(store, lambda _: WordCounter()).run([Asked("hi")], file="a.json", agent="openai")
    assert done.sessions[0].agent == "openai"
    assert store.sessions()[0].agent == "openai"


@given(entries, entries)
def test_transcripts_of_one_name_that_name_no_session_stay_apart(
    said: list[Entry], others: list[Entry]
) -> None:
    nameless, store = replace(BEGUN, session=""), MemoryStore()
    imported(store, nameless, Asked("one", 101.0), *said, *[Asked("again")] * 20)
    before = streams(store)
    imported(store, nameless, Asked("one", 500.0), *others)
    imported(store, nameless, Asked("one", 101.0), *said, *[Asked("again")] * 20)
    after = streams(store)
    assert len(after) == 2
    assert before.items() <= after.items()


def test_the_copied_head_of_a_fork_takes_nothing_from_its_parent() -> None:
    head = (BEGUN, Asked("one", 101.0), Answered("a", text="1", at=102.0))
    fork = (replace(BEGUN, session="fork"), Asked("other", 999.0), Answered("b", text="2", at=1000.0))
    store = MemoryStore()
    imported(store, *head, Asked("two", 103.0), Answered("c", text="3", at=104.0))
    before = streams(store)
    imported(store, *head, *fork, file="fork.jsonl")
    assert before.items() <= streams(store).items()
    assert len(streams(store)) == 2


def test_ids_differ_by_agent_session_and_sub_agent_and_are_safe_in_any_path() -> None:
    begun = Begun("codex", "0199-a/..\u202eb")
    ids = {
        session_id(begun, "a"),
        session_id(replace(begun, agent="other"), "a"),
        session_id(replace(begun, parent="p"), "a"),
        session_id(replace(begun, session="0199-b"), "a"),
        session_id(replace(begun, session=""), "a"),
        session_id(replace(begun, session=""), "b"),
        session_id(replace(begun, session=""), "b", "first"),
    }
    assert len(ids) == 7
    assert all(set(id_) <= set("abcdefghijklmnopqrstuvwxyz0123456789-._") for id_ in ids)
