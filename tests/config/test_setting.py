"""Settings are documented, take what they may be, and can be written as text; profiles are sets of values."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from inspector.config.setting import (
    HEADINGS,
    Knob,
    KnobKind,
    Origin,
    differences,
    find_knob,
    knobs,
    origins,
    parse_value,
    render_value,
    value_of,
    with_values,
)
from inspector.core.error import ConfigError
from inspector.core.settings import DiscoverySettings, Settings

_TEXTS = st.text(st.characters(exclude_categories=()), max_size=30)
_BY_KIND: dict[KnobKind, st.SearchStrategy[Any]] = {
    KnobKind.SWITCH: st.booleans(),
    KnobKind.COUNT: st.integers(),
    KnobKind.NUMBER: st.floats(allow_nan=False, allow_infinity=False),
    KnobKind.TEXT: _TEXTS,
    KnobKind.LIST: st.lists(_TEXTS, max_size=4).map(tuple),
    KnobKind.TABLE: st.dictionaries(_TEXTS, st.lists(_TEXTS, max_size=3).map(tuple), max_size=3),
    KnobKind.TEXTS: st.dictionaries(_TEXTS, _TEXTS, max_size=3),
}


def refused(path: str, text: str) -> ConfigError:
    with pytest.raises(ConfigError) as raised:
        parse_value(find_knob(path), text)
    assert raised.value.message.startswith(f"{path} must be ")
    assert raised.value.hint
    return raised.value


def test_every_section_of_settings_has_a_heading_of_its_own() -> None:
    sections = list(Settings.__struct_fields__)
    assert list(HEADINGS) == sections
    assert len(set(HEADINGS.values())) == len(sections)
    raw = [section for section, heading in HEADINGS.items() if not heading[:1].isupper()]
    assert raw == []


def test_every_field_of_the_tree_is_a_knob_that_says_what_it_does() -> None:
    tree = Settings()
    sections = {one: getattr(tree, one).__struct_fields__ for one in tree.__struct_fields__}
    names = [f"{one}.{name}" for one, known in sections.items() for name in known]
    assert [one.path for one in knobs()] == names
    assert all(len(one.about) > 10 for one in knobs())


@pytest.mark.parametrize("knob", knobs(), ids=lambda knob: knob.path)
def test_every_default_is_a_value_the_knob_may_have(knob: Knob) -> None:
    value = value_of(Settings(), knob.path)
    assert knob.check(value) == value
    assert parse_value(knob, render_value(value)) == value


@given(st.data(), st.sampled_from(KnobKind))
def test_any_value_comes_back_from_its_text_and_the_text_is_one_printable_line(
    data: st.DataObject, kind: KnobKind
) -> None:
    value = data.draw(_BY_KIND[kind])
    text = render_value(value)
    assert text.isprintable()
    assert parse_value(Knob("a.b", kind, "about"), text) == value


@pytest.mark.parametrize(
    ("path", "text", "value"),
    [
        ("guard.enabled", "off", False),
        ("guard.enabled", "yes", True),
        ("binding.capacity", "8.0", 8),
        ("gate.threshold", ".5", 0.5),
        ("binding.policy", '"keep"', "keep"),
        ("discovery.embedding_model", "none", "none"),
        ("chat.system_prompt", "null", "null"),
        ("chat.system_prompt", "", ""),
        ("binding.always_include", "mail:*, shop:list_orders,", ("mail:*", "shop:list_orders")),
        ("binding.always_include", '["a,b"]', ("a,b",)),
        ("binding.always_include", "", ()),
        ("access.preconditions", '{"mail:*": ["signed_in()"]}', {"mail:*": ("signed_in()",)}),
        ("guard.guidance", '{"a:b": "Ask."}', {"a:b": "Ask."}),
        ("guard.guidance", "  ", {}),
    ],
)
def test_a_value_may_be_typed_without_the_signs_of_json(path: str, text: str, value: object) -> None:
    assert parse_value(find_knob(path), text) == value


@pytest.mark.parametrize(
    ("path", "text", "told"),
    [
        ("guard.enabled", "1", "true or false"),
        ("binding.capacity", "eight", "a whole number"),
        ("binding.capacity", "true", "a whole number"),
        ("binding.capacity", "-1", "at least 0"),
        ("gate.threshold", "inf", "a number"),
        ("gate.threshold", "1e999", "a number"),
        ("gate.top_k", "201", "at most 200"),
        ("binding.policy", "never", "one of all, keep, bounded, gate"),
        ("binding.always_include", "[1]", "a list of strings"),
        ("discovery.offers", "limit, tags", "any of limit, domains, similarity, server"),
        ("guard.guidance", '{"a": ["b"]}', "a table of strings"),
        ("access.preconditions", '{"a": "b"}', "a table of string lists"),
    ],
)
def test_what_a_knob_cannot_be_is_refused_with_what_it_may_be(path: str, text: str, told: str) -> None:
    assert told in refused(path, text).message


def test_one_wrong_value_changes_nothing() -> None:
    with pytest.raises(ConfigError):
        with_values(Settings(), {"binding.capacity": 3, "gate.top_k": 0})
    changed = with_values(Settings(), {"binding.capacity": 3})
    assert differences(changed, Settings()) == {"binding.capacity": 3}


def test_the_last_that_says_something_is_where_a_value_comes_from() -> None:
    base = Settings(discovery=DiscoverySettings(ranker="dense", max_search_results=7))
    came = origins(
        base,
        {"discovery.ranker": "prd-bm25", "binding.capacity": 8, "binding.policy": "keep"},
        {"binding.capacity": 9, "gate.top_k": 3},
        {"gate.top_k": 4},
    )
    assert came["discovery.max_search_results"] is Origin.FILE
    assert came["discovery.ranker"] is Origin.PROFILE
    assert came["binding.policy"] is Origin.PROFILE
    assert came["binding.capacity"] is Origin.SETTINGS
    assert came["gate.top_k"] is Origin.SESSION
    assert came["guard.enabled"] is Origin.DEFAULT
    assert set(came) == {one.path for one in knobs()}
