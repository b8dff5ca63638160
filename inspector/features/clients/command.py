"""`toolsight clients`: what is known of real clients, with its sources."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import click
from msgspec import to_builtins

from inspector.cli.options import CommandGroup, as_json
from inspector.cli.table import show, side_by_side, terminal_width
from inspector.clients.client import Client, all_clients, find_client
from inspector.core.report import NAME, Block, Column, Table
from inspector.features.clients.behaviour import COST, asked_table, behaviour_table
from inspector.features.clients.facts import MORE, client_json, client_report


class _Clients(CommandGroup):
    """What is no command is the name of a client to show."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in self.list_commands(ctx):
            return super().resolve_command(ctx, args)
        if args[0] == "diff":
            raise click.UsageError("Compare clients by their names: `toolsight clients A B`.", ctx)
        return "CLIENT", show_client, args


@click.group(cls=_Clients, invoke_without_command=True)
@as_json
@click.pass_context
def clients(context: click.Context, /) -> None:
    """Show how real MCP clients handle tools, with sources.

    \b
    toolsight clients                      who shows page two, instructions, structured results, ...
    toolsight clients codex                what is known of it; the file of a measured client as well
    toolsight clients codex claude-code    what both do, side by side, and the rules that differ
    toolsight clients measure claude-code  what yours does
    """
    if context.invoked_subcommand is not None:
        return
    show(list(map(client_json, all_clients())), _list_report(terminal_width()))


def _list_report(width: int) -> Iterator[Block]:
    """Every known client with what is asked most, as far as it fits the width."""
    table = asked_table()
    shown = next(side_by_side(table, width))
    yield shown
    left = table.headers[len(shown.headers) :]
    yield f"a wider terminal also shows: {', '.join(left)}" if left else COST
    yield MORE


@click.command()
@click.argument("names", metavar="CLIENT...", nargs=-1, required=True)
@as_json
def show_client(names: tuple[str, ...]) -> None:
    """Show what is known of a client, or of several side by side."""
    found = tuple(map(find_client, dict.fromkeys(names)))
    report = client_report(found[0]) if len(found) == 1 else _compared(found, terminal_width())
    show([*map(client_json, found)], report)


def _compared(clients: Sequence[Client], width: int) -> Iterator[Block]:
    """What several clients do, side by side, and below it each rule of theirs that differs, by its path."""
    yield from side_by_side(behaviour_table(clients), width)
    rules = [dict(_rules(client)) for client in clients]
    rows = ((path, [one[path] for one in rules]) for path in rules[0])
    differing = [(path, values) for path, values in rows if any(one != values[0] for one in values)]
    columns = (
        Column("rule", lambda row: row[0], NAME),
        *(Column(one.name, partial(_value, at)) for at, one in enumerate(clients)),
    )
    yield ""
    yield Table.of(columns, differing) if differing else "every rule is the same"


def _rules(client: Client) -> Iterator[tuple[str, Any]]:
    """Every rule of a client, by its path."""
    for table, values in to_builtins(client).items():
        if table != "fidelity" and isinstance(values, dict):
            yield from ((f"{table}.{key}", value) for key, value in values.items())
        elif table in ("follows_changes", "news_reach", "keeps_lists", "protocol"):
            yield table, values


def _value(at: int, row: tuple[str, Sequence[Any]]) -> str:
    value = row[1][at]
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
