"""Whether a catalog is worth discovery: the rule, and the numbers it was decided by."""

import pytest
from hypothesis import given, strategies as st

from inspector.core.settings import DiscoverySettings, Size
from inspector.loop.gate import decide


def test_by_default_a_catalog_for_which_discovery_never_pays_is_bound_whole() -> None:
    assert not decide(DiscoverySettings(), 100, 2_299, 128_000).is_on
    assert decide(DiscoverySettings(), 1, 2_300, 128_000).is_on


@pytest.mark.parametrize(
    ("rule", "below", "from_here"),
    [
        ("tools", (19, 10**6), (20, 1)),
        ("tokens", (10**4, 2_299), (1, 2_300)),
        ("window", (99, 2_999), (1, 3_000)),
    ],
)
def test_a_small_catalog_is_bound_whole(
    rule: Size, below: tuple[int, int], from_here: tuple[int, int]
) -> None:
    settings = DiscoverySettings(auto=rule)
    assert not decide(settings, *below, 100_000).is_on
    assert decide(settings, *from_here, 100_000).is_on


@given(st.integers(0, 500), st.integers(0, 10**6), st.integers(-5, 10**6))
def test_a_larger_catalog_is_never_bound_where_a_smaller_one_is_searched(
    n: int, size: int, window: int
) -> None:
    for rule in ("always", "tools", "tokens", "window"):
        settings = DiscoverySettings(auto=rule)
        if decide(settings, n, size, window).is_on:
            assert decide(settings, n + 1, size + 50, window).is_on
