"""Scripts of the few forms: what is read, what is refused, and that nothing else gets through."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, strategies as st

from inspector.tokens.script import (
    MOST_CALLS,
    Part,
    Script,
    ScriptCall,
    ScriptError,
    filled,
    parts,
    read_script,
    result_value,
    returned_text,
)

TWO = """
const a = await shop__list({"late": true, "limit": 2});
const b = await mail__draft({"to": a.orders[0].email, "cc": [a["re: x"]]});
return {"id": b.id};
"""


def test_calls_are_read_with_parts_of_results_in_place_of_values() -> None:
    assert read_script(TWO) == Script(
        (
            ScriptCall("a", "shop__list", {"late": True, "limit": 2}),
            ScriptCall(
                "b",
                "mail__draft",
                {"to": Part("a", ("orders", 0, "email")), "cc": [Part("a", ("re: x",))]},
            ),
        ),
        {"id": Part("b", ("id",))},
    )
    assert list(parts(read_script(TWO).returns)) == [Part("b", ("id",))]


CALL = "const a = await s__t({});\n"


@pytest.mark.parametrize(
    "text",
    [
        "", "return 1;", "s__t({});", "const a = s__t({}); return a;", CALL, f"{CALL}return b;",
        f"{CALL}{CALL}return a;", f"{CALL}return a.map(x => x);", f"{CALL}return a; process.exit();",
        f"{CALL}if (a) {{ }} return a;", f"{CALL}return a + 1;", f"{CALL}return `x`;",
        "const a = await s__t({\"x\": y});\nreturn a;", "const a = await s__t([1]);\nreturn a;",
        "const a = await s.t({});\nreturn a;", "const a = await s__t({}, {});\nreturn a;",
        f"{CALL}return NaN;", f"{CALL}return true.x;",
        CALL + "return " + "[" * 50_000, "x" * 200_000, None, 7,
    ],
)  # fmt: skip
def test_anything_else_is_refused(text: Any) -> None:
    with pytest.raises(ScriptError):
        read_script(text)


def test_a_script_has_a_limited_number_of_calls() -> None:
    calls = [f"const r{at} = await s__t({{}});" for at in range(MOST_CALLS + 1)]
    assert len(read_script("\n".join([*calls[:-1], "return r0;"])).calls) == MOST_CALLS
    with pytest.raises(ScriptError, match="each of at most 50"):
        read_script("\n".join([*calls, "return r0;"]))


@given(st.text())
def test_no_text_does_more_than_raise_a_script_error(text: str) -> None:
    with suppress(ScriptError):
        read_script(CALL + text)


KEYS = st.text(st.characters(exclude_characters="\0"), max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | KEYS | st.builds(Part, st.just("r0")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
)


@given(st.dictionaries(KEYS, JSON), JSON)
def test_a_script_is_read_as_it_was_written(arguments: dict[str, Any], returns: Any) -> None:
    script = Script((ScriptCall("r0", "s__t", {}), ScriptCall("r1", "s__u", arguments)), returns)
    assert read_script(script.text) == script


def test_a_part_that_a_result_lacks_is_an_error_that_names_it() -> None:
    results = {"a": {"rows": [{"id": 7}]}, "b": "text"}
    assert filled([Part("a", ("rows", 0, "id")), {"x": Part("b")}], results) == [7, {"x": "text"}]
    for path in (("rows", 1), ("rows", "id"), ("nothing",), ("rows", 0, "id", "deeper")):
        with pytest.raises(ScriptError, match="undefined"):
            filled(Part("a", path), results)


def test_a_script_sees_data_before_text_and_returns_text_as_it_is() -> None:
    assert result_value('{"a": 1}', {"b": 2}) == {"b": 2}
    assert (result_value('{"a": 1}', None), result_value("plain", None)) == ({"a": 1}, "plain")
    assert (returned_text("plain"), returned_text({"a": 1}), returned_text("")) == ("plain", '{"a":1}', '""')
