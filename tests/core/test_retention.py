"""Old sessions go first, and never more than asked."""

from hypothesis import given, strategies as st

from inspector.core.ports import DAY, SessionAge, overdue

sessions = st.lists(
    st.builds(SessionAge, st.text(max_size=4), st.floats(0, 100 * DAY)), max_size=30, unique_by=lambda s: s.id
)


@given(sessions, st.integers(0, 10), st.floats(0, 60))
def test_what_stays_is_new_enough_and_not_too_much_and_what_goes_is_older(
    recorded: list[SessionAge], max_count: int, max_days: float
) -> None:
    now = 100 * DAY
    gone = overdue(recorded, max_count=max_count, max_days=max_days, now=now)
    stays = [one for one in recorded if one.id not in gone]
    assert len(set(gone)) == len(gone)
    if max_count:
        assert len(stays) <= max_count
    if max_days:
        assert all(now - one.ended_at <= max_days * DAY for one in stays)
    ages = {one.id: one.ended_at for one in recorded}
    assert all(ages[id_] <= one.ended_at for id_ in gone for one in stays)
    if not max_count and not max_days:
        assert not gone
    if not max_days:
        assert len(stays) == (min(max_count, len(recorded)) if max_count else len(recorded))
