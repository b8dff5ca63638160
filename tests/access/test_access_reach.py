"""What a sight can reach is told from patterns alone, and agrees with what it permits."""

from hypothesis import given, strategies as st

from inspector.access.reach import can_match, covers, reaches
from inspector.core.access import Grant, Scope, Sight, matches_any

_text = st.text(alphabet="ab:_", max_size=5)
_pattern = st.text(alphabet="ab:_*?", min_size=1, max_size=6)
_patterns = st.lists(_pattern, min_size=1, max_size=3).map(tuple)


def sight(*patterns: str, allowlist: tuple[str, ...] | None = None) -> Sight:
    return Sight("ada", "", (Grant(Scope.USER, "ada", "acme", patterns),), allowlist)


@given(
    patterns=_patterns, allowlist=_patterns | st.none(), server=st.sampled_from(("a", "ab", "b_")), name=_text
)
def test_whatever_may_be_seen_is_of_a_server_that_is_reached(
    patterns: tuple[str, ...], allowlist: tuple[str, ...] | None, server: str, name: str
) -> None:
    one = sight(*patterns, allowlist=allowlist)
    if one.permits(f"{server}:{name}"):
        assert reaches(one, server)


@given(
    patterns=_patterns, allowlist=_patterns | st.none(), server=st.sampled_from(("a", "ab", "b_")), name=_text
)
def test_a_covered_server_has_no_tool_that_may_not_be_seen(
    patterns: tuple[str, ...], allowlist: tuple[str, ...] | None, server: str, name: str
) -> None:
    one = sight(*patterns, allowlist=allowlist)
    if covers(one, server):
        assert one.permits(f"{server}:{name}")


@given(patterns=_patterns, wanted=_pattern, tool_id=_text)
def test_a_pattern_that_shares_a_tool_with_the_sight_can_match(
    patterns: tuple[str, ...], wanted: str, tool_id: str
) -> None:
    one = sight(*patterns)
    if one.permits(tool_id) and matches_any(tool_id, (wanted,)):
        assert can_match(one, wanted)


def test_a_server_is_covered_by_patterns_that_leave_nothing_out() -> None:
    assert all(covers(sight(pattern), "crm") for pattern in ("*", "crm:*", "c*", "?rm:**", "*:*", "*m*"))
    assert not any(covers(sight(pattern), "crm") for pattern in ("crm:a*", "crm:", "*x*", "shop:*"))
    assert not covers(sight("*", allowlist=("crm:a",)), "crm")
