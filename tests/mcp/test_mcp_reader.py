"""From the bytes of a server to messages, tools and results."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import httpx2
import pytest
from hypothesis import given, strategies as st
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCResponse
from msgspec.structs import replace
from pydantic import ValidationError

from inspector.core.error import ToolsightError
from inspector.core.server import SkippedTool
from inspector.mcp.client.http import read_stream
from inspector.mcp.client.process import exit_text
from inspector.mcp.client.reader import (
    FLOOD,
    MARK,
    STRAY,
    TOO_LARGE,
    TOO_LONG,
    RawMessage,
    Reader,
    Recorder,
    cut_frame,
)
from inspector.mcp.client.translate import (
    LONE_SURROGATE,
    MAX_DEFINITION,
    NOT_UTF8,
    OTHER_TEXT,
    SKIPPED,
    UNREADABLE,
    flaw_text,
    summary,
    tool_result,
    with_valid_tools,
)
from inspector.mcp.frame import FrameLog
from inspector.mcp.pace import HEAD, MESSAGES, TAIL, CutLine, Lines, size_text
from tests.support.fakes import ManualClock

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


def test_an_answer_that_is_too_large_is_an_error_for_whoever_asked_wherever_its_id_is() -> None:
    said = b'{"jsonrpc": "2.0", %s"result": {"text": "xxxx'
    for line in (
        CutLine(said % b'"id": 7, ', b"", 50_000_000),
        CutLine(said % b"", b'x"}, "id": 7}', 50_000_000),
    ):
        frame = cut_frame(line)
        assert frame is not None
        assert (frame.id, frame.error.message.partition(":")[0]) == (7, TOO_LARGE)


CHANGED = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'


class Case:
    """A reader that waits for the answers to requests 1 to 9, its log, and how often tools changed."""

    def __init__(self) -> None:
        self.log, self.clock, self.changes = FrameLog(), ManualClock(), 0
        self.reader = Reader(Recorder(self.log, self.clock), self._changed, self.clock.monotonic)
        self.reader.asked.update({str(number): "tools/list" for number in range(1, 10)})

    def _changed(self) -> None:
        self.changes += 1

    def fed(self, data: bytes, longest: int = 1_000_000) -> list[RawMessage]:
        return [message for line in Lines(longest).feed(data) for message in self.reader.line(line)]

    @property
    def flaws(self) -> dict[str, tuple[str, int]]:
        return {flaw.what: (flaw.outcome, flaw.count) for flaw in self.log.flaws()}


def answer(number: int = 1, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def line(value: object, **options: Any) -> bytes:
    return json.dumps(value, **options).encode() + b"\n"


def results(messages: list[RawMessage]) -> Iterator[Any]:
    for message in messages:
        assert isinstance(message.message, JSONRPCResponse)
        yield message.message.result


@given(st.binary(max_size=80))
def test_no_bytes_stop_the_messages_after_them(noise: bytes) -> None:
    case = Case()
    case.fed(noise + b"\n")
    (message,) = list(results(case.fed(line(answer(2, ok=True)))))[-1:]
    assert message == {"ok": True}


def test_a_lone_surrogate_is_replaced() -> None:
    case = Case()
    tools = [{"name": "good", "description": "\U0001f600"}, {"name": "odd", "description": "\ud83d!"}]
    (result,) = results(case.fed(line(answer(tools=tools))))
    assert [tool["description"] for tool in result["tools"]] == ["\U0001f600", "\ufffd!"]
    assert case.flaws == {LONE_SURROGATE: ("repaired", 1)}


@pytest.mark.parametrize("levels", [200, 900, 1_100, 100_000])
def test_an_answer_that_is_nested_too_deeply_is_an_error_for_whoever_asked(levels: int) -> None:
    text = json.dumps(answer(tools=[{"name": "good"}, {"name": "deep", "inputSchema": "DEEP"}]))
    (message,) = Case().fed(text.replace('"DEEP"', "[" * levels + "]" * levels).encode() + b"\n")
    assert isinstance(message.message, JSONRPCError)
    assert (message.message.id, message.message.error.message) == (1, UNREADABLE)


def test_what_is_not_quite_a_message_is_repaired_and_counted() -> None:
    case = Case()
    sent = line(answer(text="caf\xe9"), ensure_ascii=False)
    assert list(results(case.fed(b"\xef\xbb\xbf" + sent))) == [{"text": "caf\xe9"}]
    assert list(results(case.fed(b"working... " + sent))) == [{"text": "caf\xe9"}]
    assert list(results(case.fed(sent.replace(b"\xc3\xa9", b"\xe9")))) == [{"text": "caf\ufffd"}]
    assert list(results(case.fed(sent.strip() + sent))) == [{"text": "caf\xe9"}] * 2
    assert case.flaws == dict.fromkeys((MARK, OTHER_TEXT, NOT_UTF8), ("repaired", 1))


def test_noise_is_kept_with_its_first_line_and_how_often() -> None:
    case = Case()
    case.fed(b"Ready on 3025\n[]\n" + b"started " + line(answer()))
    noise = [(flaw.what, flaw.count, flaw.first) for flaw in case.log.flaws() if flaw.first]
    assert noise == [(STRAY, 2, "Ready on 3025"), (OTHER_TEXT, 1, "started")]


def test_an_answer_that_is_no_result_is_an_error_for_whoever_asked() -> None:
    (message,) = Case().fed(line({"jsonrpc": "2.0", "id": 1, "result": ["no", "object"]}))
    assert isinstance(message.message, JSONRPCError)
    assert (message.message.id, message.message.error.message) == (1, UNREADABLE)


def test_a_message_that_is_too_long_is_counted() -> None:
    case = Case()
    case.fed(b"x" * 50 + b"\n", longest=20)
    assert case.flaws == {TOO_LONG: ("dropped", 1), STRAY: ("dropped", 1)}
    assert isinstance(next(Lines(1).feed(b"xy\n")), CutLine)


def test_a_flood_is_dropped_and_counted_and_no_answer_is() -> None:
    case, flood = Case(), (CHANGED + b"\n") * (MESSAGES + 500)
    messages = case.fed(flood + line(answer(ok=True)) + CHANGED + b"\n")
    assert sum(isinstance(each.message, JSONRPCNotification) for each in messages) == MESSAGES
    assert list(results(messages[MESSAGES:])) == [{"ok": True}]
    assert case.flaws == {FLOOD: ("dropped", 501)}
    assert case.changes == 501
    assert case.reader.pause(0.01) > 0
    assert case.reader.pause(0.01) == 0


@pytest.mark.parametrize(
    "each",
    [
        b"no message\n",
        b'{"jsonrpc":"2.0","id":9999,"result":{}}\n',
        b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
        b'{"level":"info"}\n',
    ],
)
def test_whatever_else_nobody_asked_for_is_bounded_too(each: bytes) -> None:
    case = Case()
    messages = case.fed(each * 5_000 + line(answer(ok=True)))
    assert len(messages) <= MESSAGES + 1
    assert list(results(messages[-1:])) == [{"ok": True}]
    assert case.log.total <= MESSAGES
    assert sum(count for _, count in case.flaws.values()) >= 4_000


class Chunks(httpx2.AsyncByteStream):
    """A body that comes in these pieces."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece


