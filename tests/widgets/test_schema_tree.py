"""Schemas open level by level, whatever they point at."""

import pytest
from hypothesis import given, strategies as st

from tests.support.any_json import any_json
from tests.widgets.hostile import HOSTILE, LONG, dangerous
from tests.widgets.screen import Host, lines
from widgets import SchemaTree, schema_tree
from widgets.schema_tree import Entry, children, resolve, top

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


def text(entry: Entry) -> str:
    return "".join(piece for piece, _ in entry.label)


class TreeApp(Host[SchemaTree]):
    CSS = "SchemaTree { height: 1fr; }"


def test_a_parameter_says_type_choices_default_and_description() -> None:
    schema = {
        "properties": {"n": {"type": "integer", "enum": [1, 2], "default": 1, "description": "How [many]"}},
        "required": ["n"],
    }
    assert text(next(children(top(schema, schema=True), schema))) == "n *  integer  1 | 2  = 1  How [many]"


def test_a_reference_to_itself_ends() -> None:
    assert resolve({"$ref": "#/$defs/Self"}, LOOP) == ({}, ["#/$defs/Self"])
    assert resolve({"$ref": "https://example.org/x"}, LOOP) == ({}, ["https://example.org/x"])


@given(JSON)
def test_any_value_can_be_outlined_to_the_bottom(value: object) -> None:
    level = [top(value, schema=True)]
    for _ in range(6):
        level = [child for entry in level if entry.expandable for child in children(entry, value)][:200]
        assert all(dangerous(text(entry)) == [] for entry in level)


async def test_a_recursive_schema_opens_and_stops_where_it_repeats() -> None:
    app = TreeApp(SchemaTree(LOOP, schema=True))
    async with app.run_test() as pilot:
        await pilot.press("enter", "down", "y")
        screen = "\n".join(lines(app))
        assert "node *  object  → #/$defs/Node  A node" in screen
        assert "child  object  → #/$defs/Node  ↻ repeats a schema above" in screen
        assert '"$ref": "#/$defs/Node"' in app.clipboard


async def test_of_many_lines_the_first_are_shown_and_all_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_tree, "_MOST", 5)
    app = TreeApp(SchemaTree({str(n): n for n in range(1_000)}))
    async with app.run_test() as pilot:
        assert "… 995 more" in "\n".join(lines(app))
        await pilot.press(*["down"] * 5, "y")
        assert '"999": 999' in app.clipboard


async def test_a_hostile_schema_is_harmless() -> None:
    properties = {
        key: {"type": key, "description": key, "default": key, "enum": [key]} for key in (*HOSTILE, LONG)
    }
    app = TreeApp(SchemaTree({"properties": properties, "title": LONG}, schema=True))
    async with app.run_test() as pilot:
        await pilot.press("enter", "end")
        assert dangerous("".join(lines(app))) == []
        app.made.value = {"properties": {"next": {"type": "string"}}}
        await pilot.pause()
        assert "next  string" in "\n".join(lines(app))


def test_an_outline_has_the_parameters_alone_and_stops_at_loops() -> None:
    shown = [line.plain for line in schema_tree.outline(LOOP)]
    assert shown[0].startswith("node *  object")
    assert shown[1].startswith("  child  object")
    assert not any(line.startswith("$defs") for line in shown)


@given(JSON)
def test_any_schema_has_a_short_outline(value: object) -> None:
    shown = list(schema_tree.outline(value))
    assert len(shown) <= 81
    assert not any(dangerous(line.plain) for line in shown)
