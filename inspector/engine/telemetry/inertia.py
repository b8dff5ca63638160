"""How well the next tool was predicted, beside simpler guesses."""

from collections.abc import Iterator
from typing import Any

from inspector.domain.events import Record
from inspector.domain.report import Table
from inspector.engine.telemetry.cell import facts, number_row


class InertiaCount:
    """Counts predictions of first uses."""

    def __init__(self) -> None:
        self.predictions = 0

    def after(self, record: Record) -> None:
        """Count one record."""


def inertia_tables(found: InertiaCount) -> Iterator[Table]:
    """How often predictions were right, beside simpler guesses."""
    if found.predictions:
        yield facts((number_row("predictions", found.predictions),))


def inertia_json(found: InertiaCount) -> dict[str, Any]:
    """All of it, for programs."""
    return {"predictions": found.predictions}
