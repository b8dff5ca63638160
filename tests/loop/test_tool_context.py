"""What searches bind, what has to make room for it, and what is never touched."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.config.configuration import Configuration
from inspector.core.access import ServerRule, Toolset
from inspector.core.budget import Budget, TokenParts
from inspector.core.events import BudgetMeasured, CallFinished, ModelRequested, ToolEvicted
from inspector.core.fold import fold
from inspector.core.redaction import Redactor
from inspector.core.server import ServerSpec
from inspector.core.session import Binding
from inspector.core.settings import BindingSettings, DiscoverySettings, Settings
from inspector.core.stream import Session
from inspector.core.tool import Tool
from inspector.loop.binder import Binder
from inspector.search.answer.retrieval import Live
from inspector.store.store import MemoryStore
from tests.support.fakes import ManualClock, ToldModel, character_accounting, find
from tests.support.retrieval import words_only

NAMES = ("a", "b", "c", "d", "e")
SHOP = tuple(Tool("shop", name, f"Does {name}.") for name in NAMES)
CALC = Tool("calc", "evaluate", "Evaluate an expression.")
TOOLS = (*SHOP, CALC)
FEW = Toolset("few", "", {"shop": ServerRule(exclude=frozenset("de")), "calc": ServerRule()})
IDS = tuple(tool.id for tool in SHOP)


class Ground:
    """A session with a binder; shop waits for searches, calc is pinned."""

    def __init__(self, **binding: Any) -> None:
        self.clock, self.store = ManualClock(), MemoryStore()
        settings = Settings(DiscoverySettings(auto="always"), binding=BindingSettings(**binding))
        self.session = Session("s", self.store, self.clock, Redactor({}))
        self.turn, self.tools = 0, TOOLS
        specs = (ServerSpec("shop", "x", defer_loading=True), ServerSpec("calc", "x"))
        self.live = Live(
            settings=settings,
            model=ToldModel(),
            configuration=Configuration("test", specs, {"few": FEW}, settings),
            retrieval=words_only(settings.discovery, self.clock),
        )
        self.binder = Binder(self.session, self.live, self.clock, character_accounting(self.live))
        self.context = self.binder.context
        self.rebuild()

    def rebuild(self) -> None:
        self.binder.rebuild(self.tools, {})

    def set(self, **binding: Any) -> None:
        """Change settings of the binding, as the workbench does it."""
        settings = self.live.settings
        self.live.settings = replace(settings, binding=replace(settings.binding, **binding))
        self.rebuild()

    def ask_model(self) -> None:
        """The next model call."""
        self.turn += 1
        self.session.emit(ModelRequested(self.turn, (), TokenParts(), 1))

    def call(self, tool_id: str) -> None:
        self.session.emit(CallFinished("c", tool_id, True, "ok", 1.0))

    def find(self, *names: str) -> tuple[str, ...]:
        return find(self.session, self.context, [f"shop:{name}" for name in names])

    @property
    def loaded(self) -> list[str]:
        return [tool_id.partition(":")[2] for tool_id in self.session.state.load_order]

    def evicted(self) -> list[tuple[str, str]]:
        records = self.store.read("s", kinds=("evict",))
        return [(r.event.tool, r.event.cause) for r in records if isinstance(r.event, ToolEvicted)]


def test_a_tool_that_is_found_again_counts_as_just_used_and_stays_in_its_place() -> None:
    ground = Ground()
    ground.find("a", "b")
    ground.clock.advance(30)
    ground.ask_model()
    assert ground.find("b", "c", "b") == ("shop:c",)
    again = ground.session.state.tools["shop:b"]
    assert (again.found, again.last_used_at, again.last_call) == (2, ground.clock.now(), 1)
    assert again.discovered_at == ground.clock.now() - 30
    assert ground.loaded == ["a", "b", "c"]


def test_an_expired_tool_stays_while_there_is_room_and_goes_first_when_there_is_none() -> None:
    ground = Ground(capacity=2, ttl_seconds=60.0)
    ground.find("a", "b")
    ground.clock.advance(61)
    ground.call("shop:b")
    ground.binder.before_call(())
    assert ground.loaded == ["a", "b"]
    ground.find("c")
    assert ground.loaded == ["b", "c"]
    assert ground.evicted() == [("shop:a", "ttl")]


@pytest.mark.parametrize("policy", ["all", "gate"])
def test_no_search_binds_anything_where_the_policy_decides_otherwise(policy: str) -> None:
    ground = Ground(policy=policy)
    before = ground.session.state
    assert ground.find("a", "b") == ()
    assert ground.session.state == before


def test_the_id_of_a_server_that_was_renamed_finds_the_tool_of_that_name() -> None:
    ground = Ground()
    assert find(ground.session, ground.context, ["store:a", "shop:a"]) == ("shop:a",)
    assert ground.loaded == ["a"]


@pytest.mark.parametrize("stale", ["old:a", "none", "", "\ud800:\x00"])
def test_an_id_that_means_no_tool_or_more_than_one_binds_nothing(stale: str) -> None:
    ground = Ground()
    ground.tools = (*TOOLS, Tool("other", "a"))
    ground.rebuild()
    assert find(ground.session, ground.context, [stale]) == ()
    assert ground.loaded == []


def tokens_of_loaded(ground: Ground) -> int:
    return sum(tool.tokens for tool in ground.session.state.with_binding(Binding.LOADED))


@given(st.lists(st.sampled_from(NAMES), max_size=8), st.integers(0, 6000), st.floats(0.001, 1))
def test_discovered_tools_take_no_more_than_their_share_of_the_free_window(
    found: list[str], window: int, share: float
) -> None:
    ground = Ground(share=share)
    budget = Budget(window, TokenParts(system=200, history=100), 0)
    ground.session.emit(BudgetMeasured(budget))
    for name in found:
        ground.find(name)
        assert tokens_of_loaded(ground) <= share * max(window - 300, 0)


class Walk:
    """One random session; `pinned` are always included."""

    def __init__(self, capacity: int, pinned: Sequence[str]) -> None:
        self.ground = Ground(capacity=capacity, ttl_seconds=50.0, always_include=tuple(pinned))
        self.pinned = frozenset((*pinned, CALC.id))

    def step(self, action: str, names: Sequence[str]) -> None:
        getattr(self, action)(tuple(dict.fromkeys(f"shop:{name}" for name in names)))

    def find(self, ids: Sequence[str]) -> None:
        find(self.ground.session, self.ground.context, ids)

    def call(self, ids: Sequence[str]) -> None:
        for tool_id in ids:
            self.ground.call(tool_id)

    def evict(self, ids: Sequence[str]) -> None:
        for tool_id in (*ids, CALC.id):
            self.ground.context.evict(tool_id, "hand", "by hand")

    def bind(self, ids: Sequence[str]) -> None:
        for tool in self.ground.binder.catalog.tools:
            if tool.id in ids and not self.ground.session.state.tools[tool.id].binding.is_bound:
                self.ground.context.bind(tool, "by hand")

    def tools(self, ids: Sequence[str]) -> None:
        self.ground.tools = (*(tool for tool in SHOP if tool.id in ids), CALC)
        self.ground.rebuild()

    def toolset(self, ids: Sequence[str]) -> None:
        self.ground.live.toolset = "few" if ids else ""
        self.ground.rebuild()

    def turn(self, _ids: Sequence[str]) -> None:
        self.ground.clock.advance(30)
        self.ground.binder.before_call(())
        self.ground.ask_model()

    def check(self, capacity: int) -> None:
        state, catalog = self.ground.session.state, self.ground.binder.catalog
        connected = {tool.id for tool in catalog.tools}
        permitted = {t.id for t in self.ground.tools if not self.ground.live.toolset or FEW.permits(t)}
        assert set(state.bound_ids) <= connected == permitted == set(state.tools)
        assert not capacity or len(state.load_order) <= capacity
        assert len(set(state.load_order)) == len(state.load_order)
        assert {t.id for t in state.with_binding(Binding.PINNED)} == self.pinned & connected
        assert {t.id for t in state.with_binding(Binding.LOADED)} == set(state.load_order)
        assert not self.pinned & {tool for tool, _cause in self.ground.evicted()}


@given(
    st.integers(0, 4),
    st.lists(st.sampled_from(IDS), unique=True, max_size=2),
    st.lists(
        st.tuples(
            st.sampled_from(["find", "find", "call", "evict", "bind", "tools", "toolset", "turn"]),
            st.lists(st.sampled_from(NAMES), max_size=6),
        ),
        max_size=25,
    ),
)
def test_no_session_evicts_a_pinned_tool_overfills_the_context_or_binds_what_is_not_permitted(
    capacity: int, pinned: list[str], steps: list[tuple[str, list[str]]]
) -> None:
    walk = Walk(capacity, pinned)
    for action, names in steps:
        walk.step(action, names)
        walk.check(capacity)
    assert fold(walk.ground.store.read("s")) == walk.ground.session.state
