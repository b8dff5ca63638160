"""Who counts and who charges: by the session's model, without holding up the event loop."""

import threading
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from inspector.core.budget import Prices, Tokenizer, TokenParts
from inspector.core.events import BudgetMeasured, ModelSwitched
from inspector.core.prompt_cache import UNCACHED, CacheTerms, Charge
from inspector.core.session import CallCost
from inspector.core.settings import BudgetSettings, CacheTtl, Settings
from inspector.core.stream import LiveModel
from inspector.core.tool import Tool
from inspector.schema.schema import ModelFeatures
from inspector.tokens.accounting import (
    Accounting,
    answer_line,
    input_line,
    reported_dollars,
    reported_hit_rate,
)
from tests.support.fakes import (
    CharacterCounter,
    MemoryPrices,
    ToldModel,
    calls,
    character_accounting,
    says,
    searches,
)
from tests.support.memory_servers import MemoryServer
from tests.support.workbench import connected

MANY = [Tool("big", f"tool_{n}", "Does something.") for n in range(300)]
OWN = Prices("told", 2.0, 8.0, cache_read=0.2, cache_write=2.5, source="a list", date="2026-01-01")
HOURLY = replace(OWN, cache_write_hour=4.0, cache_minimum=100)


class Doubled(CharacterCounter):
    """Two tokens a character, under a name of its own."""

    tokenizer = Tokenizer("doubled", exact=False)

    def count(self, text: str) -> int:
        return 2 * len(text)

    def lengths(self, text: str) -> Sequence[int]:
        return [size for one in super().lengths(text) for size in (one, 0)]


class Watched(CharacterCounter):
    """Notes in which threads it counts."""

    def __init__(self) -> None:
        self.threads: set[str] = set()

    def count(self, text: str) -> int:
        self.threads.add(threading.current_thread().name)
        return super().count(text)


def test_what_was_counted_once_is_not_counted_again() -> None:
    counter = Watched()
    accounting = Accounting(lambda _: counter, MemoryPrices(), LiveModel(Settings(), ToldModel()))
    accounting.count(MANY)
    counter.threads.clear()
    accounting.count(MANY)
    assert accounting.meter.static(MANY) > 0
    assert not counter.threads


class Marked(ToldModel):
    """A told model whose cache keeps what is marked."""

    features = ModelFeatures(breakpoints=True)


@pytest.mark.parametrize(
    ("chosen", "own", "ttl", "terms"),
    [
        ("5m", HOURLY, "5m", HOURLY.terms),
        ("1h", HOURLY, "1h", HOURLY.hour_terms),
        ("1h", OWN, "5m", OWN.terms),
        ("off", HOURLY, None, UNCACHED),
    ],
)
def test_marks_are_charged_for_as_long_as_they_are_kept(
    chosen: CacheTtl, own: Prices, ttl: str | None, terms: CacheTerms
) -> None:
    settings = Settings(budget=BudgetSettings(prompt_cache=chosen))
    accounting = character_accounting(LiveModel(settings, Marked()), own)
    kept = terms if ttl is None else replace(terms, marked=True)
    assert (accounting.ttl, accounting.terms) == (ttl, kept)
    unmarked = character_accounting(LiveModel(settings, ToldModel()), own)
    assert (unmarked.ttl, unmarked.terms) == (None, own.terms)


async def test_another_model_counts_with_its_own_tokenizer_once_everything_is_counted() -> None:
    counters: list[CharacterCounter] = [CharacterCounter()]
    async with connected(servers={"big": MemoryServer(MANY)}, counter_for=lambda _: counters[-1]) as rig:
        before = rig.bench.state.budget
        assert before is not None
        counters.append(Doubled())
        rig.bench.switch_model("other")
        await rig.bench.settled()
        after = rig.bench.state.budget
        assert after is not None
        assert after.static_tools == 2 * before.static_tools
        assert after.tokenizer.name == "doubled"
        kinds = [record.kind for record in rig.bench.records()]
        switched = kinds.index(ModelSwitched.kind)
        assert kinds.index(BudgetMeasured.kind, switched) > switched


async def test_the_cost_of_every_call_is_in_the_state_with_what_the_provider_reports() -> None:
    steps = (searches(query="orders"), calls(("shop__list_orders", {})), says("done"))
    async with connected(*steps, prices=(OWN,)) as rig:
        await rig.bench.chat("orders?")
        costs = rig.bench.state.costs
    assert [cost.call for cost in costs] == [1, 2, 3]
    for cost in costs:
        assert cost.charge.tokens == cost.parts.input
        assert cost.terms.read == 0.1
        assert cost.reported_input is None
    assert (costs[0].charge.read, costs[0].charge.broke) == (0, "")
    assert costs[1].charge.broke == "tools[]: +shop__list_orders"
    assert costs[2].charge.broke == ""
    assert 0 < costs[2].charge.read < costs[2].parts.input


SONNET = Prices("sonnet", 3e-6, 15e-6, cache_read=0.3e-6, cache_write=3.75e-6, cache_write_hour=6e-6)
COMPUTED = CallCost(1, TokenParts(history=1000), 0, Charge(700, 200, 100))
REPORTED = CallCost(
    1, TokenParts(history=1000), 0, Charge(700, 200, 100), reported_input=1100, reported_output=50,
    reported_read=600, reported_written=400, reported_written_hour=300, reported_reasoning=20,
)  # fmt: skip


def test_reported_tokens_cost_what_each_kind_costs() -> None:
    spent = 100 * 3e-6 + 600 * 0.3e-6 + 100 * 3.75e-6 + 300 * 6e-6 + 50 * 15e-6
    assert reported_dollars(REPORTED, SONNET) == pytest.approx(spent)
    assert reported_hit_rate(REPORTED) == pytest.approx(600 / 1100)


def test_nothing_is_made_up_before_a_provider_reports() -> None:
    assert reported_dollars(COMPUTED, SONNET) is None
    assert reported_hit_rate(COMPUTED) is None
    assert answer_line(COMPUTED) == ""
    assert input_line(COMPUTED) == "computed 1,000 (700 read, 200 written); the provider reports nothing"


def test_both_sides_are_on_one_line() -> None:
    said = "computed 1,000 (700 read, 200 written); reported 1,100 (600 read, 400 written)"
    assert input_line(REPORTED) == said
    assert answer_line(REPORTED) == "answer: 50 tokens reported, 20 of them reasoning"