def stream_of(kind: str, case: Case, *pieces: bytes) -> httpx2.AsyncByteStream:
    """A body of this kind, as the SDK gets it."""
    request = httpx2.Request("POST", "http://127.0.0.1/mcp")
    response = httpx2.Response(200, headers={"content-type": kind}, request=request)
    return read_stream(Chunks(*pieces), response, case.reader, lambda _: None)


async def events(case: Case, *pieces: bytes) -> list[Any]:
    """The messages that the SDK gets of a stream of events, behind its transport."""
    stream = stream_of("text/event-stream; charset=utf-8", case, *pieces)
    text = b"".join([piece async for piece in stream])
    data = [each.removeprefix(b"data: ") for each in text.split(b"\n") if each.startswith(b"data: ")]
    found = [message for each in data for message in Case().reader.body(each)]
    return [case.reader.stand_ins.released(each).message for each in found]


@given(st.lists(st.integers(0, 300), max_size=6))
async def test_a_stream_of_events_is_the_same_however_it_is_cut(cuts: list[int]) -> None:
    odd = line(answer(tools=[{"name": "\ud83d"}]))
    data = b"\xef\xbb\xbfdata: " + line(answer(2, ok=True)) + b"id: 1\r\nevent: message\r\n\r\n"
    data += b": ping\n\ndata: garbage\n\ndata: " + odd + b"\ndata:" + CHANGED
    ends = sorted({0, *(cut for cut in cuts if cut < len(data)), len(data)})
    case = Case()
    first, second, third = await events(case, *(data[start:end] for start, end in pairwise(ends)))
    assert (first.result, second.result) == ({"ok": True}, {"tools": [{"name": "\ufffd"}]})
    assert isinstance(third, JSONRPCNotification)
    assert list(case.flaws) == [STRAY, LONE_SURROGATE]


