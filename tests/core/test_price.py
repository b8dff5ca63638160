"""Money, worked out by hand."""

from dataclasses import replace

import pytest

from inspector.core.budget import HOUR_SECONDS, Prices
from inspector.core.prompt_cache import UNCACHED, CacheTerms, Charge

SONNET = Prices("sonnet", 3e-6, 15e-6, cache_read=3e-7, cache_write=3.75e-6, cache_write_hour=6e-6)
GPT = Prices("gpt", 1.25e-6, 10e-6, cache_read=1.25e-7)


def test_terms_are_quotients_of_prices() -> None:
    assert SONNET.terms == CacheTerms(write=1.25, read=0.1, ttl_seconds=300)
    assert SONNET.hour_terms == CacheTerms(write=2.0, read=0.1, ttl_seconds=HOUR_SECONDS)


def test_writing_is_input_where_the_list_has_no_price_for_it() -> None:
    assert GPT.terms == CacheTerms(write=1.0, read=0.1)
    assert GPT.hour_terms is None


def test_a_list_without_a_price_for_reading_has_no_cache() -> None:
    plain = Prices("plain", 1e-6, 2e-6)
    assert plain.terms == UNCACHED
    assert plain.hour_terms is None


def test_what_is_free_is_free_without_a_cache() -> None:
    free = Prices("free", 0.0, 0.0, cache_read=0.0, cache_write=0.0, cache_write_hour=0.0)
    assert free.terms == UNCACHED
    assert free.hour_terms is None
    assert free.cost(Charge(plain=1000), free.terms, 1000) == 0


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
