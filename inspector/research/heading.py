"""A report's heading: when, where and with what it was made, and how to repeat it."""

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime

from inspector.core.report import Report, Section
from inspector.research.source import Source, told

TITLE = "Published numbers, reproduced"


def report(sections: Sequence[Section], source: Source, command: str) -> Report:
    """The sections under a heading. `command` repeats them. The machine's name and paths are left out."""
    return Report(TITLE, heading(source, command), tuple(sections))


def heading(source: Source, command: str) -> tuple[str, ...]:
    """The heading's paragraphs: when, where and with what the report was made."""
    at = datetime.fromtimestamp(source.clock.now(), UTC)
    embedder = source.embedder
    model = f"`{embedder.name}`" if embedder is not None else "none, searches use words only"
    return (
        f"Made on {at:%Y-%m-%d} with `{command}`, on {platform.machine()} with {os.cpu_count()} processors, "
        f"{platform.system()}, Python {platform.python_version()}. Token counts and search results are the "
        "same on every machine; times are this machine's.",
        f"Tokenizer: {told(source.counter.tokenizer)}. Embedding model: {model}. "
        f"Versions: {', '.join(source.versions)}.",
        "Every section says what was measured and on what, beside the published numbers. A publication's "
        "projections are never repeated as measurements. “–” is a number that is not given or not measured.",
    )