@given(st.lists(st.binary(max_size=40), max_size=4))
async def test_no_stream_of_events_raises_anything(pieces: list[bytes]) -> None:
    await events(Case(), *pieces)


async def test_a_body_that_is_no_message_reaches_the_sdk_as_it_came() -> None:
    stream = stream_of("application/json", Case(), b"<html>", b"</html>")
    assert b"".join([piece async for piece in stream]) == b"<html></html>"


def block(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


@pytest.mark.parametrize(
    ("raw", "text", "kinds"),
    [
        ({"content": [block("text", text="a"), block("text", text="b")]}, "a\nb", ("text", "text")),
        ({"content": [block("image", data="QUJD", mimeType="i/p")]}, "[image i/p, 3 B]", ("image",)),
        ({"content": [block("audio", data="QUI=")]}, "[audio of unknown type, 2 B]", ("audio",)),
        (
            {"content": [block("resource", resource={"uri": "file:///a", "text": "hi"})]},
            "[resource file:///a]\nhi",
            ("resource",),
        ),
        (
            {"content": [block("resource", resource={"uri": "x:/a", "mimeType": "a/b", "blob": "AAAA"})]},
            "[resource x:/a a/b, 3 B]",
            ("resource",),
        ),
        ({"content": [block("resource_link", uri="x:/a", name="A")]}, "[link x:/a A]", ("resource_link",)),
        ({"content": [], "structuredContent": {"a": 1}}, '{"a":1}', ("structured",)),
        ({"content": [block("text", text=" ")], "structuredContent": [1]}, "[1]", ("text", "structured")),
        ({"content": "bare"}, '"bare"', ("unknown",)),
        ({"content": [None, block("text")]}, "null\nnull", ("unknown", "text")),
        ({"content": [{"type": 7}]}, '[unknown: {"type":7}]', ("unknown",)),
        ({}, "", ("empty",)),
    ],
)  # fmt: skip
def test_a_result_reads_as_text(raw: Mapping[str, Any], text: str, kinds: tuple[str, ...]) -> None:
    result = tool_result(raw)
    assert (result.text, result.kinds, result.is_error) == (text, kinds, False)


def test_images_sounds_and_blobs_come_with_their_bytes_and_broken_base64_is_an_error() -> None:
    blob = {"uri": "x:/a", "mimeType": "application/gzip", "blob": "AAA="}
    blocks = [
        block("image", data="AAAA", mimeType="image/png"),
        block("audio", data="*", mimeType=7),
        block("resource", resource=blob),
        block("resource", resource={"uri": "x:/b", "text": "b"}),
        block("image"),
    ]
    image, audio, file = tool_result({"content": blocks}).attachments
    assert (image.suffix, image.data(), image.size) == (".png", bytes(3), 3)
    assert (file.kind, file.uri, file.data(), file.size) == ("resource", "x:/a", bytes(2), 2)
    assert (audio.mime, audio.suffix) == ("7", ".bin")
    with pytest.raises(ToolsightError, match="not base64"):
        audio.data()


@pytest.mark.parametrize("raw", [{"resultType": "input_required"}, {"task": {"taskId": "1"}}])
def test_results_that_only_begin_something_say_so(raw: Mapping[str, Any]) -> None:
    result = tool_result(raw)
    assert result.is_error
    assert "Toolsight" in result.text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (999, "999 B"), (12_288, "12 KB"), (3_400_000, "3 MB"), (2e12, "2000 GB")]
)
def test_sizes_read_well(count: float, text: str) -> None:
    assert size_text(count) == text


