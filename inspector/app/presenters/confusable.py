"""Pairs of tools that compete, as rows, and two tools side by side with what they share marked."""

from collections.abc import Collection

from textual.content import Content, Span

from inspector.app.presenters.style import MUTED
from inspector.domain.schema import SchemaField, fields
from inspector.domain.tool import Tool
from inspector.engine.retrieval.term import split_words, stem
from inspector.engine.xray.closeness import CLOSE
from inspector.engine.xray.confusable import ALIKE, Confusable, Reason
from widgets import Column, Record, plain, visible

COLUMNS = (
    Column("closeness", "alike", align="right", width=5, weight=6),
    Column("measure", "by", width=7, weight=2, hide_below=76),
    Column("reason", "reason", width=12, weight=3),
    Column("first", "tool", shorten="middle", min_width=14, weight=9),
    Column("second", "and tool", shorten="middle", min_width=14, weight=9),
    Column("shared", "shared terms", min_width=12, weight=5, hide_below=110),
)
LOOKING = "Comparing every tool with every other …"
NO_TOOLS = "There are no tools to compare yet. f2 shows how the servers stand."
_REASONS = {
    Reason.SAME_NAME: ("same name", "$text-warning"),
    Reason.MEANING: ("same meaning", ""),
    Reason.WORDS: ("shared terms", ""),
}
_SHARED = "$accent bold underline"
_LIMIT = 20_000


def key_of(pair: Confusable) -> str:
    """A row's key; no tool's id has a NUL that another does not escape."""
    return f"{pair.first}\0{pair.second}"


def rows(pairs: Collection[Confusable]) -> tuple[Record, ...]:
    """One row a pair, in the order given."""
    return tuple(_row(pair) for pair in pairs)


def _row(pair: Confusable) -> Record:
    cells = (
        f"{pair.closeness:.2f}",
        _measure(pair),
        Content.styled(*_REASONS[pair.reason]),
        pair.first,
        pair.second,
        " ".join(pair.shared),
    )
    return Record(key_of(pair), cells, copy=f"{pair.first}  {pair.second}")


def _measure(pair: Confusable) -> str:
    return "overlap" if pair.cosine is None else "cosine"


def facts(pairs: Collection[Confusable], tools: int, *, semantic: bool, limit: int) -> Content:
    """How many pairs there are among how many tools, and what counts as alike."""
    count = f"the first {limit:,}" if len(pairs) >= limit else f"{len(pairs):,}"
    rule = (
        f"cosine of the descriptions from {CLOSE:g}"
        if semantic
        else f"overlap of the words from {ALIKE:g}, as the tools are not embedded"
    )
    return Content.assemble(
        (f"{count} pair{'s' * (len(pairs) != 1)}", "bold"),
        f" among {tools:,} tools",
        (f"   one name on two servers, or {rule}", MUTED),
    )


def no_pairs(*, semantic: bool) -> str:
    """What stands where no pair is."""
    rule = f"no cosine reaches {CLOSE:g}" if semantic else f"no overlap of words reaches {ALIKE:g}"
    return (
        f"No two tools are alike: no name is on two servers, and {rule}.\nNothing to do here: esc goes back."
    )


def detail(pair: Confusable | None) -> Content:
    """The pair under the cursor, with everything that a narrow row leaves out."""
    if pair is None:
        return Content("")
    measure = "cosine of the descriptions" if pair.cosine is not None else "overlap of the terms, by idf"
    shared = visible(" ".join(pair.shared), newlines=False, limit=600)
    return Content.assemble(
        (f"{pair.closeness:.3f}", "bold"),
        (f"  {measure}", MUTED),
        f"   {pair.reason.value}",
        ("\nshared terms  ", MUTED),
        plain(shared) if shared else ("none", MUTED),
    )


def side(tool: Tool, shared: Collection[str]) -> Content:
    """A tool's description and parameters, the shared terms marked."""
    parameters = fields(tool.input_schema)
    description = marked(tool.description, shared) if tool.description else None
    return Content("\n").join(
        [
            Content.assemble(("name  ", MUTED), marked(tool.name, shared)),
            Content(""),
            description or Content.styled("Its server gives no description.", MUTED),
            Content(""),
            Content.styled("parameters, * where required" if parameters else "No parameters.", MUTED),
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
    """The text with every word marked whose term is shared, in whatever form it is written."""
    content, wanted = plain(text, limit=_LIMIT), set(shared)
    spans: list[Span] = []
    end = 0
    for word in split_words(content.plain):
        start = content.plain.index(word, end)
        end = start + len(word)
        if stem(word.lower()) in wanted:
            spans.append(Span(start, end, _SHARED))
    return content.add_spans(spans)
