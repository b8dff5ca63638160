"""A call saved with a name comes back as it was, and a later result is compared with the saved one."""

from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.core.error import ConfigError
from inspector.core.message import Attachment, ToolResult
from inspector.features.tools.call import result_changes
from inspector.store.saved_call import SavedCall, save_call, saved_call, saved_calls

OSLO = SavedCall("weather:get", {"city": "Oslo", "days": 3}, ToolResult("rain", structured={"mm": 4}))


def test_a_saved_call_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "calls.json"
    assert saved_calls(path) == {}
    save_call(path, "oslo", OSLO)
    save_call(path, "b", SavedCall("a:b", {}, ToolResult("no", is_error=True, kinds=("empty",))))
    assert saved_call(path, "oslo") == OSLO
    assert list(saved_calls(path)) == ["b", "oslo"]
    with pytest.raises(ConfigError) as error:
        saved_call(path, "olso")
    assert "oslo" in error.value.hint


def test_an_image_is_not_saved_with_its_call(tmp_path: Path) -> None:
    image = Attachment("image", "image/png", "", "AAAA")
    save_call(tmp_path / "calls.json", "a", replace(OSLO, result=replace(OSLO.result, attachments=(image,))))
    assert saved_call(tmp_path / "calls.json", "a") == OSLO
    assert "AAAA" not in (tmp_path / "calls.json").read_text()


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"calls": []}', '{"calls": {"a": {"tool": 1}}}', "[" * 9_999]
)
def test_a_file_that_holds_no_calls_is_refused_and_kept(tmp_path: Path, text: str) -> None:
    path = tmp_path / "calls.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match="does not hold saved calls"):
        save_call(path, "oslo", OSLO)
    assert path.read_text() == text


results = st.builds(ToolResult, st.text(max_size=20), st.booleans(), st.none() | st.just({"a": 1}))


@given(results)
def test_an_equal_result_has_no_changes(result: ToolResult) -> None:
    assert result_changes(result, result) == ()


@pytest.mark.parametrize(
    ("after", "changes"),
    [
        (ToolResult("rain\nsun"), ("+sun",)),
        (ToolResult("rain", is_error=True), ("-ok", "+error")),
        (ToolResult("rain", structured={"mm": 5}), ("-null", "+{", '+  "mm": 5', "+}")),
    ],
)
def test_what_differs_is_shown(after: ToolResult, changes: tuple[str, ...]) -> None:
    assert result_changes(ToolResult("rain"), after) == changes


def test_long_differences_are_cut() -> None:
    shown = result_changes(ToolResult(""), ToolResult("\n".join(map(str, range(100)))))
    assert len(shown) == 41
    assert shown[-1] == "… 60 more lines"
