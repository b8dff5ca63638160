"""A schema beside the one that a client sends."""

from collections.abc import Iterable
from typing import Any

from hypothesis import given

from inspector.clients.comparison import Line, compared, signed
from inspector.schema.json_value import canonical
from tests.session.test_client_view import schemas

DECLARED: dict[str, Any] = {
    "type": "object",
    "properties": {"isbn": {"type": "string", "pattern": "^97", "enum": ["a", "b"]}},
    "oneOf": [{"required": ["isbn"]}],
}
SENT: dict[str, Any] = {
    "properties": {"isbn": {"enum": ["a"], "type": "string"}},
    "additionalProperties": False,
    "type": "object",
}


def test_each_line_says_whether_it_is_lost_added_or_changed() -> None:
    assert list(signed(compared(DECLARED, SENT))) == [
        '  type: "object"',
        "  properties:",
        "    isbn:",
        '      type: "string"',
        '-     pattern: "^97"',
        '-     enum: ["a","b"]',
        '+     enum: ["a"]',
        "- oneOf:",
        "-   [0]:",
        '-     required: ["isbn"]',
        "+ additionalProperties: false",
    ]


def test_a_key_cannot_pass_for_another_line() -> None:
    (line,) = compared({"a: 1\n+ b": 2}, {"a: 1\n+ b": 2})
    assert line == Line("", '"a: 1\\n+ b": 2', '"a: 1\\n+ b": 2')


def _texts(lines: Iterable[str]) -> list[str]:
    return sorted(filter(None, lines))


@given(schemas, schemas)
def test_both_sides_are_there_whole_and_equal_ones_have_no_sign(one: object, other: object) -> None:
    before, after = {"x": one}, {"x": other}
    lines = list(compared(before, after))
    assert [line.declared for line in lines if line.declared] == [
        line.declared for line in compared(before, before)
    ]
    assert _texts(line.sent for line in lines) == _texts(line.sent for line in compared(after, after))
    assert any(line.sign for line in lines) == (canonical(before) != canonical(after))


def test_a_deep_schema_is_compared_too() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5_000):
        deep = {"items": deep}
    assert not any(line.sign for line in compared(deep, deep))
