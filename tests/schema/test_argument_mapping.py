"""Arguments of one tool for another: every one has its place, and nothing is made up."""

from typing import Any

from hypothesis import given, strategies as st

from inspector.schema.narrowing import argument_mapping, mapped
from tests.core.test_event import json_values, texts


def schema(*required: str, optional: tuple[str, ...] = (), kind: str = "string") -> dict[str, Any]:
    names = (*required, *optional)
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name in names},
        "required": list(required),
    }


def test_equal_names_fit_and_others_by_case_and_separators_alone() -> None:
    fits = argument_mapping(
        {"city": "Oslo", "dayCount": 2}, schema("city", "dayCount"), schema("city", "day_count")
    )
    assert fits == {"city": "city", "dayCount": "day_count"}
    assert mapped({"city": "Oslo", "dayCount": 2}, fits) == {"city": "Oslo", "day_count": 2}


def test_the_only_required_parameter_takes_the_argument_that_is_left() -> None:
    assert argument_mapping({"q": "x"}, schema("q"), schema("query", optional=("limit",))) == {"q": "query"}


def test_two_that_are_left_or_two_that_are_required_are_not_guessed() -> None:
    assert argument_mapping({"a": 1, "b": 2}, schema("a", "b"), schema("c")) is None
    assert argument_mapping({"a": 1}, schema("a"), schema("c", "d")) is None


def test_a_required_parameter_without_an_argument_is_not_made_up() -> None:
    assert argument_mapping({"city": "Oslo"}, schema("city"), schema("city", "country")) is None


@given(st.dictionaries(texts, json_values, max_size=3), json_values, json_values)
def test_whatever_the_schemas_are_each_argument_has_one_place(
    arguments: Any, source: Any, target: Any
) -> None:
    fits = argument_mapping(arguments, source, target)
    if fits is not None:
        assert fits.keys() == arguments.keys()
        assert len(set(fits.values())) == len(fits)
