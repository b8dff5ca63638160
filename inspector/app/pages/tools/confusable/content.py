"""The texts of the confusable pages: pairs as rows, and two tools with their shared terms marked."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from textual.content import Content, Span

from inspector.app.draw.line import MUTED
from inspector.core.number import count
from inspector.core.tool import Tool
from inspector.schema.schema import SchemaField, fields
from inspector.search.explanation.closeness import CLOSE
from inspector.search.explanation.confusable import ALIKE, Confusable, Reason
from inspector.search.index import ToolIndex
from inspector.search.vocabulary import split_words, stem
from widgets import Column, Record, plain, visible

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


def pairs_of(index: ToolIndex, found: Iterable[Confusable]) -> tuple[Pair, ...]:
    """Return the pairs with their tools, in the order given."""
    return tuple(
        _pair(pair, index.tools[index.position[pair.first]], index.tools[index.position[pair.second]])
        for pair in found
    )


def _pair(confusable: Confusable, first: Tool, second: Tool) -> Pair:
    spellings: dict[str, str] = {}
    for text in _texts(first):
        for word in split_words(text[:_LIMIT]):
            spellings.setdefault(stem(word.lower()), word.lower())
    words = tuple(spellings.get(term, term) for term in confusable.shared)
    return Pair(confusable, first, second, words)


def _texts(tool: Tool) -> tuple[str, ...]:
    parameters = fields(tool.input_schema)
    described = (text for parameter in parameters for text in (parameter.name, parameter.description))
    return (tool.name, tool.description, *described)


def rows(pairs: Collection[Pair]) -> tuple[Record, ...]:
    """Return one row per pair, in the order given."""
    return tuple(_row(pair) for pair in pairs)


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


def facts(pairs: Collection[Pair], tools: int, *, semantic: bool, limit: int) -> Content:
    """Return the number of pairs and tools, and the rule for a pair."""
    first = "the first " if len(pairs) >= limit else ""
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
    confusable = pair.confusable
    by_meaning = confusable.cosine is not None
    measure = "cosine of the descriptions" if by_meaning else "overlap of terms, weighted by idf"
    shared = visible(" ".join(pair.words), newlines=False, limit=600)
    return Content.assemble(
        (f"{confusable.closeness:.3f}", "bold"),
        (f"  {measure}", MUTED),
        f"   {confusable.reason.value}",
        ("\nshared terms  ", MUTED),
        plain(shared) if shared else ("none", MUTED),
    )


def side(tool: Tool, shared: Collection[str]) -> Content:
    """Return a tool's description and parameters with the shared terms marked."""
    parameters = fields(tool.input_schema)
    description = marked(tool.description, shared) if tool.description else None
    return Content("\n").join(
        [
            Content.assemble(("name  ", MUTED), marked(tool.name, shared)),
            Content(""),
            description or Content.styled("The server gives no description.", MUTED),
            Content(""),
            Content.styled("parameters (* required)" if parameters else "No parameters.", MUTED),
            *(_parameter(parameter, shared) for parameter in parameters),
        ]
    )


def _parameter(parameter: SchemaField, shared: Collection[str]) -> Content:
    star = ("* ", "$text-warning") if parameter.required else "  "
    kind = (f"  {visible(parameter.type, limit=60, newlines=False)}", MUTED)
    description = parameter.description
    below = Content.assemble("\n    ", marked(description, shared)) if description else ""
    return Content.assemble(star, marked(parameter.name, shared).stylize("bold"), kind, below)


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
