"""The base of what the right half of the page can show."""

from textual.containers import Vertical

from inspector.app.context import InContext
from inspector.app.pages.find.topic import Topic
from inspector.session.view import DiscoveryView


class Pane(InContext, Vertical):
    """Shows one side of a topic. It receives the topic only while visible."""

    # The focus stays in the list where the pane follows the list's cursor.
    takes_focus = True
    # What takes the focus first, in the order of preference.
    first: tuple[str, ...] = ()

    @property
    def retrieval(self) -> DiscoveryView:
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
        for selector in self.first:
            for widget in self.query(selector):
                if widget.focusable:
                    widget.focus(scroll_visible=False)
                    return True
        return False
