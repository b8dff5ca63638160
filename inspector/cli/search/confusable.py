"""The pairs of tools that compete for the same requests."""

from dataclasses import asdict
from typing import Any

import click

from inspector.cli.launch import run_headless
from inspector.cli.options import as_json, options, shared
from inspector.cli.render import say_json, say_table
from inspector.engine.discovery.explanation.confusable import confusables
from inspector.engine.workbench import Workbench


@click.command()
@shared
@as_json
def confusable(as_json: bool, **values: Any) -> None:
    """List the pairs of tools that compete for the same requests."""

    async def work(bench: Workbench) -> None:
        pairs = confusables(bench.retrieval.index)
        if as_json:
            say_json([asdict(pair) for pair in pairs])
            return
        rows = [
            (pair.first, pair.second, f"{pair.closeness:.2f}", str(pair.reason), ", ".join(pair.shared))
            for pair in pairs
        ]
        say_table(("tool", "and", "alike", "reason", "shared terms"), rows, right=frozenset({2}))

    run_headless(options(**values), work)
