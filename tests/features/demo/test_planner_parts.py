"""The parts of the planner: steps, readings, choices, arguments and rendered results."""

from typing import Any

import pytest

from inspector.core.tool import function_definition
from inspector.features.demo import planner as answer
from inspector.features.demo.argument import Source, fill
from inspector.features.demo.reading import MAX_STEPS, bound_tools, expression, fitting, read, split


def _object(required: tuple[str, ...] = (), /, **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def _filled(text: str, schema: dict[str, Any], **source: Any) -> dict[str, Any]:
    return fill(schema, Source(read(text), **source)).arguments


TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
FLAG = {"type": "boolean"}


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("Which orders shipped late? Mail the list.", ("Which orders shipped late?", "Mail the list.")),
        ("Lock the door, dim the light and set it to 5", ("Lock the door", "dim the light", "set it to 5")),
        ("List orders; then show the first", ("List orders", "show the first")),
        ("Say 'one. Two; and set the x' now", ("Say 'one. Two; and set the x' now",)),
        ("Find orders and mail", ("Find orders and mail",)),
        (" ?! ", ()),
        ("Do it. " * 50, ("Do it.",) * MAX_STEPS),
    ],
)
def test_a_request_is_split_where_a_new_thing_to_do_begins(text: str, steps: tuple[str, ...]) -> None:
    assert split(text) == steps


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("What is 6 times 7?", "6 * 7"),
        ("15 % of 80", "15 / 100 * 80"),
        ("from 2026-03-02 on", ""),
    ],
)
def test_arithmetic_in_words_becomes_an_expression(text: str, written: str) -> None:
    assert expression(text) == written


LATE = {**FLAG, "description": "shipped after the promised day"}
FILTERS = _object(status={"enum": ["open", "shipped"]}, late=LATE)
FILTERED = {**_object(filters={"$ref": "#/$defs/F"}), "$defs": {"F": FILTERS}}
SINCE = _object((), city=TEXT, since={**TEXT, "description": "YYYY-MM-DD"}, note=TEXT)
NUMBERS = _object(
    (), days=WHOLE, limit={**WHOLE, "default": 20}, brightness={**WHOLE, "description": "Percent"}
)


@pytest.mark.parametrize(
    ("text", "schema", "arguments"),
    [
        ("Which orders shipped late?", FILTERED, {"filters": {"late": True}}),
        ("Which orders are open?", FILTERED, {"filters": {"status": "open"}}),
        ("Which orders are not late?", FILTERED, {"filters": {"late": False}}),
        ("next 3 days at 30 %", NUMBERS, {"days": 3, "brightness": 30}),
        ("Show everything", NUMBERS, {}),
        (
            "dim the living room",
            _object(("room",), room={"enum": ["living room", "hall"]}),
            {"room": "living room"},
        ),
        (
            "Show orders for New York since 2026-03-02T10:00",
            SINCE,
            {"city": "New York", "since": "2026-03-02"},
        ),
        (
            "Who is the contact for Harbor Bakery?",
            _object(("query",), query=TEXT),
            {"query": "Harbor Bakery"},
        ),
    ],
)
def test_what_is_said_goes_where_names_and_words_point_and_the_rest_is_left_to_defaults(
    text: str, schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    assert _filled(text, schema) == arguments


def test_a_message_gets_its_recipients_subject_and_the_earlier_result() -> None:
    to = {"type": "array", "items": TEXT}
    schema = _object(("to", "subject", "body"), to=to, subject=TEXT, body=TEXT, cc=to)
    source = {"earlier": "- one\n- two", "asked": "Which are late?"}
    assert _filled("Mail the list to a@example.com.", schema, **source) == {
        "to": ["a@example.com"],
        "subject": "Which are late",
        "body": "- one\n- two",
    }


def test_an_id_comes_from_an_earlier_row_of_the_same_kind_only() -> None:
    source: dict[str, Any] = {"rows": ({"id": 7}, {"id": 8}), "about": frozenset({"issu"})}
    assert _filled("close the first one", _object(("issue_id",), issue_id=WHOLE), **source) == {"issue_id": 7}
    assert _filled("close the first one", _object(("page_id",), page_id=WHOLE), **source) == {}


def _best(text: str, *tools: dict[str, Any]) -> str:
    named = {tool["function"]["name"].replace("__", ":", 1): False for tool in tools}
    candidates = fitting(bound_tools(tools), read(text), named)
    return candidates[0].wire if candidates else ""


def test_the_tool_that_shares_most_words_is_chosen() -> None:
    forecast = function_definition("w__get_forecast", "Daily forecast for a city", _object((), city=TEXT))
    alerts = function_definition("w__get_alerts", "Severe weather alerts", _object((), city=TEXT))
    assert _best("What is the forecast for Oslo?", forecast, alerts) == "w__get_forecast"
    assert _best("Is there severe weather in Singapore?", forecast, alerts) == "w__get_alerts"
    assert _best("Bake a cake", forecast, alerts) == ""


def test_a_question_is_not_answered_by_a_tool_that_changes_something() -> None:
    cancel = function_definition("s__cancel_order", "Cancel an order that has not shipped", {})
    show = function_definition("s__list_orders", "Orders with dates", _object((), shipped=FLAG))
    assert _best("Which orders shipped?", cancel, show) == "s__list_orders"


def test_rows_are_told_as_short_lines_and_the_rest_is_counted() -> None:
    rows = ",".join(f'{{"id": {n}, "note": null}}' for n in range(20))
    told = answer.render(f'{{"city": "Oslo", "orders": [{rows}]}}')
    assert told.splitlines()[:2] == ["city Oslo:", "- id 0"]
    assert told.splitlines()[-1] == "- … and 8 more"


def test_a_city_is_taken_for_its_time_zone_and_a_time_for_a_time() -> None:
    zones = {"type": "array", "items": TEXT}
    schema = _object(("local_time", "from_zone"), local_time=TEXT, from_zone=TEXT, to_zones=zones)
    assert _filled("Convert 9:30 from Tokyo to New York", schema) == {
        "local_time": "09:30",
        "from_zone": "Asia/Tokyo",
        "to_zones": ["America/New_York"],
    }
    assert _filled("time in Atlantis", _object((), zone=TEXT)) == {}
