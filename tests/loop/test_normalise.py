import json
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from inspector.loop.iteration_guard import normalised
from inspector.schema.json_value import canonical

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)

SAME = {
    "key order": ({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1}),
    "null is absent": ({"a": 1, "b": None}, {"a": 1}),
    "nested null is absent": ({"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
    "white space around": ({"q": "  late orders\n"}, {"q": "late orders"}),
    "white space inside": ({"q": "late \t\u00a0 orders"}, {"q": "late orders"}),
    "whole numbers": ({"n": 3}, {"n": 3.0}),
    "numbers as text": ({"n": 3}, {"n": "3"}),
    "numbers as text with decimals": ({"n": 3}, {"n": " 3.00 "}),
    "fractions as text": ({"n": 2.5}, {"n": "2.5"}),
    "negative zero": ({"n": 0}, {"n": "-0.0"}),
    "exponents of numbers": ({"n": 10**16}, {"n": 1e16}),
    "small numbers": ({"n": 1e-7}, {"n": "0.0000001"}),
    "numbers in lists": ({"n": [1, {"m": 2}]}, {"n": ["1.0", {"m": "2"}]}),
    "slash after a path": ({"p": "/a/b/"}, {"p": "/a/b"}),
    "slash after a relative path": ({"p": "src/lib//"}, {"p": "src/lib"}),
    "slash after a path with spaces": ({"p": "/My Documents/"}, {"p": "/My Documents"}),
    "only slashes": ({"p": "//"}, {"p": "/"}),
    "case of scheme and host": ({"u": "HTTPS://Example.COM/A"}, {"u": "https://example.com/A"}),
    "default port of http": ({"u": "http://e.com:80/a"}, {"u": "http://e.com/a"}),
    "default port of https": ({"u": "https://e.com:443/a"}, {"u": "https://e.com/a"}),
    "default port of an address": ({"u": "http://[::1]:80/a"}, {"u": "http://[::1]/a"}),
    "slash after a URL": ({"u": "https://e.com/a//"}, {"u": "https://e.com/a"}),
    "slash after a host": ({"u": "https://e.com/"}, {"u": "https://e.com"}),
    "slash before a query": ({"u": "https://e.com/a/?id=1"}, {"u": "https://e.com/a?id=1"}),
    "fragment": ({"u": "https://e.com/a#top"}, {"u": "https://e.com/a"}),
    "order of parameters": ({"u": "https://e.com/?b=1&a=2/"}, {"u": "https://e.com/?a=2/&b=1"}),
    "tracking beside a parameter": ({"u": "https://e.com/?utm_x=1&id=2"}, {"u": "https://e.com/?id=2"}),
    "empty query": ({"u": "https://e.com/a?"}, {"u": "https://e.com/a"}),
}
OTHER = {
    "case of keys": ({"a": 1}, {"A": 1}),
    "case of text": ({"q": "Orders"}, {"q": "orders"}),
    "order of lists": ({"n": [1, 2]}, {"n": [2, 1]}),
    "null in a list": ({"n": [None, 1]}, {"n": [1]}),
    "empty text is not absent": ({"q": ""}, {}),
    "empty object is not absent": ({"q": {}}, {}),
    "words run together": ({"q": "late orders"}, {"q": "lateorders"}),
    "true is not 1": ({"n": True}, {"n": 1}),
    "false is not 0": ({"n": False}, {"n": 0}),
    "true is not its name": ({"n": True}, {"n": "true"}),
    "leading zeros": ({"n": "007"}, {"n": 7}),
    "exponents in text": ({"n": "1e3"}, {"n": 1000}),
    "numbers out of range": ({"n": "1e999"}, {"n": float("inf")}),
    "digits of other scripts": ({"n": "١"}, {"n": 1}),
    "versions": ({"v": "3.10"}, {"v": "3.1"}),
    "large numbers": ({"n": 2**53}, {"n": 2**53 + 1}),
    "numbers without end": ({"n": 16**5000}, {"n": 16**5000 + 1}),
    "root is not nothing": ({"p": "/"}, {"p": ""}),
    "slash before a path": ({"p": "/a"}, {"p": "a"}),
    "scheme": ({"u": "http://e.com/"}, {"u": "https://e.com/"}),
    "case of a path": ({"u": "https://e.com/A"}, {"u": "https://e.com/a"}),
    "case of a user": ({"u": "https://Me@e.com"}, {"u": "https://me@e.com"}),
    "other port": ({"u": "http://e.com:443/"}, {"u": "http://e.com/"}),
    "value of a parameter": ({"u": "https://e.com/?id=1"}, {"u": "https://e.com/?id=2"}),
    "order of one parameter": ({"u": "https://e.com/?a=1&a=2"}, {"u": "https://e.com/?a=2&a=1"}),
    "parameters that only look like tracking": ({"u": "https://e.com/?reference=1"}, {"u": "https://e.com/"}),
    "fragments outside of URLs": ({"q": "a#1"}, {"q": "a#2"}),
}


def nested(depth: int, leaf: Any) -> Any:
    value = leaf
    for _ in range(depth):
        value = {"a": [value]}
    return value


@pytest.mark.parametrize(("one", "two"), SAME.values(), ids=SAME)
def test_arguments_that_mean_the_same_have_one_form(one: dict[str, Any], two: dict[str, Any]) -> None:
    assert normalised(one) == normalised(two)
    assert canonical(normalised(one)) == canonical(normalised(two))


@pytest.mark.parametrize(("one", "two"), OTHER.values(), ids=OTHER)
def test_arguments_that_mean_something_else_differ(one: dict[str, Any], two: dict[str, Any]) -> None:
    assert normalised(one) != normalised(two)
    assert canonical(normalised(one)) != canonical(normalised(two))


def test_ignored_arguments_are_dropped_at_the_top_only() -> None:
    assert normalised({"id": "x", "trace": 1, "in": {"trace": "y"}}, ["trace"]) == {
        "id": "x",
        "in": {"trace": "y"},
    }


@given(st.dictionaries(st.text(), JSON, max_size=4))
@example({"u": "http://X /"})
@example({"u": "3.00/"})
@example({"n": -0.0})
@example(nested(40, 1))
def test_a_normal_form_is_its_own_normal_form(arguments: dict[str, Any]) -> None:
    form = normalised(arguments)
    assert normalised(form) == form
    assert normalised(json.loads(canonical(form))) == form
