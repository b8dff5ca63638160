"""The confusable pages: pairs of tools that a search or a model may confuse, and two tools side by side."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from inspector.app.base_screen import HeaderLine
from inspector.app.pages.tools.confusable import content
from inspector.app.pages.tools.confusable.content import Pair
from inspector.app.place import Destination
from inspector.app.stream import View
from inspector.app.tool_keys import ToolKeys
from inspector.core.ranking import SearchRequest
from inspector.core.tool import Tool
from inspector.search.explanation.confusable import confusables, own_words
from inspector.search.index import ToolIndex
from widgets import KeyBar, RecordList, middle

LIMIT = 500


class ConfusableScreen(ToolKeys):
    """Every pair of confusable tools, the most alike first; the keys of a tool are for the first of two."""

    page = "confusable"
    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#pairs RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("v", "other_view", "search", id="page.view")]
    help_lines: ClassVar[tuple[str, ...]] = (
        "Pairs of tools that compete: a query for one may find the other.",
        "same name: two servers have a tool with this name, so only the server tells them apart.",
        "same meaning: the embeddings of their descriptions have a cosine of 0.8 or more.",
        "shared terms: without embeddings, the idf of their common terms as a share of all their terms.",
        "enter shows the two side by side, / filters, y copies both ids.",
        "w and e test the first tool with a query in the second tool's words: is it found too?",
        "l loads or unloads the first tool. Side by side, tab switches tools; keys act on the focused one.",
    )

    class Found(Message):
        """The pairs of an index, from the thread that compared its tools."""

        def __init__(self, index: ToolIndex, pairs: tuple[Pair, ...]) -> None:
            super().__init__()
            self.index, self.pairs = index, pairs

    def __init__(self) -> None:
        super().__init__()
        self._index: ToolIndex | None = None
        self._pairs: dict[str, Pair] = {}

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        yield Static(content.LOOKING, id="facts", markup=False)
        yield RecordList(content.COLUMNS, header=True, empty=content.LOOKING, id="pairs")
        yield Static(id="pair")
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#pairs").border_title = "Confusable tools"
        self.query_one("#pair").border_title = "This pair"
        self.show_view(self.view)

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the bench has the index
        index = self.session.retrieval.index
        if index is not self._index:
            self._index = index
            self.query_one("#facts", Static).update(content.LOOKING)
            self._compare(index)

    def _compare(self, index: ToolIndex) -> None:
        self.run_job(
            "confusable",
            lambda _: content.pairs_of(index, confusables(index, limit=LIMIT)),
            lambda pairs: self._show_pairs(index, pairs),
        )

    def _show_pairs(self, index: ToolIndex, pairs: tuple[Pair, ...]) -> None:
        semantic, tools = index.is_semantic, len(index.tools)
        self._pairs = {pair.key: pair for pair in pairs}
        facts = content.facts(pairs, tools, semantic=semantic, limit=LIMIT)
        self.query_one("#facts", Static).update(facts)
        table = self.query_one("#pairs", RecordList)
        table.empty = content.no_pairs(semantic=semantic) if tools else content.NO_TOOLS
        table.records = content.rows(pairs)
        self._show_pair()

    @on(RecordList.Highlighted, "#pairs")
    def _show_pair(self) -> None:
        self.query_one("#pair", Static).update(content.detail(self._pair))

    @property
    def _pair(self) -> Pair | None:
        current = self.query_one("#pairs", RecordList).current
        return self._pairs.get(current.key) if current is not None else None

    @on(RecordList.Selected, "#pairs")
    def _open(self) -> None:
        if self._pair is not None:
            self.app.push_screen(PairScreen(self._pair))

    def arrive(self, destination: Destination) -> None:
        """Show the page as it was left: nobody asks for one pair."""

    @property
    def tool_id(self) -> str:
        return self._pair.first.id if self._pair is not None else ""

    @property
    def request(self) -> SearchRequest:
        """What only a search for the second tool should find."""
        return SearchRequest(own_words(self._pair.second) if self._pair is not None else "")


class PairScreen(ToolKeys):
    """Two confusable tools side by side."""

    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#first"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "switch", "other tool", id="pair.switch"),
        Binding("enter", "open", "open", id="pair.open"),
        Binding("y", "copy", "copy id", show=False, id="pair.copy"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "Two confusable tools. Their shared terms are marked, at most the eight most distinctive ones.",
        "tab switches tools. w and e test the focused tool with a query in the other tool's words.",
        "Words used by only one tool tell the two apart. Start a description with what its tool is for.",
        "enter opens the focused tool, l loads or unloads it, y copies its id.",
    )

    def __init__(self, pair: Pair) -> None:
        super().__init__()
        self._pair = pair

    def compose(self) -> ComposeResult:
        shared = self._pair.confusable.shared
        yield HeaderLine()
        yield Static(content.detail(self._pair), id="facts")
        with Container(id="tools"):
            with VerticalScroll(id="first", can_focus=True):
                yield Static(content.side(self._pair.first, shared))
            with VerticalScroll(id="second", can_focus=True):
                yield Static(content.side(self._pair.second, shared))
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self._name_both()

    def on_resize(self) -> None:
        self.call_after_refresh(self._name_both)

    def on_descendant_focus(self) -> None:
        self._name_both()

    def _name_both(self) -> None:
        for name, tool in (("#first", self._pair.first), ("#second", self._pair.second)):
            pane = self.query_one(name)
            mark = "▸ " if pane.has_focus else ""
            pane.border_title = Content(f"{mark}{middle(tool.id, max(pane.size.width - 8, 12))}")

    @property
    def _is_second(self) -> bool:
        return self.query_one("#second").has_focus

    @property
    def _focused_tool(self) -> Tool:
        return self._pair.second if self._is_second else self._pair.first

    def action_switch(self) -> None:
        """Go to the other tool."""
        self.query_one("#first" if self._is_second else "#second").focus()

    @property
    def tool_id(self) -> str:
        return self._focused_tool.id

    @property
    def request(self) -> SearchRequest:
        """What only a search for the other tool should find."""
        return SearchRequest(own_words(self._pair.first if self._is_second else self._pair.second))

    def action_open(self) -> None:
        """Open the tool with the focus."""
        self.open_tool(self.tool_id)

    def action_copy(self) -> None:
        """Copy the id of the tool with the focus."""
        self.copy(self.tool_id, self.tool_id)