@pytest.mark.parametrize(
    ("candidates", "line"),
    [
        (("First. Second.", "title"), "First."),
        (("\n\n  # A   heading\nmore", None), "A heading"),
        ((None, "", "description"), "description"),
        (("x" * 200,), "x" * 159 + "…"),
        ((None,), ""),
    ],
)
def test_a_summary_is_one_short_line(candidates: tuple[str | None, ...], line: str) -> None:
    assert summary(*candidates) == line


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (None, "closed its output"),
        (0, "ended with exit code 0"),
        (-9, "was killed by SIGKILL"),
    ],
)
def test_an_end_reads_as_the_rest_of_a_sentence(code: int | None, text: str) -> None:
    assert exit_text(code) == text


@pytest.mark.parametrize("page", [{"tools": "none"}, {}, {"tools": [], "_meta": 5}])
def test_a_page_that_is_wrong_as_a_whole_is_left_to_the_sdk(page: Mapping[str, Any]) -> None:
    assert with_valid_tools(page, "2025-06-18") == page


OBJECT = {"type": "object"}
REST = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "nextCursor": "2"}
PROTOCOLS = st.sampled_from(["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28", "", "1999-01-01"])
GOOD = st.fixed_dictionaries(
    {"name": st.sampled_from(["a", "b", "x" * 200, ""]), "inputSchema": st.just(OBJECT)},
    optional={"description": st.text(max_size=5), "title": st.just("T"), "other": st.integers()},
)
BAD: st.SearchStrategy[Any] = st.sampled_from(
    [
        7,
        None,
        {"inputSchema": OBJECT},
        {"name": 3, "inputSchema": OBJECT},
        {"name": "untyped", "inputSchema": {}},
        {"name": "snake", "input_schema": OBJECT},
        {"name": "claims", "inputSchema": OBJECT, "annotations": {"readOnlyHint": "maybe"}},
        {"name": "output", "inputSchema": OBJECT, "outputSchema": 1},
        {"name": "output", "inputSchema": OBJECT, "outputSchema": {"type": "array"}},
        {"name": "meta", "inputSchema": OBJECT, "_meta": []},
        {"name": "run", "inputSchema": OBJECT, "execution": {"taskSupport": "sometimes"}},
    ]
)


def skipped_in(page: Mapping[str, Any]) -> list[SkippedTool]:
    """The tools that a page leaves out."""
    return [SkippedTool(*one) for one in page["_meta"][SKIPPED]]


def kept_and_skipped(tools: Sequence[Any], protocol: str) -> tuple[list[Any], list[SkippedTool]]:
    page = with_valid_tools({**REST, "tools": tools, "_meta": {"mine": 1}}, protocol)
    assert page["_meta"]["mine"] == 1
    assert {key: page[key] for key in REST} == REST
    return page["tools"], skipped_in(page)


