"""The confusable pages: pairs of tools that a search or a model may confuse, and two tools side by side."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content, Span
from textual.widgets import Static

from inspector.app.base_screen import ToolKeys
from inspector.app.draw.line import MUTED
from inspector.app.list_page import ListPage
from inspector.app.stream import View
from inspector.core.number import count
from inspector.core.ranking import SearchRequest
from inspector.core.tool import Tool
from inspector.schema.schema import SchemaField, fields
from inspector.search.confusable import ALIKE, CLOSE, Confusable, Reason, confusables, own_words
from inspector.search.index import ToolIndex
from inspector.search.vocabulary import split_words, stem
from widgets import Column, Record, RecordList, middle, plain, visible

LIMIT = 500
COLUMNS = (
    Column("closeness", "alike", align="right", width=5, weight=6),
    Column("measure", "by", width=7, weight=2, hide_below=76),
    Column("reason", "reason", width=12, weight=3),
    Column("first", "tool", shorten="name", min_width=14, weight=9),
    Column("second", "other tool", shorten="name", min_width=14, weight=9),
    Column("shared", "shared terms", min_width=12, weight=5, hide_below=110),
)
LOOKING = "Comparing every pair of tools …"
NO_TOOLS = "No tools to compare yet: no server is ready, or a toolset hides them all."
_REASONS = {
    Reason.SAME_NAME: ("same name", "$text-warning"),
    Reason.MEANING: ("same meaning", ""),
    Reason.WORDS: ("shared terms", ""),
}
_SHARED = "$accent bold underline"
_LIMIT = 20_000


@dataclass(frozen=True, slots=True)
class Pair:
    """Two confusable tools as compared; `words` are their shared terms, spelled as in the first tool."""

    confusable: Confusable
    first: Tool
    second: Tool
    words: tuple[str, ...]

    @property
    def key(self) -> str:
        """The key of the pair's row."""
        return f"{self.first.id}\0{self.second.id}"


def pair_of(index: ToolIndex, confusable: Confusable) -> Pair:
    """Return the pair with its tools."""
    first, second = (index.tools[index.position[one]] for one in (confusable.first, confusable.second))
    parameters = fields(first.input_schema)
    described = (text for parameter in parameters for text in (parameter.name, parameter.description))
    spellings: dict[str, str] = {}
    for text in (first.name, first.description, *described):
        for word in split_words(text[:_LIMIT]):
            spellings.setdefault(stem(word.lower()), word.lower())
    return Pair(confusable, first, second, tuple(spellings.get(term, term) for term in confusable.shared))


def _row(pair: Pair) -> Record:
    cells = (
        f"{pair.confusable.closeness:.2f}",
        "overlap" if pair.confusable.cosine is None else "cosine",
        Content.styled(*_REASONS[pair.confusable.reason]),
        pair.first.id,
        pair.second.id,
        " ".join(pair.words),
    )
    return Record(pair.key, cells, copy=f"{pair.first.id}  {pair.second.id}")


def facts(pairs: Collection[Pair], tools: int, *, semantic: bool) -> Content:
    """Return the number of pairs and tools, and the rule for a pair."""
    first = "the first " if len(pairs) >= LIMIT else ""
    rule = f"cosine ≥ {CLOSE:g}" if semantic else f"overlap ≥ {ALIKE:g} (not embedded)"
    return Content.assemble(
        (f"{first}{count(len(pairs), 'pair')}", "bold"),
        f" among {count(tools, 'tool')}",
        (f"   same name on two servers, or {rule}", MUTED),
    )


def no_pairs(*, semantic: bool) -> str:
    """Return the text of an empty list."""
    rule = f"no cosine reaches {CLOSE:g}" if semantic else f"no word overlap reaches {ALIKE:g}"
    return (
        f"No confusable tools: no two servers share a tool name, and {rule}.\n"
        "Nothing to do here; esc goes back."
    )


def detail(pair: Pair | None) -> Content:
    """Return the details of a pair, including what a narrow row leaves out."""
    if pair is None:
        return Content.styled("Choose a pair to see why it is confusable.", MUTED)
    by_meaning = pair.confusable.cosine is not None
    measure = "cosine of the descriptions" if by_meaning else "overlap of terms, weighted by idf"
    shared = plain(" ".join(pair.words), newlines=False, limit=600)
    return Content.assemble(
        (f"{pair.confusable.closeness:.3f}", "bold"),
        (f"  {measure}", MUTED),
        f"   {pair.confusable.reason.value}",
        ("\nshared terms  ", MUTED),
        shared if pair.words else ("none", MUTED),
    )


def side(tool: Tool, shared: Collection[str]) -> Content:
    """Return a tool's description and parameters with the shared terms marked."""
    parameters = fields(tool.input_schema)
    none = Content.styled("The server gives no description.", MUTED)
    return Content("\n").join(
        [
            Content.assemble(("name  ", MUTED), marked(tool.name, shared)),
            Content(""),
            marked(tool.description, shared) if tool.description else none,
            Content(""),
            Content.styled("parameters (* required)" if parameters else "No parameters.", MUTED),
            *(_parameter(parameter, shared) for parameter in parameters),
        ]
    )


