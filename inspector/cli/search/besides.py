"""What a search reports beside its hits."""

from inspector.cli.render import say, say_table
from inspector.domain.ranking import SearchReport


def say_besides(report: SearchReport) -> None:
    """Print what the ranker had to do without, and what the registry has that nobody can call."""
    if report.note:
        say(report.note)
    if report.unconnected:
        say("\nIn the registry but not callable, because their servers are not connected:")
        rows = [(one.tool_id, f"{one.similarity:.2f}", one.origin) for one in report.unconnected]
        say_table(("tool", "cosine", "origin"), rows, right=frozenset({1}), whole=frozenset({0}))
