"""A result that is too long: what is cut is still counted."""

from pathlib import Path

from inspector.clients.client import real_clients
from inspector.clients.seen import kept_results
from inspector.core.events import CallFinished
from inspector.core.message import ToolResult
from inspector.core.tool import Tool
from inspector.mcp.client.translate import MAX_TEXT, tool_result
from inspector.store.saved_call import SavedCall, save_call, saved_call

TOOL = Tool("shop", "export", "", {"type": "object"})


def result_of(length: int) -> ToolResult:
    return tool_result({"content": [{"type": "text", "text": "late order " * (length // 11)}]})


def words(text: str) -> int:
    """Tokens, as far as this test needs them."""
    return text.count(" ")


def test_the_true_length_stays_beside_a_cut_text() -> None:
    short, long = result_of(1_100), result_of(5_500_000)
    assert (short.whole, short.in_whole(words(short.text)), short.cut_words) == (0, 200, "")
    assert long.whole == 5_500_000
    assert len(long.text) < MAX_TEXT + 100
    assert 990_000 < long.in_whole(words(long.text)) < 1_010_000
    assert "of 5,500,000 characters kept" in long.cut_words


def test_what_a_client_loses_is_measured_on_the_whole_result() -> None:
    kept = kept_results(real_clients(), TOOL, result_of(5_500_000), words)
    assert [one for one in kept if "5,500,000" in one.says]
    assert not [one for one in kept if str(MAX_TEXT)[:3] in one.says.split(" of ")[-1][:3]]


def test_the_length_is_recorded_and_saved_with_the_result(tmp_path: Path) -> None:
    result = result_of(5_500_000)
    save_call(tmp_path / "calls.json", "all", SavedCall(TOOL.id, {}, result))
    assert saved_call(tmp_path / "calls.json", "all").result.whole == result.whole
    finished = CallFinished("1", TOOL.id, True, result.text, whole=result.whole)
    assert "5,500,000 characters" in finished.summary()
