"""Counting the steps that a session solved."""

from hypothesis import given, strategies as st

from inspector.core.events import CallFinished, CallStarted, Event, Record, UserSaid
from inspector.tokens.plan import SolvedSteps, solved_steps


def called(
    tool: str, call_id: str = "1", *, ok: bool = True, by: str = "model", **arguments: int
) -> list[Event]:
    return [
        CallStarted(call_id, tool, arguments, by),  # type: ignore[arg-type]
        CallFinished(call_id, tool, ok, ""),
    ]


def solved(*calls: list[Event]) -> int:
    events = [event for call in calls for event in call]
    return solved_steps(Record("s", seq, 0.0, event) for seq, event in enumerate(events, start=1))


def test_a_successful_call_solves_a_step_and_a_failed_one_none() -> None:
    assert solved(called("a"), called("b", ok=False), called("c")) == 2
    assert solved([CallStarted("1", "a", {})]) == 0
    assert solved(called("a", by="user")) == solved() == 0
    one, other = called("a", "1"), called("b", "2", ok=False)
    assert solved([one[0], other[0], other[1], one[1]]) == 1


def test_the_same_call_again_solves_nothing_until_the_user_speaks() -> None:
    assert solved(called("a", x=1), called("a", x=1), called("a", x=2)) == 2
    assert solved(called("a", x=1), [UserSaid("again")], called("a", x=1)) == 2
    assert solved(called("a", ok=False), called("a")) == 1


@given(st.lists(st.tuples(st.sampled_from("ab"), st.booleans(), st.booleans()), max_size=12))
def test_steps_never_shrink_and_are_at_most_the_successful_calls(story: list[tuple[str, bool, bool]]) -> None:
    state, counts = SolvedSteps(), [0]
    for tool, ok, speaks in story:
        for event in (*([UserSaid("x")] if speaks else []), *called(tool, ok=ok)):
            state = state.after(event)
            counts.append(state.count)
    assert counts == sorted(counts)
    assert counts[-1] <= sum(ok for _, ok, _ in story)
