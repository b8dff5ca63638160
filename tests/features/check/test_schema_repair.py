"""The repair of a schema where it stands in a source file, and as people read it."""

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.features.check.schema_repair import SchemaRepair, repair_lines
from inspector.features.check.schema_text import schema_replacement

OLD = {"type": "object", "properties": {"day": {"type": "array", "description": "it's"}}, "required": None}
NEW = {"type": "object", "properties": {"day": {"type": "array", "description": "it's", "items": {}}}}
PYTHON = """
TOOL = dict(
    name="list_orders",
    schema={
        "type": "object",
        "properties": {
            # the days
            "day": {"type": "array", "description": "it's"},
        },
        'required': None,
    },
)
"""
SCRIPT = """
server.tool("list_orders", { // orders
  type: "object",
  properties: { day: { type: 'array', description: 'it' + "'s" } },
  required: null,
});
"""


@pytest.mark.parametrize(
    ("name", "text", "gone", "come"),
    [
        (
            "server.py",
            PYTHON,
            ['            "day": {"type": "array", "description": "it\'s"},', "        'required': None,"],
            ['            "day": {"type": "array", "description": "it\'s", "items": {}},'],
        ),
        (
            "server.js",
            SCRIPT,
            ["  properties: { day: { type: 'array', description: 'it' + \"'s\" } },", "  required: null,"],
            ["  properties: { day: { type: 'array', description: 'it' + \"'s\", items: {} } },"],
        ),
        (
            "tools.json",
            json.dumps({"tools": [{"name": "list_orders", "inputSchema": OLD}]}, indent=1),
            ['      "description": "it\'s"', "    },", '    "required": null'],
            ['      "description": "it\'s",', '      "items": {}', "    }"],
        ),
    ],
)
def test_only_what_differs_is_written_into_a_source_file(
    tmp_path: Path, name: str, text: str, gone: list[str], come: list[str]
) -> None:
    (path := tmp_path / name).write_text(text)
    found = schema_replacement([path], "list_orders", OLD, NEW)
    assert found is not None
    lines = found.difference.splitlines()[2:]
    assert [one[1:] for one in lines if one.startswith("-")] == gone
    assert [one[1:] for one in lines if one.startswith("+")] == come


TWICE = PYTHON + PYTHON.replace("list_orders", "list_days")


@pytest.mark.parametrize(
    ("text", "old", "is_found"),
    [
        (TWICE, OLD, True),
        (TWICE + 'print("list_orders")', OLD, False),
        (PYTHON, {**OLD, "required": []}, False),
        (PYTHON.replace("None", "f(1)"), OLD, False),
        ("{" * 5_000, OLD, False),
        ('{"type": [' * 500, OLD, False),
    ],
)
def test_a_schema_is_changed_only_where_it_certainly_stands(
    tmp_path: Path, text: str, old: dict[str, Any], is_found: bool
) -> None:
    (path := tmp_path / "server.py").write_text(text)
    found = schema_replacement([path], "list_orders", old, NEW)
    assert (found is not None) is is_found
    if found is not None:
        assert found.after.decode().index('"items"') < text.index("list_days")


def test_a_repair_says_what_it_accepts_and_counts_what_it_does_not_show() -> None:
    lines = ("a may now be left out", "b may now be left out")
    made = SchemaRepair("shop:list", {}, ("items are said",), "more", lines, ("c has no type",), "-x\n+y\n")
    assert list(repair_lines(made, 1)) == [
        "Items are said.",
        "It accepts more arguments:",
        "  a may now be left out",
        "  and 1 more",
        "For its author to mend:",
        "  c has no type",
        "-x",
        "+y",
    ]
