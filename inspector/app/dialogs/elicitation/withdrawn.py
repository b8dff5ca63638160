"""A question that whoever asked it can take back."""

from typing import Any

from textual.screen import Screen


class Withdrawable(Screen[Any]):
    """It closes itself without an answer when it is taken back, at the latest when it is on top again."""

    _is_withdrawn = False

    def withdraw(self) -> None:
        """Take the question back."""
        self._is_withdrawn = True
        self._close_if_withdrawn()

    def on_screen_resume(self) -> None:
        self._close_if_withdrawn()

    def _close_if_withdrawn(self) -> None:
        if self._is_withdrawn and self.is_current:
            self.dismiss(None)
