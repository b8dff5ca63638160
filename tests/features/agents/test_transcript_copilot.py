"""Events of Copilot CLI: exact totals, sub-agents as sessions, tools by their servers."""

from typing import Any

from inspector.features.agents.importing import Importer
from inspector.features.agents.transcript import (
    TOTALS,
    Answered,
    Asked,
    Begun,
    Called,
    Compacted,
    Interrupted,
)
from inspector.features.agents.transcript_file.reader import Format, line_reader, open_transcript
from inspector.store.memory import MemoryStore
from tests.support.fakes import WordCounter
from tests.support.transcripts import FILES, fed, line, of, read, total, whole

COPILOT = Format.COPILOT


def event(kind: str, number: int = 1, **data: Any) -> dict[str, Any]:
    """An event, as Copilot CLI writes it."""
    at = f"2026-10-09T08:00:{number:02}Z"
    return {"type": kind, "data": data, "id": f"e-{number}", "timestamp": at, "parentId": None}


def answer(number: int, **data: Any) -> dict[str, Any]:
    told = {"apiCallId": f"a-{number}", "content": "a", "model": "m", **data}
    return event("assistant.message", number, **told)


def shutdown(number: int, **usage: int) -> dict[str, Any]:
    return event("session.shutdown", number, modelMetrics={"m": {"usage": usage}})


def test_tokens_are_those_of_the_totals_whatever_single_answers_say() -> None:
    assert total(whole(FILES[COPILOT])) == (22100 + 9000 + 8200, 130 + 40 + 8, 23300, 4900)
    entries = read(COPILOT, answer(1, outputTokens=5), shutdown(2, inputTokens=90, outputTokens=12))
    assert [one.usage.output_tokens for one in of(Answered, entries)] == [5, 7]
    assert of(Answered, entries)[1].finish_reason == TOTALS


def test_totals_count_from_the_last_resume() -> None:
    first = (answer(1, outputTokens=5), shutdown(2, inputTokens=90, outputTokens=5))
    second = (event("session.resume", 3), answer(4, outputTokens=6))
    entries = read(COPILOT, *first, *second, shutdown(5, inputTokens=40, outputTokens=8))
    assert total(entries)[:2] == (130, 13)


def test_parts_of_an_answer_are_one_and_its_tokens_are_told_on_each() -> None:
    parts = (answer(1, apiCallId="a", outputTokens=9), answer(2, apiCallId="a", outputTokens=9, content="b"))
    (only,) = of(Answered, read(COPILOT, *parts))
    assert (only.text, only.usage.output_tokens) == ("a\n\nb", 9)


def test_an_event_that_is_copied_counts_once_and_a_passing_one_not_at_all() -> None:
    asked = event("user.message", 1, content="late orders?")
    passing = {**event("user.message", 2, content="a draft"), "ephemeral": True}
    assert [one.text for one in of(Asked, read(COPILOT, asked, asked, passing))] == ["late orders?"]


def test_calls_have_their_server_time_and_outcome() -> None:
    told = [
        (one.tool.server, one.tool.name, one.ok, one.text, one.milliseconds)
        for one in of(Called, whole(FILES[COPILOT]))
    ]
    assert told == [
        ("bakery", "order_flour", False, "the mill is closed", 2000.0),
        ("", "bash", True, "log.txt", 0.0),
        ("town", "find_mill", True, "The water mill is open.", 1000.0),
        ("", "task", True, "The water mill.", 3000.0),
    ]


def test_what_is_injected_was_not_asked_and_the_task_of_a_sub_agent_was() -> None:
    asked = ["Order 20 kg of rye flour.", "Find another mill.", "Order there."]
    assert [one.text for one in of(Asked, whole(FILES[COPILOT]))] == asked
    injected = event("user.message", 1, content="Read this.", source="skill-pdf")
    goes_on = event("user.message", 2, content="Go on.", isAutopilotContinuation=True)
    assert of(Asked, read(COPILOT, injected, goes_on)) == []


def test_a_compaction_and_a_stop_are_told_and_what_a_person_ran_is_no_call_of_the_model() -> None:
    entries = whole(FILES[COPILOT])
    assert [(one.before, one.after, one.automatic) for one in of(Compacted, entries)] == [(8100, 4000, True)]
    assert [one.by_user for one in of(Interrupted, entries)] == [True]
    done = event(
        "tool.execution_complete", toolCallId="t", toolName="bash", success=True, isUserRequested=True
    )
    assert of(Called, read(COPILOT, done)) == []


def test_a_sub_agent_is_a_session_of_its_own_below_its_parent() -> None:
    store = MemoryStore()
    Importer(store, lambda _: WordCounter()).run(open_transcript(FILES[COPILOT]), file="events.jsonl")
    found = {one.calls: one for one in store.sessions()}
    assert sorted(found) == [1, 3]
    begun = of(Begun, whole(FILES[COPILOT]))
    assert [(one.session, one.parent) for one in begun] == [
        ("session-bakery", ""),
        ("agent-mill", "session-bakery"),
        ("session-bakery", ""),
    ]


def test_an_event_of_a_later_version_is_counted_by_its_kind() -> None:
    reader = line_reader(COPILOT)
    entries = fed(reader, map(line, (event("session.novelty"), answer(2), event("hook.start", 3))))
    assert len(of(Answered, entries)) == 1
    assert (reader.tally.unknown, reader.tally.left_out) == ({"session.novelty": 1}, {"hook.start": 1})
