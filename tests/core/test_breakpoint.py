"""Where a request marks what Claude's prompt cache keeps."""

from hypothesis import given, strategies as st

from inspector.core.prompt_cache import MAX_BREAKPOINTS, Breakpoints, breakpoints

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


def test_tools_that_stay_have_a_mark_before_the_system_prompt_has_one() -> None:
    marks = breakpoints(tools=3, steady=2, system=True, messages=5, before=2, ttl="5m")
    assert marks == Breakpoints((1, 2), False, (1, 4))
    assert breakpoints(tools=3, steady=2, system=True, messages=1, before=0, ttl="5m").system


def test_nothing_to_mark_is_no_mark() -> None:
    nothing = breakpoints(tools=0, steady=0, system=False, messages=0, before=0, ttl="5m")
    assert (nothing.count, nothing.label) == (0, "none")
