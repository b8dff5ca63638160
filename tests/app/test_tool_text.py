"""What is said of a tool."""

from inspector.app.pages.tools import tool_text as content
from inspector.core.error import ToolsightError
from inspector.core.message import ToolResult
from inspector.core.session import Binding, ToolState
from inspector.core.tool import Annotations, Tool
from tests.support.hostile import with_hostile_text
from tests.widgets.hostile import dangerous

CHANGES = "its server says it makes changes"
TOOL = Tool("shop", "refund_order", "Refund an order.", annotations=Annotations(read_only=False))


def test_the_title_has_the_state_in_words_the_tokens_and_the_uses() -> None:
    state = ToolState(TOOL.id, 4120, Binding.LOADED, uses=2)
    text = content.title(TOOL, state, 100).plain
    assert text == "shop:refund_order   ● loaded\n4.1k tokens   used 2x"


def test_the_facts_say_who_claims_what_and_when_it_asks() -> None:
    text = content.facts(TOOL, ToolState(TOOL.id, 1, Binding.EVICTED, reason="loop guard"), CHANGES).plain
    assert "name for the model   shop__refund_order" in text
    assert "its server claims    makes changes" in text
    assert f"you are asked because {CHANGES}" in text
    assert "evicted              loop guard" in text
    claims = Annotations(read_only=True, open_world=False)
    assert content.claims(claims) == ("only reads", "does not reach external systems")


def test_a_result_says_how_it_went_and_what_it_is_made_of() -> None:
    assert content.result_line(ToolResult("x", True), 12.4).plain == "✕ the tool failed   12 ms"
    assert content.result_line(ToolResult("x", kinds=("image",)), 1).plain == "✓ ok   1 ms   image"


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
