"""Values open level by level, and schemas are read in lines, whatever they point at."""

import pytest
from hypothesis import given, strategies as st

from tests.support.any_json import any_json
from tests.widgets.hostile import HOSTILE, LONG, dangerous
from tests.widgets.screen import Host, lines
from widgets import JsonTree, schema_tree
from widgets.schema_tree import outline, resolve

LOOP = {
    "properties": {"node": {"$ref": "#/$defs/Node", "description": "A node"}},
    "required": ["node"],
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {
                "child": {"$ref": "#/$defs/Node"},
                "all": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            },
        },
        "Self": {"$ref": "#/$defs/Self"},
    },
}
JSON = any_json("$ref", "properties", "anyOf", texts=st.text(), leaves=20)


class TreeApp(Host[JsonTree]):
    CSS = "JsonTree { height: 1fr; }"


def test_a_parameter_says_type_choices_default_and_description() -> None:
    schema = {
        "properties": {"n": {"type": "integer", "enum": [1, 2], "default": 1, "description": "How [many]"}},
        "required": ["n"],
    }
    assert next(outline(schema)).plain == "n *  integer  1 | 2  = 1  How [many]"


def test_a_reference_to_itself_ends() -> None:
    assert resolve({"$ref": "#/$defs/Self"}, LOOP) == ({}, ["#/$defs/Self"])
    assert resolve({"$ref": "https://example.org/x"}, LOOP) == ({}, ["https://example.org/x"])


async def test_of_many_lines_the_first_are_shown_and_all_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_tree, "_MOST", 5)
    app = TreeApp(JsonTree({str(n): n for n in range(1_000)}, empty=""))
    async with app.run_test() as pilot:
        assert "… 995 more" in "\n".join(lines(app))
        await pilot.press(*["down"] * 5, "y")
        assert '"999": 999' in app.clipboard


async def test_a_hostile_value_is_harmless() -> None:
    app = TreeApp(JsonTree({"all": {key: [key] for key in (*HOSTILE, LONG)}}, empty=""))
    async with app.run_test() as pilot:
        await pilot.press("enter", "end")
        assert dangerous("".join(lines(app))) == []
        app.made.value = {"next": "string"}
        await pilot.pause()
        assert 'next: "string"' in "\n".join(lines(app))


def test_a_hostile_schema_is_harmless() -> None:
    properties = {
        key: {"type": key, "description": key, "default": key, "enum": [key]} for key in (*HOSTILE, LONG)
    }
    assert not any(dangerous(line.plain) for line in outline({"properties": properties, "title": LONG}))


def test_an_outline_has_the_parameters_alone_and_stops_at_loops() -> None:
    shown = [line.plain for line in outline(LOOP)]
    assert shown[0].startswith("node *  object")
    assert shown[1] == "  child  object  → #/$defs/Node  ↻ repeats a schema above"
    assert not any(line.startswith("$defs") for line in shown)


@given(JSON)
def test_any_schema_has_a_short_outline(value: object) -> None:
    shown = list(outline(value))
    assert len(shown) <= 81
    assert not any(dangerous(line.plain) for line in shown)
