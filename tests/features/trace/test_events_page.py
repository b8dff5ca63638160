"""The list of events: goes on without reading everything again, and exports what is shown."""

import pytest

from inspector.app.draw.line import feed_rows
from inspector.core.budget import Budget, TokenParts
from inspector.core.events import (
    AnswerStreamed,
    BudgetMeasured,
    CallCounted,
    Event,
    IndexChanged,
    Record,
    ServerStopped,
    UserSaid,
)
from inspector.core.ranking import IndexPhase, IndexState, SearchRequest
from inspector.features.trace.events_page import continued, in_group
from tests.support.app import app_rig, goes, seen, until
from widgets import RecordList


def record(seq: int, event: Event | None = None) -> Record:
    return Record("s", seq, 0.0, event or ServerStopped("shop"))


@pytest.mark.parametrize("seqs", [(4,), (2, 4)])
def test_a_gap_in_the_feed_means_reading_the_store(seqs: tuple[int, ...]) -> None:
    assert continued([record(1)], tuple(record(seq) for seq in seqs)) is None


def test_what_only_keeps_count_or_tells_progress_is_left_out_of_what_happened() -> None:
    progress, ready = (
        IndexChanged(IndexState(phase, "m", 1, 2)) for phase in (IndexPhase.EMBEDDING, IndexPhase.READY)
    )
    counted = CallCounted("a:b", "5f", "{}", 1, 1)
    measured = BudgetMeasured(Budget(100, TokenParts(), 0))
    stream = [record(n, event) for n, event in enumerate((progress, counted, measured, ready), start=1)]
    assert [row.event for row in in_group(stream, "main")] == [ready]
    assert [row.key for row in feed_rows(tuple(stream))] == ["4"]
    assert len(in_group(stream, "all")) == 4
    streamed = [record(1, UserSaid("x")), record(2, AnswerStreamed("y"))]
    assert [len(in_group(streamed, group)) for group in ("all", "model")] == [1, 2]


async def test_new_events_are_added_without_reading_the_store() -> None:
    async with app_rig() as (pilot, rig):
        await goes(pilot, "events")
        events = pilot.app.screen.query_one("#events", RecordList)
        await until(pilot, lambda: bool(events.records))
        before = len(events.records)

        def refuse(*_: object) -> list[Record]:
            raise AssertionError("read again")

        rig.bench.records = refuse  # type: ignore[method-assign, assignment]
        rig.bench.search(SearchRequest("forecast"))
        await until(pilot, lambda: len(events.records) == before + 1)
        assert events.records[-1].key == events.records[-1].cells[0] == str(rig.store.read("s")[-1].seq)
        await pilot.press("t", "t")
        await until(pilot, lambda: "t shows the next group" in seen(pilot))