def _parameter(parameter: SchemaField, shared: Collection[str]) -> Content:
    star = ("* ", "$text-warning") if parameter.required else "  "
    kind = (f"  {visible(parameter.type, limit=60, newlines=False)}", MUTED)
    below = ("\n    ", marked(parameter.description, shared)) if parameter.description else ()
    return Content.assemble(star, marked(parameter.name, shared).stylize("bold"), kind, *below)


def marked(text: str, shared: Collection[str]) -> Content:
    """Return the text with every word marked whose term is shared, in any form."""
    content, wanted = plain(text, limit=_LIMIT), set(shared)
    spans: list[Span] = []
    end = 0
    for word in split_words(content.plain):
        start = content.plain.index(word, end)
        end = start + len(word)
        if stem(word.lower()) in wanted:
            spans.append(Span(start, end, _SHARED))
    return content.add_spans(spans)


class ConfusableScreen(ListPage, ToolKeys):
    """Every pair of confusable tools, the most alike first; the keys of a tool are for the first of two."""

    page = "confusable"
    CSS_PATH = "confusable.tcss"
    AUTO_FOCUS = "#pairs RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("v", "other_view", "search", id="page.view")]
    titles: ClassVar[Mapping[str, str]] = {"pairs": "Confusable tools", "detail": "This pair"}
    help_lines: ClassVar[tuple[str, ...]] = (
        "Pairs of tools that compete: a query for one may find the other.",
        "same name: two servers have a tool with this name, so only the server tells them apart.",
        "same meaning: the embeddings of their descriptions have a cosine of 0.8 or more.",
        "shared terms: without embeddings, the idf of their common terms as a share of all their terms.",
        "enter shows the two side by side, / filters, y copies both ids.",
        "w and e test the first tool with a query in the second tool's words: is it found too?",
        "l loads or unloads the first tool. Side by side, tab switches tools; keys act on the focused one.",
    )

    def __init__(self) -> None:
        super().__init__()
        self._index: ToolIndex | None = None
        self._pairs: dict[str, Pair] = {}

    def body(self) -> ComposeResult:
        yield Static(LOOKING, id="facts", markup=False)
        yield RecordList(COLUMNS, header=True, empty=LOOKING, id="pairs")
        yield Static(id="detail")

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the bench has the index
        index = self.session.retrieval.index
        if index is not self._index:
            self._index = index
            self.write(LOOKING)
            self.run_job(
                "confusable",
                lambda _: tuple(pair_of(index, one) for one in confusables(index, limit=LIMIT)),
                lambda pairs: self._show_pairs(index, pairs),
            )

    def _show_pairs(self, index: ToolIndex, pairs: tuple[Pair, ...]) -> None:
        self._pairs = {pair.key: pair for pair in pairs}
        self.write(facts(pairs, len(index.tools), semantic=index.is_semantic))
        self.list.empty = no_pairs(semantic=index.is_semantic) if index.tools else NO_TOOLS
        self.list.records = tuple(map(_row, pairs))
        self.draw_detail()

    def draw_detail(self) -> None:
        self.write(detail(self._pair), "#detail")

    @property
    def _pair(self) -> Pair | None:
        return self._pairs.get(self.key)

    def opened(self, key: str) -> None:
        self.app.push_screen(PairScreen(self._pairs[key]))

    @property
    def tool_id(self) -> str:
        return self._pair.first.id if self._pair is not None else ""

    @property
    def request(self) -> SearchRequest:
        """What only a search for the second tool should find."""
        return SearchRequest(own_words(self._pair.second) if self._pair is not None else "")


class PairScreen(ToolKeys):
    """Two confusable tools side by side."""

    CSS_PATH = "confusable.tcss"
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

    def body(self) -> ComposeResult:
        yield Static(detail(self._pair), id="facts")
        with Container(id="tools"):
            for name, tool in self._sides:
                with VerticalScroll(id=name, can_focus=True):
                    yield Static(side(tool, self._pair.confusable.shared))

    def on_mount(self) -> None:
        self._name_both()

    def on_resize(self) -> None:
        self.call_after_refresh(self._name_both)

    def on_descendant_focus(self) -> None:
        self._name_both()

    @property
    def _sides(self) -> tuple[tuple[str, Tool], tuple[str, Tool]]:
        return ("first", self._pair.first), ("second", self._pair.second)

    def _name_both(self) -> None:
        for name, tool in self._sides:
            pane = self.query_one(f"#{name}")
            mark = "▸ " if pane.has_focus else ""
            pane.border_title = Content(f"{mark}{middle(tool.id, max(pane.size.width - 8, 12))}")

    @property
    def _is_second(self) -> bool:
        return self.query_one("#second").has_focus

    def action_switch(self) -> None:
        """Go to the other tool."""
        self.query_one("#first" if self._is_second else "#second").focus()

    @property
    def tool_id(self) -> str:
        return (self._pair.second if self._is_second else self._pair.first).id

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
