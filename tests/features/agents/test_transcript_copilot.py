"""Events of Copilot CLI: exact totals, sub-agents as sessions, tools by their servers."""

from typing import Any

from inspector.features.agents.transcript import (
    Answered,
    Asked,
)
from inspector.features.agents.transcript_file.format import Format
from inspector.features.agents.transcript_file.reader import line_reader
from tests.support.transcripts import fed, line, of, read, total

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


def test_an_event_of_a_later_version_is_counted_by_its_kind() -> None:
    reader = line_reader(COPILOT)
    entries = fed(reader, map(line, (event("session.novelty"), answer(2), event("hook.start", 3))))
    assert len(of(Answered, entries)) == 1
    assert (reader.tally.unknown, reader.tally.left_out) == ({"session.novelty": 1}, {"hook.start": 1})
