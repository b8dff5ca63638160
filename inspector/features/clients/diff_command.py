"""`toolsight clients diff`: what differs between two clients, or one as known and as measured."""

from collections.abc import Iterator
from typing import Any

import click
from msgspec import to_builtins

from inspector.cli.options import as_json
from inspector.cli.table import show
from inspector.clients.client import Client, Topic, find_client
from inspector.core.report import NAME, Column, Table
from inspector.features.clients.facts import today


@click.command()
@click.argument("first", metavar="CLIENT")
@click.argument("second", metavar="CLIENT")
@as_json
def diff(first: str, second: str) -> None:
    """Compare two clients, or one as known and as measured.

    \b
    toolsight clients diff claude-code ./measured.toml
    """
    pair = find_client(first), find_client(second)
    rules = [(name, *values) for name, values in _rules(*pair) if values[0] != values[1]]
    facts = {one.name: _only_in(one, other) for one, other in (pair, pair[::-1])}
    show(
        {"rules": [{"rule": name, "first": a, "second": b} for name, a, b in rules], "facts": facts},
        _diff_report(pair, rules, facts),
    )


def _rules(first: Client, second: Client) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Every rule of both, by its path."""
    a, b = to_builtins(first), to_builtins(second)
    for table, values in a.items():
        if table != "fidelity" and isinstance(values, dict):
            yield from ((f"{table}.{key}", (value, b[table][key])) for key, value in values.items())
        elif table in ("follows_changes", "news_reach", "protocol"):
            yield table, (values, b[table])


def _only_in(one: Client, other: Client) -> list[dict[str, Any]]:
    """What one says and the other does not, with what it was seen with and whether it is stale."""
    said = {(fact.topic, fact.says) for fact in other.facts}
    return [
        {
            "topic": fact.topic,
            "says": fact.says,
            "evidence": fact.evidence(today()),
            "stale": fact.is_stale(today()),
        }
        for fact in one.facts
        if (fact.topic, fact.says) not in said
    ]


def _diff_report(
    pair: tuple[Client, Client], rules: list[tuple[str, Any, Any]], facts: dict[str, list[dict[str, Any]]]
) -> Iterator[str | Table]:
    columns = (
        Column("rule", lambda row: row[0], NAME),
        Column(pair[0].name, lambda row: _shown(row[1])),
        Column(pair[1].name, lambda row: _shown(row[2])),
    )
    yield Table.of(columns, rules) if rules else "every rule is the same"
    for topic in Topic:
        for name, said in facts.items():
            for fact in said:
                if fact["topic"] == topic:
                    yield f"\n{topic}, {name}: {fact['says']}\n  {fact['evidence']}"


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
