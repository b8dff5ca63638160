"""The pairs of tools that compete for the same requests."""

from dataclasses import asdict

from inspector.cli.render import say_json, say_table
from inspector.engine.discovery.explanation.confusable import confusables
from inspector.engine.workbench import Workbench


def say_overlaps(bench: Workbench, *, as_json: bool) -> None:
    """Print the pairs of tools that compete for the same requests."""
    pairs = confusables(bench.retrieval.index)
    if as_json:
        say_json([asdict(pair) for pair in pairs])
        return
    rows = [
        (pair.first, pair.second, f"{pair.closeness:.2f}", str(pair.reason), ", ".join(pair.shared))
        for pair in pairs
    ]
    say_table(("tool", "and", "similarity", "reason", "shared terms"), rows, right=frozenset({2}))
