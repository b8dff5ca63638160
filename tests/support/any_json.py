"""Any JSON, as a strategy for properties."""

from typing import Any

from hypothesis import strategies as st

_TEXTS = st.text(max_size=6)
SCHEMA_KEYS = (
    *("type", "properties", "required", "items", "enum", "const", "default", "description", "minLength"),
    *("anyOf", "oneOf", "allOf", "not", "$ref", "$defs", "additionalProperties", "pattern", "x"),
)


def any_json(*keys: str, texts: st.SearchStrategy[str] = _TEXTS, leaves: int = 10) -> st.SearchStrategy[Any]:
    """Any value; the names of an object's members are texts, and some of `keys` where they are given."""
    numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    names = st.sampled_from(keys) | texts if keys else texts
    return st.recursive(
        st.none() | st.booleans() | numbers | texts,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=5),
        max_leaves=leaves,
    )
