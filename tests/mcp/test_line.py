"""Lines of any length: whole ones as they came, both ends of those that are too long."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, strategies as st
from mcp_types import JSONRPCError, JSONRPCResponse

from inspector.mcp.client.limit import HEAD, TAIL, CutLine, Lines
from inspector.mcp.client.message import TOO_LARGE, cut_frame

LONG = HEAD + TAIL


def fed(longest: int, data: bytes, *cuts: int) -> list[bytes | CutLine]:
    """The lines of some output that comes in pieces, which end at these places."""
    lines, ends = Lines(longest), sorted({0, *cuts, len(data)})
    pieces = (data[start:end] for start, end in pairwise(ends))
    return [line for piece in pieces for line in lines.feed(piece)]


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=6))
def test_lines_are_the_same_however_the_output_is_cut(data: bytes, cuts: list[int]) -> None:
    whole = data + b"\n"
    found = fed(1_000, whole, *(cut for cut in cuts if cut < len(whole)))
    assert found == whole.split(b"\n")[:-1]


@given(st.lists(st.integers(0, 100), max_size=6))
def test_of_a_line_that_is_too_long_the_ends_and_the_size_are_kept(cuts: list[int]) -> None:
    data = b"short\n" + b"x" * 40 + b"end\nnext\n"
    found = fed(20, data, *(cut for cut in cuts if cut < len(data)))
    assert (found[0], found[2]) == (b"short", b"next")
    line = found[1]
    assert isinstance(line, CutLine)
    assert (b"x" * 40 + b"end").startswith(line.head)
    assert (len(line.head) > 20, line.tail[-4:], line.size) == (True, b"xend", 43)


def test_no_more_than_its_ends_are_held_of_a_line_without_an_end() -> None:
    lines = Lines(LONG)
    for _ in range(50):
        assert not list(lines.feed(b"y" * LONG))
    (line,) = lines.feed(b"z\n")
    assert isinstance(line, CutLine)
    assert (len(line.head), len(line.tail), line.size) == (HEAD, TAIL, 50 * LONG + 1)
    assert line.tail.endswith(b"yz")


def answer(**result: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 7, "result": result}).encode()


def cut(whole: bytes, head: int) -> CutLine:
    return CutLine(whole[:head], whole[-200:], 50_000_000)


@pytest.mark.parametrize("first", ["type", "text"])
def test_the_beginning_of_a_text_that_is_too_large_is_an_answer_with_a_note(first: str) -> None:
    block = {"type": "text", "text": 'He said "ä" and\n' + "so on " * 100}
    ordered = {first: block[first], **block}
    frame = cut_frame(cut(answer(content=[ordered], isError=False), 180))
    assert isinstance(frame, JSONRPCResponse)
    text = frame.result["content"][0]["text"]
    assert frame.id == 7
    assert text.startswith('He said "ä" and\nso on')
    assert f"{TOO_LARGE}: it has 50 MB" in text
    assert frame.result["isError"] is False


@given(st.text(min_size=40), st.integers(0, 300))
def test_a_text_may_be_cut_anywhere(text: str, at: int) -> None:
    line = answer(content=[{"type": "text", "text": text}])
    start = line.index(b'"text": "') + 9
    frame = cut_frame(CutLine(line[: start + at], line, 50_000_000))
    if isinstance(frame, JSONRPCResponse):
        kept = frame.result["content"][0]["text"].rpartition("\n[")[0]
        assert text.startswith(kept)


def test_a_failed_call_stays_failed() -> None:
    frame = cut_frame(cut(answer(content=[{"type": "text", "text": "no " * 300}], isError=True), 200))
    assert isinstance(frame, JSONRPCResponse)
    assert frame.result["isError"] is True


def test_any_other_answer_that_is_too_large_is_an_error_for_whoever_asked() -> None:
    frame = cut_frame(cut(answer(tools=[{"name": "x", "description": "long " * 100}]), 100))
    assert isinstance(frame, JSONRPCError)
    assert (frame.id, frame.error.message[: len(TOO_LARGE)]) == (7, TOO_LARGE)
    late = json.dumps({"result": {"tools": ["x" * 9_000]}, "id": "a"}).encode()
    named = cut_frame(CutLine(late[:5_000], late[-200:], 50_000_000))
    assert isinstance(named, JSONRPCError)
    assert named.id == "a"


def test_output_that_answers_nothing_is_dropped() -> None:
    assert cut_frame(CutLine(b"x" * 100, b"x" * 100, 50_000_000)) is None
