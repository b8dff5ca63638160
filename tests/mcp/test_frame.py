"""The log of what crossed the wire: what is kept, what is dropped, and what a frame is called."""

import pytest
from hypothesis import given, strategies as st

from inspector.mcp.frame import Frame, FrameKind, FrameLog, beginning


def frame(
    number: int = 1,
    kind: FrameKind = FrameKind.REQUEST,
    method: str = "tools/list",
    *,
    text: str = "{}",
    size: int | None = None,
) -> Frame:
    return Frame(number, 0.0, True, kind, method, "1", len(text) if size is None else size, text)


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(1, 8), st.integers(1, 100))
def test_the_newest_frames_are_kept_within_both_bounds(
    sizes: list[int], most_frames: int, most_bytes: int
) -> None:
    log = FrameLog(most_frames, most_bytes)
    for size in sizes:
        log.append(frame(log.next_number, text="x" * size))
    kept = log.frames()
    assert log.total == len(sizes)
    assert [one.number for one in kept] == list(range(len(sizes) - len(kept) + 1, len(sizes) + 1))
    assert len(kept) <= most_frames
    assert len(kept) <= 1 or sum(one.size for one in kept) <= most_bytes
    # Nothing is dropped that there is room for.
    if len(kept) < len(sizes):
        with_one_more = sizes[-len(kept) - 1 :]
        assert len(with_one_more) > most_frames or sum(with_one_more) > most_bytes


def test_a_thousand_kinds_of_flaws_take_no_more_room_than_fifty() -> None:
    log = FrameLog()
    for number in range(1_000):
        log.note(f"lone surrogate in the tool t{number}", "repaired")
    assert len(log.flaws()) == 51
    assert sum(flaw.count for flaw in log.flaws()) == 1_000
    assert str(log.flaws()[-1]) == "repaired other flaws (950 times)"


@pytest.mark.parametrize(
    ("kind", "method", "words"),
    [
        (FrameKind.REQUEST, "tools/list", "tools/list"),
        (FrameKind.RESULT, "tools/list", "result of tools/list"),
        (FrameKind.ERROR, "tools/call", "error from tools/call"),
        (FrameKind.INVALID, "tools/call", "invalid reply to tools/call"),
        (FrameKind.NOTIFICATION, "notifications/initialized", "notifications/initialized"),
        (FrameKind.RESULT, "", "result of an unknown request"),
        (FrameKind.OTHER, "", "not a message: Welcome!"),
    ],
)
def test_a_frame_is_told_in_a_few_words(kind: FrameKind, method: str, words: str) -> None:
    assert frame(kind=kind, method=method, text=" Welcome! ").what == words


@given(st.text(alphabet='ab"', max_size=40), st.integers(0, 40))
def test_a_text_is_cut_only_behind_a_quotation_mark(text: str, longest: int) -> None:
    cut = beginning(text, longest)
    assert text.startswith(cut)
    assert cut == text or (len(cut) <= longest and cut[-1:] in ("", '"'))


def test_a_cut_frame_says_so() -> None:
    assert frame(text="abc", size=10).is_cut
    assert not frame(text="abc").is_cut
    assert not frame(text="ä", size=2).is_cut
