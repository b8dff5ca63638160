"""Suggestions for names that are not quite right."""

from difflib import SequenceMatcher
from unittest.mock import Mock

import pytest
from hypothesis import given, strategies as st

from inspector.core.text import closest

TOOLS = ("weather:get_current_weather", "weather:get_forecast", "notes:create_page", "notes:delete_page")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("get_forecast", "weather:get_forecast"),
        ("weather__get_forecast", "weather:get_forecast"),
        ("getForecast", "weather:get_forecast"),
        ("GET-FORECAST", "weather:get_forecast"),
        ("get_forcast", "weather:get_forecast"),
        ("forecast_get", "weather:get_forecast"),
        ("page_create", "notes:create_page"),
        ("create_note_page", "notes:create_page"),
        ("mcp__weather__get_forecast", "weather:get_forecast"),
        ("forecast", "weather:get_forecast"),
        ("curent_weather", "weather:get_current_weather"),
    ],
)
def test_a_tool_is_found_under_a_slightly_wrong_name(name: str, meant: str) -> None:
    assert closest(name, TOOLS)[0] == meant


def test_a_server_that_is_named_tells_two_tools_of_one_name_apart() -> None:
    tools = ("wiki:create_page", "notes:create_page", "wiki:a", "notes:b")
    assert closest("notes__page_create", tools)[0] == "notes:create_page"
    assert closest("create_pgae", tools)[:2] == ("wiki:create_page", "notes:create_page")


def test_nothing_is_suggested_where_nothing_is_near() -> None:
    assert closest("zzz", TOOLS) == ()
    assert closest("get_forecast", ()) == ()
    assert closest("TOKEN_OF_SHOP", ("HOME", "LANG", "PATH")) == ()
    assert closest("NOPE", ("HOME",)) == ()
    assert closest("nosuch", ("notes:search",)) == ()


def test_a_part_of_a_name_is_not_mistaken_for_the_name_when_sureness_is_asked_for() -> None:
    assert closest("tools", ("tool_sets",), cutoff=0.8) == ()
    assert closest("toolSet", ("tool_sets",), cutoff=0.8) == ("tool_sets",)


def test_of_a_thousand_names_only_those_with_the_same_letters_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared, ratio = Mock(), SequenceMatcher.ratio
    monkeypatch.setattr(SequenceMatcher, "ratio", lambda self: (compared(), ratio(self))[1])
    verbs, nouns = ("list", "get", "render", "search", "export"), ("order", "invoice", "page", "event")
    names = [f"s{n}:{verb}_{noun}_{n}" for n in range(50) for verb in verbs for noun in nouns]
    assert closest("book_a_flight", names) == ()
    assert closest("s7__order_list_7", names)[0] == "s7:list_order_7"
    assert compared.call_count < 100


@given(st.text("abc_", max_size=6), st.lists(st.text("abc_:", max_size=6)), st.integers(1, 3))
def test_who_is_not_compared_is_not_among_the_closest(name: str, known: list[str], limit: int) -> None:
    everybody = closest(name, known, len(known), cutoff=0.0)
    assert len(everybody) == len(set(known))
    assert closest(name, known, limit, cutoff=0.0) == everybody[:limit]
