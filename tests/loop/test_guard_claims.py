"""Whatever a model searches for, the guards say of it only what they saw."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, strategies as st

from inspector.core.events import Event, LoopDetected, RedundantSearch, SearchPerformed
from inspector.core.number import percent
from inspector.core.settings import ChatSettings, Settings
from inspector.loop.iteration_guard import normalised
from inspector.schema.json_value import JsonObject, canonical
from tests.loop.test_chat import Bench
from tests.support.fakes import says, searches

FIND = ({"query": "orders"}, {"query": " orders"}, {"query": "orders", "limit": 1}, {"query": "forecast"})
NOTHING = ({"query": "recite a poem"}, {"query": "poem recital"}, {"query": "bake a pizza"})
ERRORS: Sequence[JsonObject] = (
    {},
    {"query": " "},
    {"server_name": "bakery"},
    {"query": "x", "domain": ["y"]},
)
BY_NAME = ({"tool_names": ["list_orders"]}, {"tool_names": ["lost_orders"]}, {"server_name": "shop"})
SEARCHES = st.sampled_from((*FIND, *NOTHING, *ERRORS, *BY_NAME))
# Few kinds in a session, so that equal searches meet.
TURNS = st.lists(SEARCHES, min_size=1, max_size=3).flatmap(
    lambda few: st.lists(st.lists(st.sampled_from(few), min_size=1, max_size=8), min_size=1, max_size=3)
)

_CLAIMS = re.compile(
    r"\bsame\b|identical|\d times|[0-9]+ %|earlier search|in a row|Loop|Note:", re.IGNORECASE
)


@dataclass
class Seen:
    """What was searched for so far, and what came of it."""

    made: list[str] = field(default_factory=list)
    results: list[tuple[str, ...]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    turn: int = 0

    def add(self, arguments: JsonObject, event: SearchPerformed) -> None:
        self.made.append(canonical(normalised(arguments)))
        self.results.append(tuple(hit.tool_id for hit in event.report.results))
        self.errors.append(event.report.error)
        self.labels.append(event.report.request.label())

    def is_true_of_a_loop(self, loop: LoopDetected) -> bool:
        """Whether that many searches equal to the last one were made, and came to the same in the end."""
        equal = [at for at, made in enumerate(self.made) if made == self.made[-1]][-loop.count :]
        came = {(self.results[at], self.errors[at]) for at in equal}
        return len(equal) == loop.count and len(came) == 1

    def is_true_of_a_note(self, note: RedundantSearch) -> bool:
        """Whether a search of that name found so much of the results, or so many in a row found none."""
        if note.overlap is None:
            answered = [
                r for r, e in zip(self.results[self.turn :], self.errors[self.turn :], strict=True) if not e
            ]
            none = next((n for n, found in enumerate(reversed(answered)) if found), len(answered))
            return note.in_a_row == none >= 3 and not note.earlier and not self.errors[-1]
        now = set(self.results[-1])
        before = [
            set(r) for r, name in zip(self.results[:-1], self.labels, strict=False) if name == note.earlier
        ]
        return bool(now) and any(len(now & found) / len(now) == note.overlap for found in before)


def check(turns: Sequence[Sequence[JsonObject]], events: Sequence[Event]) -> None:
    seen, arguments = Seen(), iter([one for turn in turns for one in turn])
    starts = iter([0, *(len(turn) for turn in turns)])
    for event in events:
        if event.kind == "user":
            seen.turn += next(starts)
        elif isinstance(event, SearchPerformed):
            seen.add(next(arguments), event)
        elif isinstance(event, LoopDetected):
            assert seen.is_true_of_a_loop(event)
            assert f"this search was made {event.count} times" in event.guidance
            assert f"the last {event.count} results were identical" in event.guidance
            assert ("that it found" in event.guidance) == bool(seen.results[-1])
            assert ("no tool here does it" in event.guidance) == (
                not seen.results[-1] and not seen.errors[-1]
            )
        elif isinstance(event, RedundantSearch):
            assert seen.is_true_of_a_note(event)
            told = f"{event.note} {event.summary()}"
            said = f"{event.in_a_row} searches in a row" if event.overlap is None else percent(event.overlap)
            assert said in told
            assert ("%" in told) == (event.overlap is not None)
            assert not re.search(r"\bsame\b|identical|times", told)


def claims_of(event: Event) -> str:
    return event.guidance if isinstance(event, LoopDetected) else getattr(event, "note", "")


@given(turns=TURNS)
def test_no_search_is_called_equal_to_one_that_was_not(turns: list[list[dict[str, Any]]]) -> None:
    steps = [step for turn in turns for step in (*(searches(**one) for one in turn), says("ok"))]
    bench = Bench(*steps, settings=Settings(chat=ChatSettings(max_steps=99)))
    bench.model.window = 0  # Nothing is shortened to make room.

    async def drive() -> None:
        for _ in turns:
            await bench.say()

    asyncio.run(drive())
    events = [record.event for record in bench.store.read("s")]
    check(turns, events)
    claimed = [claims_of(event) for event in events if isinstance(event, LoopDetected | RedundantSearch)]
    for text in bench.tool_messages():
        for claim in claimed:
            text = text.replace(claim, "")
        assert not _CLAIMS.search(text), "a claim that is in no event"
