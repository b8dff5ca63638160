"""`toolsight clients`: what is known of real clients, with its sources."""

from collections.abc import Iterator

import click

from inspector.cli.options import CommandGroup, as_json
from inspector.cli.table import show, side_by_side, terminal_width
from inspector.clients.client import all_clients, find_client
from inspector.core.report import Block
from inspector.features.clients.behaviour import COST, asked_table, behaviour_table
from inspector.features.clients.facts import MORE, client_json, client_report


class _Clients(CommandGroup):
    """What is no command is the name of a client to show."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in self.list_commands(ctx):
            return super().resolve_command(ctx, args)
        return "CLIENT", show_client, args


@click.group(cls=_Clients, invoke_without_command=True)
@as_json
@click.pass_context
def clients(context: click.Context, /) -> None:
    """Show how real MCP clients handle tools, with sources.

    \b
    toolsight clients                      who shows page two, instructions, structured results, ...
    toolsight clients codex                what is known of it; the file of a measured client as well
    toolsight clients codex claude-code    what both do, side by side
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
    several = side_by_side(behaviour_table(found), terminal_width())
    show([*map(client_json, found)], client_report(found[0]) if len(found) == 1 else several)
