"""The requests that an empty chat offers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import Any, cast

from hypothesis import given, strategies as st

from inspector.app.example_request import example_requests
from inspector.core.tool import Annotations, Tool

READS = Annotations(read_only=True)
SOME_TOOLS = st.lists(
    st.builds(
        Tool,
        st.sampled_from("abcd"),
        st.just("t"),
        st.sampled_from(["", " ", ".", "One.", "Two. More.", "Three", "Four", "Five"]),
        annotations=st.sampled_from([READS, Annotations()]),
    ),
    max_size=12,
)


@dataclass
class Listed:
    """A tool that counts how often its description is read."""

    server: str
    says: str
    annotations: Annotations
    reads: list[str] = field(default_factory=list)

    @property
    def description(self) -> str:
        self.reads.append(self.says)
        return self.says


def test_examples_are_what_tools_of_different_servers_say_they_do() -> None:
    tools = (
        Tool("shop", "list_orders", "List the orders. Newest first.", annotations=READS),
        Tool("shop", "get_order", "Get one order.", annotations=READS),
        Tool("mail", "send", "Send a message."),
    )
    assert example_requests(tools) == ("List the orders", "Send a message", "Get one order")
    assert example_requests(tools, most=1) == ("List the orders",)


def test_what_only_reads_is_offered_before_what_changes_something() -> None:
    tools = (Tool("shop", "refund", "Refund an order."), Tool("shop", "get", "Get one.", annotations=READS))
    assert example_requests(tools) == ("Get one", "Refund an order")


def test_a_tool_that_says_nothing_is_no_example() -> None:
    assert example_requests((Tool("a", "b"), Tool("a", "c", "  "))) == ()


@given(st.lists(st.builds(Tool, st.sampled_from("ab"), st.just("t"), st.text(max_size=300)), max_size=9))
def test_examples_are_few_short_different_and_on_one_line(tools: list[Tool]) -> None:
    found = example_requests(tools)
    assert len(found) == len(set(found)) <= 3
    for text in found:
        assert text.strip()
        assert len(text) <= 72
        assert "\n" not in text


@given(SOME_TOOLS, st.integers(0, 6))
def test_the_servers_take_turns_in_the_order_of_what_they_say_first(tools: list[Tool], most: int) -> None:
    said: dict[str, list[str]] = {}
    for tool in sorted(tools, key=lambda tool: not tool.annotations.read_only):
        if request := tool.description.split(".")[0].strip():
            said.setdefault(tool.server, []).append(request)
    in_turn = chain.from_iterable(zip_longest(*said.values()))
    assert example_requests(tools, most) == tuple(dict.fromkeys(filter(None, in_turn)))[:most]


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=60), st.integers(1, 4))
def test_no_more_descriptions_are_read_than_the_examples_need(
    listed: Sequence[tuple[int, bool]], most: int
) -> None:
    reads: list[str] = []
    tools: list[Any] = [
        Listed(str(server), f"Request {number}", READS if only_reads else Annotations(), reads)
        for number, (server, only_reads) in enumerate(listed)
    ]
    found = example_requests(cast("list[Tool]", tools), most)
    servers = len({tool.server for tool in tools})
    assert len(found) == min(most, len(tools))
    if servers >= most:
        assert tuple(reads) == found
    else:
        # A turn of all servers is read at a time.
        assert len(reads) <= len(found) + servers
