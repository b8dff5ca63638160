"""What is said of a tool."""

import json

import pytest

from inspector.app.pages.tools import tool_text as content
from inspector.core.error import ToolsightError
from inspector.core.message import ToolResult
from inspector.core.session import Binding, ToolState
from inspector.core.tool import Annotations, Tool, definition
from tests.support.hostile import with_hostile_text
from tests.widgets.hostile import dangerous

CHANGES = "its server says it makes changes"
TOOL = Tool("shop", "refund_order", "Refund an order.", annotations=Annotations(read_only=False))


def test_the_title_has_the_state_in_words_the_tokens_and_the_uses() -> None:
    state = ToolState(TOOL.id, 4120, Binding.LOADED, uses=2)
    text = content.title(TOOL, state, 100).plain
    assert text == "shop:refund_order   ● loaded\n4.1k tokens   used 2x"


def test_only_what_the_server_mentions_is_a_claim() -> None:
    assert content.claims(Annotations()) == ()
    assert content.claims(Annotations(read_only=True, open_world=False)) == (
        "only reads",
        "does not reach external systems",
    )


def test_the_facts_say_who_claims_what_and_when_it_asks() -> None:
    text = content.facts(TOOL, ToolState(TOOL.id, 1, Binding.EVICTED, reason="loop guard"), CHANGES).plain
    assert "name for the model   shop__refund_order" in text
    assert "its server claims    makes changes" in text
    assert f"you are asked because {CHANGES}" in text
    assert "evicted              loop guard" in text


def test_the_json_is_the_definition_that_is_sent() -> None:
    assert json.loads(content.exact_json(TOOL)) == definition(TOOL)


@pytest.mark.parametrize(("failed", "words"), [(False, "✓ ok"), (True, "✕ the tool failed")])
def test_a_result_says_how_it_went(failed: bool, words: str) -> None:
    assert content.result_line(ToolResult("x", failed), 12.4).plain == f"{words}   12 ms"


def test_a_result_that_is_not_only_text_says_so() -> None:
    assert content.result_line(ToolResult("x", kinds=("image",)), 1).plain == "✓ ok   1 ms   image"


def test_a_failure_comes_with_its_hint() -> None:
    line = content.failure_line(ToolsightError("shop is gone", hint="Reconnect it."), 3)
    assert line.plain == "✕ shop is gone   3 ms\nReconnect it."


@with_hostile_text
def test_hostile_text_does_no_harm(text: str) -> None:
    tool = Tool(text, text, text, {"type": "object"}, TOOL.annotations, title=text)
    state = ToolState(tool.id, 1, Binding.EVICTED, reason=text)
    shown = (
        content.title(tool, state, 80),
        content.facts(tool, state, CHANGES),
        content.failure_line(ToolsightError(text, hint=text), 1),
        content.result_line(ToolResult("", kinds=(text,)), 1),
    )
    for drawn in shown:
        assert not dangerous(drawn.plain.replace("\n", "").replace("\t", ""))
