"""Texts that both commands print."""

from inspector.cli.render import say, say_table
from inspector.core.report import Table

NOTHING = "No matching sessions. `toolsight sessions` lists them; `toolsight demo --headless` records one."


def say_report_table(table: Table) -> None:
    """Print a table under its title, with its notes."""
    if table.title:
        say(f"\n{table.title}")
    say_table(table.headers, table.rows, right=table.right)
    for note in table.notes:
        say(note)
