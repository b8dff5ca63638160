"""What a list says of the ranks that it leaves out."""

from hypothesis import given, strategies as st

from inspector.core.ranking import Gap, Hit, Outcome, Score, with_gaps

outcome_lists = st.lists(st.sampled_from(Outcome), max_size=20)


@given(outcome_lists, st.sets(st.integers(1, 20)), st.integers(0, 30))
def test_the_ranks_of_a_list_run_from_first_to_last(
    outcomes: list[Outcome], dropped: set[int], more: int
) -> None:
    kept = [(rank, one) for rank, one in enumerate(outcomes, start=1) if rank not in dropped]
    hits = [Hit(rank, Score(f"s:t{rank}", 1.0), one) for rank, one in reversed(kept)]
    told = 0
    for one in with_gaps(hits, lambda hit: hit.outcome is not Outcome.OTHER_SERVER, len(outcomes) + more):
        assert told + 1 == (one.first if isinstance(one, Gap) else one.rank)
        told = one.last if isinstance(one, Gap) else one.rank
    assert told == len(outcomes) + more or (not told and not outcomes)
