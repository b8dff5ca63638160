"""The requests that an empty chat offers."""

import pytest
from hypothesis import given, strategies as st

from inspector.core.text import first_sentence
from inspector.core.tool import Annotations, Tool
from inspector.features.chat import page
from inspector.features.chat.page import example_requests

READS = Annotations(read_only=True)


def test_examples_are_what_tools_of_different_servers_say_and_those_that_only_read_come_first() -> None:
    tools = (
        Tool("mail", "send", "Send a message."),
        Tool("shop", "refund", "Refund an order."),
        Tool("shop", "list_orders", "List the orders. Newest first.", annotations=READS),
        Tool("shop", "get_order", "Get one order.", annotations=READS),
    )
    assert example_requests(tools) == ("List the orders", "Send a message", "Get one order")
    assert example_requests(tools, most=1) == ("List the orders",)


@given(st.lists(st.builds(Tool, st.sampled_from("ab"), st.just("t"), st.text(max_size=300)), max_size=9))
def test_examples_are_few_short_different_and_on_one_line(tools: list[Tool]) -> None:
    found = example_requests(tools)
    assert len(found) == len(set(found)) <= 3
    for text in found:
        assert text.strip()
        assert len(text) <= 72
        assert "\n" not in text


def test_a_second_view_reads_no_description_again(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(text: str) -> str:
        read.append(text)
        return first_sentence(text)

    monkeypatch.setattr(page, "first_sentence", counted)
    tools = [Tool("counted", f"tool_{number}", f"Counts {number} things.") for number in range(5)]
    assert example_requests(tools) == example_requests(tools)
    assert len(read) == 5
