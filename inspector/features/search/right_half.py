"""The right half of Search: which part is shown, where it is in sight, and what takes the focus."""

from abc import abstractmethod

from textual.getters import query_one
from textual.widgets import ContentSwitcher

from inspector.app.base_screen import ToolKeys
from inspector.core.ranking import SearchReport
from inspector.features.search.results_pane import ResultList
from inspector.features.search.search_job import AskBar, Pane
from widgets import ViewStrip

DEFINITION, SCORE, WHY_NOT, EDIT, RANKERS = "definition", "score", "why-not", "edit", "rankers"
# The cells that the parts beside the list need.
_LEAST = {DEFINITION: 36, "right": 57}


class RightHalf(ToolKeys):
    """A page whose list has parts beside it, or in its place on a narrow terminal."""

    pane_name = DEFINITION
    _results = query_one(ResultList)

    @property
    @abstractmethod
    def _report(self) -> SearchReport | None:
        """What is listed."""

    @abstractmethod
    def _show_pane(self) -> None:
        """Show in the part what the page is about."""

    @property
    def _pane(self) -> Pane:
        # Where it is wide the definition has a column of its own, beside the score or another part.
        is_beside = self.pane_name == DEFINITION and self.has_class("-wide")
        return self.query_one(f"#{SCORE if is_beside else self.pane_name}", Pane)

    @property
    def _pane_is_in_sight(self) -> bool:
        return not self.has_class("-narrow") or self.has_class("-pane")

    def _fit_list(self) -> None:
        """Give the list the cells that its names need, half while there are none; the parts the rest."""
        least = sum(_LEAST[one.id or ""] for one in self.query("#definition, #right") if one.display)
        needed = self._results.found.natural_width if self._report else self.size.width // 2
        wanted = min(needed, self.size.width - least)
        self.query_one("#left").styles.max_width = None if self.has_class("-narrow") else wanted

    def _show_strip(self) -> None:
        """Mark what is on."""
        self.query_one("#strip", ViewStrip).current = self._pane.id or "" if self._pane_is_in_sight else ""

    def _open_pane(self, name: str) -> None:
        """Show a part of the right half; on a narrow terminal it takes the place of the list."""
        self.pane_name = name
        self.set_class(name == DEFINITION, "-card")
        self.query_one("#panes", ContentSwitcher).current = SCORE if name == DEFINITION else name
        self.add_class("-pane")
        self._show_pane()
        if self._pane.takes_focus or self.has_class("-narrow"):
            self._pane.wants_focus = True
            self.call_after_refresh(self._enter_pane)
        else:
            self._results.found.focus()

    def _enter_pane(self) -> None:
        """Focus the part or, if it takes no focus, the list; while nothing is searched for, the query."""
        if self._pane.focus_first():
            return
        if self._report is None:
            self.query_one(AskBar).focus_query()
        else:
            self._results.found.focus()

    @property
    def is_opening(self) -> bool:
        """Whether a part of the right half takes the focus in a moment."""
        return self._pane.wants_focus

    def _go_to_list(self) -> None:
        self.remove_class("-pane")
        self._show_strip()
        self.call_later(self._results.found.focus)
