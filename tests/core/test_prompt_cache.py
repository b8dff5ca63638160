"""What a prompt cache reads and writes, what that costs, and where its marks are."""

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.core.budget import HOUR_SECONDS, Prices
from inspector.core.prompt_cache import (
    LOOKBACK,
    MAX_BREAKPOINTS,
    UNCACHED,
    Block,
    Breakpoints,
    CacheTerms,
    Charge,
    PromptCache,
    breakpoints,
)

SMALL = CacheTerms(write=1.25, read=0.1, ttl_seconds=300, minimum=100)
TERMS = st.sampled_from([SMALL, CacheTerms(2.0, 0.1, 3600, 1), CacheTerms(1.0, 0.5, 300, 60), UNCACHED])
ROWS = st.lists(
    st.lists(st.tuples(st.sampled_from("abcdefg"), st.just(40)), max_size=6), min_size=1, max_size=8
)


def row(*parts: tuple[str, int]) -> list[Block]:
    return [Block(text, tokens, f"part {text}") for text, tokens in parts]


def test_what_stands_in_front_is_read_and_what_follows_is_written() -> None:
    cache = PromptCache(SMALL)
    assert cache.send(row(("tools", 100), ("hi", 10)), 0) == Charge(written=110)
    second = cache.send(row(("tools", 100), ("hi", 10), ("more", 20)), 10)
    assert second == Charge(read=110, written=20)
    assert second.billed(SMALL) == pytest.approx(110 * 0.1 + 20 * 1.25) == pytest.approx(36)
    assert second.hit_rate == pytest.approx(110 / 130)


def test_a_prefix_lives_from_its_last_use() -> None:
    cache = PromptCache(SMALL)
    blocks = row(("a", 100), ("b", 50))
    for second in (0, 300, 600):
        charge = cache.send(blocks, second)
    assert charge == Charge(read=150)
    assert cache.send(blocks, 900.5) == Charge(written=150, broke="expired after 300 s")
    assert cache.send(blocks, 901) == Charge(read=150)


def test_a_short_request_is_charged_in_full_and_has_nothing_to_break() -> None:
    cache = PromptCache(SMALL)
    assert cache.send(row(("a", 99)), 0) == Charge(plain=99)
    assert cache.send(row(("b", 120)), 1) == Charge(written=120)
    assert cache.send(row(("c", 10)), 2) == Charge(plain=10, broke="part b")


def test_dead_prefixes_are_forgotten() -> None:
    cache = PromptCache(SMALL)
    for second in range(0, 100_000, 1000):
        cache.send(row((f"a{second}", 100), ("b", 50)), second)
    assert len(cache) == 2


@given(ROWS, TERMS)
def test_what_is_read_is_the_longest_prefix_of_any_living_request(
    rows: list[list[tuple[str, int]]], terms: CacheTerms
) -> None:
    cache = PromptCache(terms)
    sent: list[tuple[list[tuple[str, int]], float]] = []
    for second, parts in enumerate(rows):
        at = second * 100.0
        charge = cache.send(row(*parts), at)
        living = [old for old, when in sent if at - when <= terms.ttl_seconds]
        common = max((_common(old, parts) for old in living), default=0) * 40
        cached = 40 * len(parts) >= terms.minimum
        assert charge.read == (common if cached and common >= terms.minimum else 0)
        if cached:
            sent.append((parts, at))


def _common(one: list[tuple[str, int]], other: list[tuple[str, int]]) -> int:
    for index, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return index
    return min(len(one), len(other))


def test_only_what_is_marked_is_kept_and_what_follows_the_last_mark_costs_the_full_price() -> None:
    cache = PromptCache(SMALL)
    assert cache.send(row(("a", 100), ("b", 50), ("c", 20)), 0, [1]) == Charge(0, 150, 20)
    assert cache.send(row(("a", 100), ("x", 50)), 1, [1]) == Charge(0, 150, 0, "part b")
    assert cache.send(row(("a", 100), ("b", 50), ("d", 20)), 2, [2]).read == 150


@pytest.mark.parametrize(("more", "read"), [(LOOKBACK - 1, 100), (LOOKBACK, 0)])
def test_an_earlier_mark_is_found_only_a_few_blocks_back(more: int, read: int) -> None:
    cache = PromptCache(SMALL)
    cache.send(row(("a", 100)), 0, [0])
    longer = row(("a", 100), *((str(number), 10) for number in range(more)))
    assert cache.send(longer, 1, [more]).read == read
    cache.send(row(("a", 100)), 2, [0])
    assert (
        cache.send(row(("a", 100), *((f"{number}!", 10) for number in range(more))), 3, [0, more]).read == 100
    )


SONNET = Prices("sonnet", 3e-6, 15e-6, cache_read=3e-7, cache_write=3.75e-6, cache_write_hour=6e-6)
GPT = Prices("gpt", 1.25e-6, 10e-6, cache_read=1.25e-7)


@pytest.mark.parametrize(
    ("prices", "terms", "hour"),
    [
        (SONNET, CacheTerms(1.25, 0.1, ttl_seconds=300), CacheTerms(2.0, 0.1, ttl_seconds=HOUR_SECONDS)),
        # Writing is input where the list has no price for it; without one for reading there is no cache.
        (GPT, CacheTerms(write=1.0, read=0.1), None),
        (Prices("plain", 1e-6, 2e-6), UNCACHED, None),
    ],
)
def test_terms_are_quotients_of_prices(prices: Prices, terms: CacheTerms, hour: CacheTerms | None) -> None:
    assert (prices.terms, prices.hour_terms) == (terms, hour)


def test_a_request_costs_its_input_as_it_is_charged_and_its_answer() -> None:
    charge = Charge(read=10_000, written=2_000, plain=0)
    # 10,000 x 0.1 + 2,000 x 1.25 = 3,500 tokens at 3 $ a million, 200 tokens at 15 $ a million.
    assert SONNET.cost(charge, SONNET.terms, 200) == pytest.approx(0.0105 + 0.003)
    # Without a cache 12,000 tokens at 3 $ a million.
    assert SONNET.cost(Charge(plain=12_000), UNCACHED) == pytest.approx(0.036)


def test_the_shortest_prefix_is_the_models_own() -> None:
    own = replace(SONNET, cache_minimum=4096)
    assert (own.terms.minimum, SONNET.terms.minimum) == (4096, 1024)
    assert own.hour_terms is not None
    assert own.hour_terms.minimum == 4096


COUNTS = st.integers(0, 30)


@given(COUNTS, COUNTS, st.booleans(), COUNTS, COUNTS)
def test_there_are_never_more_marks_than_claude_takes_and_none_twice(
    tools: int, steady: int, system: bool, messages: int, before: int
) -> None:
    marks = breakpoints(tools=tools, steady=steady, system=system, messages=messages, before=before, ttl="5m")
    assert marks.count <= MAX_BREAKPOINTS
    rows = marks.blocks(tools, system=system)
    assert len(set(rows)) == len(rows) == marks.count
    assert all(0 <= row < tools + system + messages for row in rows)
    assert (tools + system + messages - 1 in rows) or not messages


def test_the_end_of_the_tools_the_system_prompt_and_the_last_messages_are_marked() -> None:
    marks = breakpoints(tools=3, steady=3, system=True, messages=5, before=2, ttl="1h")
    assert marks == Breakpoints((2,), True, (1, 4), "1h")
    assert marks.blocks(3, system=True) == (2, 3, 5, 8)
    assert marks.label == "tools[2], system, messages[1], messages[4] for 1h"
