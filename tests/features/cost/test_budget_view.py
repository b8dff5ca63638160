"""The words, bars and rows of the budget page."""

from hypothesis import given, strategies as st
from msgspec.structs import replace
from textual.content import Content

from inspector.app.draw import budget
from inspector.core.budget import Budget, Prices, TokenParts
from inspector.core.number import tokens
from inspector.core.prompt_cache import CacheTerms
from inspector.core.session import Binding, CallCost, SessionState, ToolState
from inspector.features.cost import strategies_view as budget_way
from inspector.features.cost.budget_view import Shown, budget_rows, headline
from inspector.features.cost.strategies_view import DeliveryComparison
from inspector.session.verdict import price_session
from inspector.tokens.break_even import BreakEven
from inspector.tokens.cost import Delivery
from inspector.tokens.plan import Assumptions, Overhead, PlannedTool, usual_plan

CHEAP = ToolState("a:cheap", 10, Binding.PINNED)
DEAR = ToolState("b:dear", 70, Binding.LOADED)
MIDDLE = ToolState("b:middle", 20, Binding.EVICTED)
OPEN = Shown(frozenset({"a", "b"}))
PARTS = TokenParts(100, 200, 300, 40, 1000, 60, 0, 50)
PRICES = Prices("model", 1e-6, 1e-5, 1e-7, source="a list", date="2026-01-05")
TERMS = CacheTerms(write=1.0, read=0.1)
CALL = CallCost(1, PARTS, 5000)


def session(*tools: ToolState, **changed: object) -> SessionState:
    return replace(SessionState(tools={tool.id: tool for tool in tools}), **changed)


def text(pieces: list[Content]) -> str:
    return " | ".join(map(str, pieces))


def test_the_dearest_server_comes_first_and_its_dearest_tool_next() -> None:
    rows = budget_rows(session(CHEAP, MIDDLE, DEAR), OPEN)
    assert [row.key for row in rows] == ["server b", "b:dear", "b:middle", "server a", "a:cheap"]
    assert [row.cells[3] for row in rows] == ["90 %", "70 %", "20 %", "10 %", "10 %"]
    assert [row.cells[4] for row in rows[1:3]] == ["loaded", "evicted"]
    (row, *rest) = budget_rows(session(ToolState("a:x", 0, Binding.PINNED)), Shown())
    assert (rest, row.cells[1], row.cells[2], row.cells[3]) == ([], "a (1 tool)", "0", "")


def test_every_part_of_a_request_is_in_the_bar_and_nothing_twice() -> None:
    told = replace(PARTS, instructions=70, system=30)
    for parts in (PARTS, told):
        for drawn in (budget.segments(parts), budget.few_segments(parts)):
            assert sum(part.value for part in drawn) == PARTS.used
    assert {part.label: part.value for part in budget.segments(told)}["instructions"] == 70
    assert "summary pool" not in {part.label for part in budget.segments(PARTS)}


def test_facts_hold_each_number_against_static_binding() -> None:
    state = session(
        DEAR, budget=Budget(10_000, PARTS, 5000), costs=(CALL,), decision="on: always", reductions=2
    )
    told = text(budget.facts(state))
    assert "task share 0.27 (0.038 static)" in told
    assert "tool tokens so far 450 (5.0k static)" in told
    assert "window not filling" in told
    assert "discovery on: always" in told
    assert "⚠ history shortened 2 times" in told
    assert "window full in ? (no call yet)" in text(budget.facts(replace(state, costs=())))
    assert budget.facts(session()) == []


def test_the_window_is_full_after_as_many_calls_as_it_has_grown_on_average() -> None:
    grown = replace(PARTS, history=PARTS.history + 500)
    state = session(DEAR, budget=Budget(10_000, grown, 5000), costs=(CALL, CALL))
    assert budget.mean_growth(state) == 250
    assert "window full in 31 calls (+250 per call)" in text(budget.facts(state))


def test_the_headline_says_when_discovery_costs_more() -> None:
    state = session(DEAR, manifest="x", budget=Budget(10_000, PARTS, 300))
    assert "⚠ 50 % more" in str(headline(state, 200))
    assert "press d on a server" in str(headline(replace(state, manifest=""), 200))
    assert "see Tools" in str(headline(session(), 200))


def compared(tools: int = 100) -> DeliveryComparison:
    planned = [PlannedTool(f"a:tool_{number}", 200) for number in range(tools)]
    plan = usual_plan(planned, Overhead(50, 143, 400, 80, 4000))
    points = {Delivery.APPEND: BreakEven(40, 20, None), Delivery.GATE: BreakEven(None, None, None)}
    priced = price_session(lambda _: plan, Assumptions(), PRICES, terms=TERMS)
    return DeliveryComparison(replace(priced, break_evens=points), Delivery.APPEND, False)


def test_ways_have_a_row_each_with_the_one_in_use_and_the_cheapest_marked() -> None:
    rows = {row.key: [str(cell) for cell in row.cells] for row in budget_way.way_rows(compared())}
    assert list(rows) == [delivery.value for delivery in Delivery]
    assert rows["append"][0:2] == ["●", "append (in use)"]
    money = [cell.partition(".")[2] for row in rows.values() for cell in (row[6], row[9])]
    assert {len(decimals) for decimals in money} == {2}
    assert [row[0] for row in rows.values()].count("★") == 1
    assert [rows[way][11] for way in ("append", "gate", "static")] == ["40 (20–never)", "never", "–"]
    append = compared().priced.of(Delivery.APPEND).cached
    assert rows["append"][3:6] == [
        tokens(n) for n in (append.definitions, append.discovery_tokens, append.raw)
    ]


def test_the_calls_that_broke_the_cache_are_told_as_far_as_there_is_room() -> None:
    found = compared()
    many = str(budget_way.way_detail(found, Delivery.GATE, 4)).split("\n")
    assert len(many) == 4
    assert many[1].startswith("✂ call ")
    assert "more calls" in many[3]
    assert "The cache was never lost" in str(budget_way.way_detail(found, Delivery.STATIC, 4))


@given(st.integers(0, 200_000), st.integers(0, 200_000), st.integers(30, 120))
def test_two_bars_share_a_scale_and_fill_their_width(now: int, static: int, width: int) -> None:
    measured = Budget(128_000, TokenParts(tools=now), static)
    first, second = budget.two_bars(session(DEAR, budget=measured), width).split("\n")
    lengths = [sum(line.plain.count(block) for block in "▏▎▍▌▋▊▉█") for line in (first, second)]
    assert (lengths[0] <= lengths[1]) if now <= static else (lengths[0] >= lengths[1])
    assert max(first.cell_length, second.cell_length) <= max(width, 40)
    assert not static or second.plain.endswith((" more", " as much") if now > static else " less")


def test_the_headline_is_the_bill_and_the_saving() -> None:
    state = session(DEAR, MIDDLE, manifest="x", budget=Budget(10_000, PARTS, 5000))
    told = str(headline(state, 200))
    assert "1 server, 2 tools: binding them all costs 5.0k tokens per call" in told
    assert "the next call 450 with searches: 91 % less" in told
    # A session's money is that of its calls: one call times a thousand would leave its searches out.
    assert "$" not in told
