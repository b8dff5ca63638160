"""What a prompt cache charges, against cases worked out by hand."""

import pytest
from hypothesis import given, strategies as st

from inspector.core.prompt_cache import LOOKBACK, UNCACHED, Block, CacheTerms, Charge, PromptCache

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


def test_a_block_that_differs_is_written_again_with_all_that_follows() -> None:
    cache = PromptCache(SMALL)
    cache.send(row(("a", 100), ("b", 50), ("c", 50)), 0)
    assert cache.send(row(("a", 100), ("x", 50), ("c", 50)), 1) == Charge(100, 100, 0, "part b")


def test_an_older_request_is_found_again_but_the_last_one_is_still_broken() -> None:
    cache = PromptCache(SMALL)
    cache.send(row(("a", 100), ("b", 50)), 0)
    cache.send(row(("x", 100), ("b", 50)), 1)
    assert cache.send(row(("a", 100), ("b", 50)), 2) == Charge(150, 0, 0, "part x")


def test_a_prefix_lives_from_its_last_use() -> None:
    cache = PromptCache(SMALL)
    blocks = row(("a", 100), ("b", 50))
    for second in (0, 300, 600):
        charge = cache.send(blocks, second)
    assert charge == Charge(read=150)
    assert cache.send(blocks, 900.5) == Charge(written=150, broke="expired after 300 s")
    assert cache.send(blocks, 901) == Charge(read=150)


def test_expiry_wins_over_a_part_that_differs() -> None:
    cache = PromptCache(SMALL)
    cache.send(row(("a", 100), ("b", 50)), 0)
    assert cache.send(row(("a", 100), ("c", 50)), 1000).broke == "expired after 300 s"


def test_a_short_request_is_charged_in_full_and_has_nothing_to_break() -> None:
    cache = PromptCache(SMALL)
    assert cache.send(row(("a", 99)), 0) == Charge(plain=99)
    assert cache.send(row(("b", 120)), 1) == Charge(written=120)
    assert cache.send(row(("c", 10)), 2) == Charge(plain=10, broke="part b")


def test_a_prefix_under_the_minimum_is_not_read() -> None:
    cache = PromptCache(SMALL)
    cache.send(row(("a", 99), ("b", 50)), 0)
    assert cache.send(row(("a", 99), ("c", 50)), 1) == Charge(written=149, broke="part b")


def test_a_request_that_is_cut_short_breaks_the_cache_where_the_cut_is() -> None:
    cache = PromptCache(SMALL)
    cache.send(row(("a", 100), ("b", 50), ("c", 50)), 0)
    assert cache.send(row(("a", 100), ("b", 50)), 1) == Charge(read=150, broke="part c")


def test_nothing_is_no_request() -> None:
    cache = PromptCache(CacheTerms(minimum=0))
    assert cache.send([], 0) == Charge()
    assert Charge().hit_rate == 0


def test_any_text_can_be_cached() -> None:
    cache = PromptCache(SMALL)
    hostile = row(("\ud800", 60), ("\x00", 60), ("", 60), ("é" * 1_000_000, 60))
    cache.send(hostile, 0)
    assert cache.send(hostile, 1) == Charge(read=240)


def test_texts_that_join_to_the_same_are_not_the_same() -> None:
    cache = PromptCache(SMALL)
    cache.send(row(("ab", 100), ("c", 100)), 0)
    assert cache.send(row(("a", 100), ("bc", 100)), 1).read == 0


def test_dead_prefixes_are_forgotten() -> None:
    cache = PromptCache(SMALL)
    for second in range(0, 100_000, 1000):
        cache.send(row((f"a{second}", 100), ("b", 50)), second)
    assert len(cache) == 2


def test_living_prefixes_are_remembered_once() -> None:
    cache = PromptCache(SMALL)
    for second in range(100):
        cache.send(row(("a", 100), ("b", 50)), second)
    assert len(cache) == 2


@given(ROWS, TERMS)
def test_every_token_is_charged_once(rows: list[list[tuple[str, int]]], terms: CacheTerms) -> None:
    cache = PromptCache(terms)
    for second, parts in enumerate(rows):
        charge = cache.send(row(*parts), second * 100)
        assert charge.read + charge.written + charge.plain == charge.tokens == 40 * len(parts)
        assert min(charge.read, charge.written, charge.plain) >= 0


@given(ROWS)
def test_without_a_cache_what_is_billed_is_what_is_sent(rows: list[list[tuple[str, int]]]) -> None:
    cache = PromptCache(UNCACHED)
    for second, parts in enumerate(rows):
        charge = cache.send(row(*parts), second)
        assert charge.billed(UNCACHED) == charge.tokens
        assert charge.broke == ""


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


def test_a_mark_under_the_minimum_keeps_nothing() -> None:
    cache = PromptCache(SMALL)
    assert cache.send(row(("a", 99), ("b", 50)), 0, [0]) == Charge(plain=149)
    assert cache.send(row(("a", 99), ("b", 50)), 1, [0, 1]) == Charge(written=149)


def test_without_a_mark_nothing_is_kept() -> None:
    cache = PromptCache(SMALL)
    for second in (0, 1):
        assert cache.send(row(("a", 500)), second, []) == Charge(plain=500)


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


@given(ROWS, TERMS)
def test_a_mark_on_every_block_is_a_cache_of_every_prefix(
    rows: list[list[tuple[str, int]]], terms: CacheTerms
) -> None:
    every, marked = PromptCache(terms), PromptCache(terms)
    for at, parts in enumerate(rows):
        blocks = row(*parts)
        assert marked.send(blocks, at, range(len(blocks))) == every.send(blocks, at)


@given(ROWS, TERMS, st.sets(st.integers(0, 5)))
def test_marks_change_no_sum(rows: list[list[tuple[str, int]]], terms: CacheTerms, marks: set[int]) -> None:
    cache = PromptCache(terms)
    for at, parts in enumerate(rows):
        charge = cache.send(row(*parts), at, sorted(mark for mark in marks if mark < len(parts)))
        assert charge.tokens == sum(tokens for _, tokens in parts)
