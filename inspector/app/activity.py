"""What is measured in the background: shown in the header of every page, until it ends or is stopped."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Activity:
    """A measurement that runs: its title, and how far it is in steps; a `total` of 0 is not known yet."""

    title: str
    stop: Callable[[], object]
    done: int = 0
    total: int = 0

    @property
    def share(self) -> str:
        """How much is done: `34 %`, or `…` while that is not known."""
        return f"{self.done * 100 // self.total} %" if self.total else "…"
