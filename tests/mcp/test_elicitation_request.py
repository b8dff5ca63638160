"""What a person is shown of a server's question: the host of an address, and the fields of a form."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from inspector.mcp.elicitation import (
    MAX_FIELDS,
    FormField,
    address,
    form_fields,
    recorded_address,
    without_secrets,
)
from tests.core.test_event import json_objects, json_values


def field(**part: Any) -> FormField:
    (read,) = form_fields({"type": "object", "properties": {"x": part}})
    return read


@given(st.text())
def test_the_parts_of_an_address_add_up_to_it(url: str) -> None:
    parts = address(url)
    assert parts.before + parts.host + parts.after == url


def test_the_host_is_what_the_browser_goes_to_and_not_what_stands_before_the_at_sign() -> None:
    parts = address("https://bank.example@evil.example/login?next=https://bank.example")
    assert parts.host == "evil.example"
    assert parts.before == "https://bank.example@"
    assert any("before @" in warning for warning in parts.warnings)


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "file:///etc/passwd", "https://", "https://a.example/a b", "http://[", "x"]
)
def test_what_is_no_web_address_opens_nothing(url: str) -> None:
    assert not address(url).opens


@pytest.mark.parametrize(
    ("url", "why"),
    [
        (r"https://evil.example\@good.example/x", "backslash"),
        (r"https://evil.example\.good.example/", "backslash"),
        (r"https:\\evil.example/", "backslash"),
        ("https://evil%2Eexample/", "invalid characters"),
        ("https://evil.example＼.good.example/", "invalid characters"),
        ("https://evil.example;good.example/", "invalid characters"),
    ],
)
def test_an_address_that_browsers_read_in_another_way_opens_nothing(url: str, why: str) -> None:
    parts = address(url)
    assert (parts.host, parts.opens) == ("", False)
    assert why in " ".join(parts.warnings)


@pytest.mark.parametrize(
    ("url", "warning"),
    [
        ("http://shop.example/pay", "unencrypted"),
        ("https://xn--bnk-ula.example/", "imitate another host"),
        ("https://bаnk.example/", "imitate another host"),
    ],
)
def test_what_is_odd_about_an_address_is_said(url: str, warning: str) -> None:
    assert warning in " ".join(address(url).warnings)


@pytest.mark.parametrize(
    ("url", "recorded"),
    [
        ("https://login.example/start?code=abc&state=x%3D1", "https://login.example/start?code=…&state=…"),
        ("https://login.example:8443/a/b", "https://login.example:8443/a/b"),
        ("https://user:pass@login.example/", "https://login.example/"),
        ("https://login.example/a;jsessionid=abc/b", "https://login.example/a;…/b"),
        ("https://login.example/#access_token=abc", "https://login.example/#…"),
        ("https://login.example/?abc&empty=", "https://login.example/?…&empty="),
        ("javascript:alert(1)", "javascript:alert(1)"),
    ],
)
def test_an_address_is_recorded_without_what_may_be_valid_once(url: str, recorded: str) -> None:
    assert recorded_address(url) == recorded


@given(
    json_objects | st.builds(dict, properties=st.dictionaries(st.text(max_size=3), json_values, max_size=4))
)
def test_any_schema_is_read(schema: dict[str, Any]) -> None:
    assert len(form_fields(schema)) <= MAX_FIELDS


@pytest.mark.parametrize(
    "part",
    [
        {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]},
        {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]},
    ],
)
def test_a_choice_has_its_titles_in_the_old_and_the_new_form(part: dict[str, Any]) -> None:
    read = field(**part)
    assert (read.kind, read.options) == ("choice", (("r", "Red"), ("g", "Green")))


@pytest.mark.parametrize(
    "items",
    [{"type": "string", "enum": ["r", "g"]}, {"anyOf": [{"const": "r", "title": "r"}, {"const": "g"}]}],
)
def test_several_of_a_list_can_be_chosen(items: dict[str, Any]) -> None:
    read = field(type="array", items=items, minItems=1, maxItems=1, default=["g"])
    assert (read.kind, read.options, read.default) == ("choices", (("r", "r"), ("g", "g")), ["g"])
    assert read.problem(["r", "g"]) == "['r', 'g'] is too long"
    assert read.problem(["g"]) == ""


@pytest.mark.parametrize(
    ("part", "good", "bad"),
    [
        ({"minLength": 2, "maxLength": 3}, "ab", "a"),
        ({"type": "integer", "minimum": 1, "maximum": 5}, 5, 6),
        ({"type": "number", "minimum": 0.5}, 0.5, 0.4),
    ],
)
def test_a_value_is_checked_as_the_schema_says(part: dict[str, Any], good: Any, bad: Any) -> None:
    read = field(**{"type": "string", **part})
    assert read.problem(good) == ""
    assert read.problem(bad)


@pytest.mark.parametrize(
    ("part", "default"),
    [
        ({"type": "integer"}, "7"),
        ({"type": "integer"}, True),
        ({"type": "boolean"}, 1),
        ({"enum": ["a"]}, "b"),
        ({"type": "array", "items": {"enum": ["a"]}}, ["b"]),
    ],
)
def test_a_default_that_the_field_cannot_hold_is_left_out(part: dict[str, Any], default: Any) -> None:
    assert field(**{"type": "string", **part, "default": default}).default is None


def test_what_may_be_secret_is_not_recorded() -> None:
    schema = {
        "properties": {"city": {}, "api_key": {}, "pin": {"format": "password"}, "x": {"title": "Password"}}
    }
    answers = {"city": "Paris", "api_key": "k", "pin": "1", "x": "p", "not asked": "q"}
    assert without_secrets(form_fields(schema), answers) == {"city": "Paris"}