@given(st.lists(GOOD | BAD, max_size=8), PROTOCOLS)
def test_a_tool_is_judged_as_if_it_were_alone_on_its_page(tools: list[Any], protocol: str) -> None:
    alone = [kept_and_skipped([tool], protocol) for tool in tools]
    kept, skipped = kept_and_skipped(tools, protocol)
    assert kept == [tool for good, _ in alone for tool in good]
    expected = []
    for number, (_, bad) in enumerate(alone, start=1):
        expected += [replace(one, number=number) for one in bad]
    assert skipped == expected


def test_a_tool_that_no_model_could_read_is_left_out_and_named() -> None:
    giant = {"name": "giant", "inputSchema": {"type": "object", "title": "x" * MAX_DEFINITION}}
    small = {"name": "small", "inputSchema": {"type": "object"}}
    bad = {"name": "bad"}
    page = with_valid_tools({"tools": [giant, small, bad], "_meta": {SKIPPED: [["mine", "?"]]}}, "2025-06-18")
    assert [tool["name"] for tool in page["tools"]] == ["small"]
    lost = skipped_in(page)
    assert [(one.label, one.number, one.definition) for one in lost] == [("bad", 2, bad), ("giant", 1, None)]
    assert "reads at most 1 MB" in lost[1].reason


PROPERTIES = {**OBJECT, "properties": {"title": "string"}}
WRONG: dict[str, tuple[Any, str, str]] = {
    "no schema": ({}, "inputSchema", "inputSchema is missing"),
    "text as schema": ({"inputSchema": "x"}, "inputSchema", 'inputSchema is "x", not an object'),
    "no type": ({"inputSchema": {}}, "inputSchema.type", "inputSchema.type is missing"),
    "other type": (
        {"inputSchema": {"type": "string"}},
        "inputSchema.type",
        'inputSchema.type is "string", not "object"',
    ),
    "long text": (
        {"inputSchema": OBJECT, "title": ["x" * 99], "description": "x"},
        "title",
        "title is an array, not a string",
    ),
    "number as description": (
        {"inputSchema": OBJECT, "description": 5},
        "description",
        "description is 5, not a string",
    ),
    "wrapped": (
        {"inputSchema": {"jsonSchema": OBJECT}},
        "inputSchema",
        "the schema is inside of jsonSchema",
    ),
    "text as parameter": (
        {"inputSchema": OBJECT, "outputSchema": PROPERTIES},
        "outputSchema.properties.title",
        'outputSchema.properties.title is "string", not a schema',
    ),
    "typed around another": (
        {"inputSchema": {"type": "string", "inner": OBJECT}},
        "inputSchema.type",
        'inputSchema.type is "string", not "object"',
    ),
    "hint": (
        {"inputSchema": OBJECT, "annotations": {"readOnlyHint": "maybe"}},
        "annotations.readOnlyHint",
        'annotations.readOnlyHint is "maybe", not true or false',
    ),
}


def test_a_value_is_told_of_a_definition_alone_as_others_may_be_secret() -> None:
    with pytest.raises(ValidationError) as caught:
        JSONRPCNotification.model_validate({"jsonrpc": "2.0", "method": ["hunter2"]})
    assert flaw_text(caught.value) == "method is not a string"


def test_what_is_kept_of_lost_tools_is_bounded() -> None:
    lost = [{"name": "a", "inputSchema": "x" * 30_000}] * 9
    skipped = skipped_in(with_valid_tools({"tools": lost}, "2025-06-18"))
    assert [one.definition is not None for one in skipped] == [True] * 3 + [False] * 6


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_with_a_tool_is_said_in_words_with_its_place(wrong: str) -> None:
    given, place, words = WRONG[wrong]
    tool = {"name": "a", **given}
    page = with_valid_tools({"tools": [tool]}, "2025-06-18")
    assert skipped_in(page) == [SkippedTool("a", words, place=place, number=1, definition=tool)]
    (null,) = skipped_in(with_valid_tools({"tools": [None]}, "2025-06-18"))
    assert (null.label, null.reason, null.place) == ("tool 1", "it is null, not an object", "")
