"""How well the next tool was predicted, beside simpler guesses."""

from inspector.domain.events import Record


class InertiaCount:
    """Counts predictions of first uses."""

    def __init__(self) -> None:
        self.predictions = 0

    def after(self, record: Record) -> None:
        """Count one record."""
