"""What a session knows of its persona's past use: which calls count, for how long, and when they are read."""

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator

import pytest

from inspector.core.access import AccessPolicy, Grant, Scope, User
from inspector.core.error import StoreError
from inspector.core.events import CallFinished, CallStarted, Event, Record, SessionStarted, UserSaid
from inspector.core.ports import PastCall
from inspector.core.ranking import SearchReport, SearchRequest, Signal
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.search.answer.retrieval import Retrieval
from inspector.search.index.past_use import PastUse, Use, Whose, used
from inspector.store.call_history import RecordedCalls
from inspector.store.store import MemoryStore
from tests.support.fakes import ManualClock, Recorded, says, searches
from tests.support.memory_vectors import MemoryVectors
from tests.support.workbench import connected

DAY = 86_400.0
ADA = Whose("ada", 30.0)
# One tool that is not like the others: where all scores are equal, there is no deviation.
CATALOG = [
    Tool("mail", "send", "Send a letter."),
    *(Tool("shop", f"tool_{n}", f"Number {n} of the tools.") for n in range(5)),
]
QUERY = "number of tools"
ON, OFF = DiscoverySettings(affinity=0.5), DiscoverySettings()
# The calls of these tests are of 1970.
TIMELESS = {"inertia.half_life_days": 0.0}
CALLS = (PastCall("shop:tool_3", 0.0, "ada"),)


def call(tool: str, day: float = 0.0, persona: str = "ada") -> PastCall:
    return PastCall(tool, day * DAY, persona)


def test_only_calls_of_the_persona_count() -> None:
    past = used([call("s:a"), call("s:a", persona="bob"), call("s:b", persona="bob")], ADA, 0.0)
    assert past == PastUse("ada", {"s:a": Use(1, 1.0)})


def test_a_call_counts_half_after_a_half_life() -> None:
    past = used([call("s:a", 0), call("s:a", 30), call("s:b", 60)], ADA, 60 * DAY)
    assert past.uses == {"s:a": Use(2, 0.75), "s:b": Use(1, 1.0)}


def test_a_call_of_long_ago_is_forgotten() -> None:
    assert used([call("s:a", 0)], ADA, 365 * DAY).uses == {}


def made(
    recorded: Callable[[], Iterable[PastCall]],
    settings: DiscoverySettings = ON,
    whose: Callable[[], Whose] = lambda: Whose("ada"),
) -> Retrieval:
    """A session's search, by words alone."""
    return Retrieval(
        settings,
        ManualClock(),
        embedder=None,
        vectors=MemoryVectors(),
        report=lambda _state: None,
        past_calls=recorded,
        whose=whose,
    )


def report(retrieval: Retrieval, query: str = QUERY) -> SearchReport:
    return retrieval.look(SearchRequest(query), bound=()).report


def terms(retrieval: Retrieval, query: str = QUERY) -> list[tuple[str, str]]:
    """The tools that past use counts for, each with what its bill says."""
    return [
        (hit.tool_id, part.term)
        for hit in report(retrieval, query).hits
        for part in hit.score.parts
        if part.signal is Signal.AFFINITY
    ]


def session(persona: str, *events: Event) -> MemoryStore:
    """A store with one session, of that persona."""
    settings = {"inertia": {"persona": persona}}
    begin = SessionStarted("c", (), "", "m", "m", 1, settings=settings)
    store = MemoryStore()
    for seq, event in enumerate((begin, UserSaid("Is anything held up?"), *events), start=1):
        store.append(Record("earlier", seq, float(seq), event))
    return store


def called(tool: str, *, ok: bool = True) -> tuple[Event, Event]:
    return CallStarted(f"call {tool}", tool, {}), CallFinished(f"call {tool}", tool, ok, "two")


class LongRecord:
    """A record that is read only when `go_on` is set; `begun` says that somebody reads it."""

    def __init__(self) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()

    def __call__(self) -> Iterator[PastCall]:
        self.begun.set()
        self.go_on.wait(10)
        yield from CALLS


async def settled(retrieval: Retrieval, count: int = len(CATALOG)) -> Retrieval:
    retrieval.update(CATALOG[:count], {})
    await retrieval.settled()
    return retrieval


async def test_the_record_is_read_once_and_in_another_thread() -> None:
    recorded = Recorded(*CALLS)
    retrieval = made(recorded)
    for count in (3, 5, 6):
        await settled(retrieval, count)
    assert recorded.reads == 1
    assert recorded.thread != threading.current_thread().name
    assert [tool for tool, _ in terms(retrieval)] == ["shop:tool_3"]


async def test_nothing_is_read_while_it_is_off() -> None:
    recorded = Recorded(*CALLS)
    await settled(made(recorded, OFF))
    assert recorded.reads == 0


