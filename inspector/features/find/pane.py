"""The base of what the right half of the page can show, and its words."""

from dataclasses import dataclass

from textual.containers import Vertical
from textual.content import Content

from inspector.app.context import InContext
from inspector.core.ranking import Hit, Outcome, SearchReport, SearchRequest
from inspector.features.find.facts import state_word
from inspector.search.answer.retrieval import Retrieval

NO_QUERY = "Search first: press i, type a query and press enter."


@dataclass(frozen=True, slots=True)
class Topic:
    """A request with its report, the hit under the cursor, and the person's own tool, "" if none is named.

    `also` are the other requests on the worklist that should find this tool.
    """

    request: SearchRequest = SearchRequest()
    report: SearchReport | None = None
    hit: Hit | None = None
    tool_id: str = ""
    also: tuple[str, ...] = ()


def outcome(hit: Hit, bound: bool) -> Content:
    """Return the tool's outcome, and whether it is loaded."""
    if hit.outcome.is_result and bound:
        before = hit.outcome is Outcome.ALREADY_LOADED
        return Content.styled("● bound before" if before else "● loaded", "$text-success")
    return Content(f"{'● ' if bound else ''}{state_word(hit.outcome)}")


class Pane(InContext, Vertical):
    """Shows one side of a topic. It receives the topic only while visible."""

    # The focus stays in the list where the pane follows the list's cursor.
    takes_focus = True
    wants_focus = False  # It takes the focus as soon as it is there.
    # What takes the focus first, in the order of preference.
    first: tuple[str, ...] = ()

    @property
    def retrieval(self) -> Retrieval:
        return self.session.retrieval

    @property
    def tool_id(self) -> str:
        """The tool under the pane's own cursor, or the one that it is about; "" if there is none."""
        return ""

    def show(self, topic: Topic) -> None:
        """Show a topic, or the same one over the tools of now; the default shows nothing.

        Called often: it has to see what is new.
        """

    def focus_first(self) -> bool:
        """Give the focus to what is to be read or typed first; False if nothing here can take it."""
        self.wants_focus = False
        for widget in (found for selector in self.first for found in self.query(selector)):
            if widget.focusable:
                widget.focus(scroll_visible=False)
                return True
        return False
