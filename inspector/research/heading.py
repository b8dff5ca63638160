"""What a report begins with: when and where it was made, with what, and how to repeat it."""

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime

from inspector.domain.report import Report, Section
from inspector.research.source import Source, told

TITLE = "Published numbers, reproduced"


def report(sections: Sequence[Section], source: Source, command: str) -> Report:
    """The sections under a heading. `command` repeats them. There is no name and no path of the machine."""
    return Report(TITLE, heading(source, command), tuple(sections))


def heading(source: Source, command: str) -> tuple[str, ...]:
    """When, on what and with what, in paragraphs."""
    at = datetime.fromtimestamp(source.clock.now(), UTC)
    embedder = source.embedder
    model = f"`{embedder.name}`" if embedder is not None else "none, searches go by words"
    return (
        f"Made on {at:%Y-%m-%d} by `{command}`, on {platform.machine()} with {os.cpu_count()} processors, "
        f"{platform.system()}, Python {platform.python_version()}. Token counts and what is found are the "
        "same on every machine; times are this machine's.",
        f"Tokenizer: {told(source.counter.tokenizer)}. Embedding model: {model}. "
        f"Versions: {', '.join(source.versions)}.",
        "Every section says what is measured on what, beside the published numbers. Nothing that a "
        "publication projects is repeated as if it were measured. “–” is a number that is not given or not "
        "measured.",
    )