async def test_a_record_that_can_be_read_again_is_no_problem_any_more() -> None:
    left = [StoreError("another program has locked the database")]

    def locked_at_first() -> Iterator[PastCall]:
        if left:
            raise left.pop()
        yield from CALLS

    retrieval = made(locked_at_first)
    for is_locked in (True, False):
        note = report(await settled(retrieval)).note
        assert ("past use ignored: another program has locked the database" in note) is is_locked
    assert terms(retrieval)


async def test_a_session_that_ends_does_not_wait_for_a_long_record() -> None:
    record = LongRecord()
    retrieval = made(record)
    retrieval.update(CATALOG, {})
    await asyncio.to_thread(record.begun.wait, 10)
    retrieval.close()
    async with asyncio.timeout(5):
        await retrieval.settled()
    record.go_on.set()
    assert terms(retrieval) == []


async def test_a_session_follows_the_persona_of_its_settings() -> None:
    store = session("ada", *called("shop:list_orders"), *called("shop:get_order", ok=False))
    async with connected(store=store, values=TIMELESS) as rig:
        rig.bench.change_setting("discovery.affinity", 0.5)
        await rig.bench.retrieval.settled()
        assert terms(rig.bench.retrieval, "orders") == []
        rig.bench.change_setting("inertia.persona", "ada")
        await rig.bench.retrieval.settled()
        assert terms(rig.bench.retrieval, "orders") == [("shop:list_orders", "used 1 time by ada")]


async def test_a_model_is_never_sent_who_used_a_tool() -> None:
    values = {**TIMELESS, "discovery.affinity": 0.5, "inertia.persona": "ada-the-first"}
    steps = (searches(query="list orders"), says("Two."))
    store = session("ada-the-first", *called("shop:list_orders"))
    async with connected(*steps, store=store, values={**values, "discovery.results": "ranked"}) as rig:
        await rig.bench.retrieval.settled()
        await rig.bench.chat("And now?")
        (search,) = rig.events("search")
        assert any(part.signal is Signal.AFFINITY for hit in search.report.hits for part in hit.score.parts)
        assert not any("ada-the-first" in result for result in rig.results)


POLICY = AccessPolicy(
    {"ada": User("ada", "acme"), "bob": User("bob", "acme")},
    (Grant(Scope.ORGANISATION, "acme", "acme", ("shop:list*", "shop:refund*", "weather:*")),),
    {"billing": ("shop:list*", "weather:*")},
)


def recorded_of(*sessions: tuple[str, str, str]) -> MemoryStore:
    """A store with a session for each user and expert, in which a tool was called successfully."""
    store = MemoryStore()
    for number, (user, expert, tool) in enumerate(sessions):
        begin = SessionStarted("c", (), "", "m", "m", 1, user=user, expert=expert, restricted=bool(user))
        for seq, event in enumerate((begin, UserSaid("Is anything held up?"), *called(tool)), start=1):
            store.append(Record(f"earlier-{number}", seq, float(seq), event))
    return store


async def bill(store: MemoryStore, user: str = "ada", expert: str = "") -> list[str]:
    """Every score with its parts, to the last bit, of a session that a user sees."""
    values = {**TIMELESS, "discovery.affinity": 0.5, "access.policy": "p", "access.user": user}
    opening = connected(store=store, policy=lambda: POLICY, values={**values, "access.expert": expert})
    async with opening as rig:
        hits = report(rig.bench.retrieval, "orders by status").hits
        return [repr(hit.score) for hit in hits]


async def test_no_score_of_a_user_moves_by_what_others_used() -> None:
    others = (
        ("bob", "", "shop:list_orders"),
        ("", "", "shop:list_orders"),
        ("bob", "billing", "shop:refund"),
    )
    assert await bill(recorded_of(*others)) == await bill(MemoryStore())
    own = ("ada", "", "weather:get_forecast")
    assert await bill(recorded_of(own, *others)) == await bill(recorded_of(own))


async def test_no_score_moves_by_the_past_use_of_a_tool_that_may_not_be_seen() -> None:
    own, hidden = ("ada", "", "shop:list_orders"), ("ada", "", "shop:refund_order")
    through = await bill(recorded_of(own, hidden), expert="billing")
    assert through == await bill(recorded_of(own), expert="billing")
    assert "refund" not in repr(through)
    assert await bill(recorded_of(hidden)) != await bill(MemoryStore()), "she may see it without the expert"


async def test_who_sees_nothing_reads_no_record(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def calls(_: RecordedCalls, **_options: object) -> Iterator[PastCall]:
        read.append("calls")
        return iter(())

    monkeypatch.setattr(RecordedCalls, "successful_calls", calls)
    store = recorded_of(("", "", "shop:list_orders"), ("ada", "", "shop:list_orders"))
    values = {**TIMELESS, "discovery.affinity": 0.5, "access.policy": "p"}
    async with connected(store=store, policy=lambda: POLICY, values=values):
        assert read == []
