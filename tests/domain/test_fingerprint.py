"""A consent covers exactly what would run: whatever changes that asks again, and nothing else does."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, strategies as st

from inspector.domain.configuration import Configuration
from inspector.domain.server import Era, ServerSpec

# Few letters, so that what differs only in where one text ends and the next begins is drawn often.
texts = st.one_of(st.text("ab -=", max_size=3), st.text(max_size=3))
tables = st.dictionaries(texts, texts, max_size=3)
WHAT_RUNS: Mapping[str, st.SearchStrategy[Any]] = {
    "command": texts,
    "args": st.lists(texts, max_size=3).map(tuple),
    "env": tables,
    "cwd": texts,
    "url": texts,
    "headers": tables,
}
specs = st.builds(ServerSpec, name=st.sampled_from(["shop", "mail"]), **WHAT_RUNS)
changes = st.sampled_from(list(WHAT_RUNS)).flatmap(lambda name: st.tuples(st.just(name), WHAT_RUNS[name]))


def configuration(*servers: ServerSpec) -> Configuration:
    return Configuration("mcp.json", servers)


def reordered(table: Mapping[str, str]) -> dict[str, str]:
    return dict(reversed(table.items()))


@given(specs, changes)
def test_any_change_of_what_runs_voids_the_consent(spec: ServerSpec, change: tuple[str, Any]) -> None:
    name, value = change
    assume(getattr(spec, name) != value)
    changed = replace(spec, **{name: value})
    assert changed.fingerprint() != spec.fingerprint()
    assert configuration(changed).fingerprint() != configuration(spec).fingerprint()


@given(specs, st.sampled_from(["env", "headers"]), texts, texts)
def test_one_more_variable_or_header_and_one_other_value_void_the_consent(
    spec: ServerSpec, field: str, name: str, value: str
) -> None:
    table = getattr(spec, field)
    assume(table.get(name) != value)
    assert replace(spec, **{field: {**table, name: value}}).fingerprint() != spec.fingerprint()


@given(specs)
def test_the_order_of_variables_and_headers_is_no_change(spec: ServerSpec) -> None:
    again = replace(spec, env=reordered(spec.env), headers=reordered(spec.headers))
    assert again.fingerprint() == spec.fingerprint()


@given(st.lists(specs, min_size=1, max_size=3, unique_by=lambda spec: spec.fingerprint()))
def test_a_server_more_or_under_another_name_voids_the_consent_and_their_order_does_not(
    servers: list[ServerSpec],
) -> None:
    given_for = configuration(*servers).fingerprint()
    assert configuration(*reversed(servers)).fingerprint() == given_for
    assert configuration(*servers[1:]).fingerprint() != given_for
    assert configuration(replace(servers[0], name="other"), *servers[1:]).fingerprint() != given_for


@given(st.lists(texts, min_size=2, max_size=4, unique=True))
def test_other_arguments_in_another_order_void_the_consent(args: list[str]) -> None:
    spec = ServerSpec("shop", "node", tuple(args))
    assert replace(spec, args=tuple(reversed(args))).fingerprint() != spec.fingerprint()


@pytest.mark.parametrize(
    "unrelated",
    [
        {"defer_loading": True},
        {"tags": ("x",)},
        {"era": Era.LEGACY},
        {"connect_timeout": 1.0},
        {"call_timeout": 1.0},
    ],
)
def test_what_does_not_change_what_runs_keeps_the_consent(unrelated: dict[str, Any]) -> None:
    spec = ServerSpec("shop", "node", ("shop.js",), {"TOKEN": "t"})
    assert replace(spec, **unrelated).fingerprint() == spec.fingerprint()
