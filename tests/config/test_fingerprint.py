"""A consent covers exactly what would run: whatever changes that asks again, and nothing else does."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from inspector.config.configuration import Configuration, Named
from inspector.config.consent import describe
from inspector.core.server import Era, Expansion, Program, ServerSpec

texts = st.one_of(st.text("ab -=", max_size=3), st.text(max_size=3))
tables = st.dictionaries(texts, texts, min_size=1, max_size=3)
arguments = st.lists(texts, min_size=2, max_size=3, unique=True).map(tuple)
specs = st.builds(
    ServerSpec, st.sampled_from(["shop", "mail"]), texts, arguments, tables, texts, texts, tables
)


def configuration(*servers: ServerSpec) -> Configuration:
    return Configuration("mcp.json", servers)


def covers(given_for: Configuration, wanted: Configuration) -> bool:
    """Whether a consent to one configuration covers another one."""
    return set(wanted.consent_items()) <= set(given_for.consent_items())


def reordered(table: Mapping[str, str]) -> dict[str, str]:
    return dict(reversed(list(table.items())))


def changed(spec: ServerSpec, field: str, value: Any) -> ServerSpec:
    return replace(spec, **{field: value})


def with_another_text(spec: ServerSpec) -> Iterator[ServerSpec]:
    for field in ("command", "cwd", "url"):
        yield changed(spec, field, getattr(spec, field) + "x")


def with_other_arguments(spec: ServerSpec) -> Iterator[ServerSpec]:
    """One more, one less, one changed, another order, and the same text cut elsewhere."""
    args = spec.args
    for start, one in enumerate(args):
        before, after = args[:start], args[start + 1 :]
        yield replace(spec, args=(*before, *after))
        yield replace(spec, args=(*before, one + "x", *after))
        yield replace(spec, args=(*before, one, "", *after))
    yield replace(spec, args=args[::-1])
    yield replace(spec, args=(f"{args[0]} {args[1]}", *args[2:]))
    yield replace(spec, command=f"{spec.command} {args[0]}", args=args[1:])


def with_another_table(spec: ServerSpec, field: str) -> Iterator[ServerSpec]:
    """One more name, one less, one renamed, one with another value."""
    table: Mapping[str, str] = getattr(spec, field)
    yield changed(spec, field, {**table, "one more": ""})
    for name, value in table.items():
        others = {other: table[other] for other in table if other != name}
        yield changed(spec, field, others)
        yield changed(spec, field, {**others, f"{name}, renamed": value})
        yield changed(spec, field, {**others, name: value + "x"})


@given(specs)
def test_any_change_of_what_runs_voids_the_consent(spec: ServerSpec) -> None:
    others = (
        *with_another_text(spec),
        *with_other_arguments(spec),
        *with_another_table(spec, "env"),
        *with_another_table(spec, "headers"),
    )
    for other in others:
        assert other.fingerprint() != spec.fingerprint(), other
        assert not covers(configuration(spec), configuration(other))


FOUND = Program("/usr/bin/npx", "/usr/lib/npx.js", "/usr/bin/node")
SENT = Expansion("headers.X-Key", ("SHOP_KEY",), "${SHOP_KEY}")


@pytest.mark.parametrize(
    "other",
    [
        {"program": Program("/tmp/npx", FOUND.target, FOUND.interpreter)},
        {"program": Program(FOUND.file, "/tmp/npx.js", FOUND.interpreter)},
        {"program": Program(FOUND.file, FOUND.target, "/tmp/node")},
        {"program": Program()},
        {"expansions": ()},
        {"expansions": (SENT, Expansion("headers.X-Trace", ("AWS_SECRET",), "${AWS_SECRET}"))},
        {"expansions": (replace(SENT, own=("AWS_SECRET",)),)},
        {"expansions": (replace(SENT, key="headers.X-Trace"),)},
    ],
)
def test_another_file_or_another_own_variable_voids_the_consent_and_not_what_is_remembered(
    other: dict[str, Any],
) -> None:
    spec = ServerSpec("shop", "npx", ("shop",), program=FOUND, expansions=(SENT,))
    assert not covers(configuration(spec), configuration(replace(spec, **other)))
    assert replace(spec, **other).fingerprint() == spec.fingerprint()


@given(specs)
def test_the_order_of_variables_and_headers_is_no_change(spec: ServerSpec) -> None:
    again = replace(spec, env=reordered(spec.env), headers=reordered(spec.headers))
    assert again.fingerprint() == spec.fingerprint()


@given(st.lists(specs, min_size=1, max_size=3, unique_by=lambda spec: spec.fingerprint()))
def test_a_consent_covers_the_same_servers_in_any_order_and_any_of_them_and_no_other(
    servers: list[ServerSpec],
) -> None:
    given_for = configuration(*servers)
    assert covers(given_for, configuration(*reversed(servers)))
    assert covers(given_for, configuration(*servers[1:]))
    assert not covers(configuration(*servers[1:]), given_for)
    assert not covers(given_for, configuration(replace(servers[0], name="other"), *servers[1:]))


@given(st.lists(specs, min_size=1, max_size=3, unique_by=lambda spec: (spec.name, spec.fingerprint())))
def test_a_consent_to_less_than_a_server_may_do_does_not_cover_more(servers: list[ServerSpec]) -> None:
    servers = [replace(spec, listing="") for spec in servers]
    more = (
        configuration(*(replace(spec, trust_annotations=True) for spec in servers)),
        replace(configuration(*servers), folders=("/work",)),
        replace(configuration(*servers), predicates="/srv/own.py", predicates_digest="d"),
        replace(configuration(*servers), named=(Named("access.policy", "/srv/policy.yaml"),)),
    )
    for other in more:
        assert covers(other, configuration(*servers))
        assert not covers(configuration(*servers), other)


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


def test_trusting_what_a_server_claims_asks_for_consent_again() -> None:
    spec = ServerSpec("shop", "node")
    trusted = configuration(replace(spec, trust_annotations=True))
    assert not covers(configuration(spec), trusted)
    assert [server.trusted for server in describe(trusted)] == [True]
