"""The conversation: a block per item, a search with its results, one a line; scrolled to the newest."""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from textual.content import Content
from textual.reactive import reactive

from inspector.app.draw.line import MUTED, suggestion_lines
from inspector.core.conversation import Conversation, Item, ItemKind, ItemStatus
from inspector.core.message import arguments_text
from inspector.core.number import bar, count, milliseconds, signed
from inspector.core.ranking import Answer, Hit, Outcome
from inspector.search.answer.answer_text import confidence_text
from widgets import Blocks, FocusBorder, plain, shorten, shortened, visible

RESULTS = 5
WIDTH = 76
_TITLE = 160
_CALLED = "  ✓ called"
_WORDS = {Outcome.LOADED: "now loaded"}
_SHORT_WORDS = {Outcome.LOADED: "loaded", Outcome.ALREADY_LOADED: "bound"}
_LONGEST_NAME, _SHORTEST_NAME = 40, 12
# Cells before a name: the indent and the rank.
_RANK = 6


class _Layout(Struct, frozen=True):
    """How much of a result is shown: cells of its bar, its state, and the word behind its tokens."""

    bar: int
    words: Mapping[Outcome, str]
    unit: str = ""


# From the widest to the narrowest.
_LAYOUTS = (_Layout(10, _WORDS, " tokens"), _Layout(3, _SHORT_WORDS))


def search_block(item: Item, width: int = WIDTH, results: int = RESULTS) -> Content:
    """Return the block of a search with at most so many results, each in a line of at most `width` cells."""
    report = item.report
    assert report is not None
    fit = f"{len(report.results)} of {count(max(report.scored, len(report.hits)), 'tool')} fit"
    if report.answer is Answer.CLOSEST:
        fit = f"closest {fit.removesuffix(' fit')}, {confidence_text(report)}"
    took = f"   {milliseconds(item.milliseconds)}" if item.milliseconds else ""
    head = Content.assemble(
        ("⌕ ", "bold $accent"),
        "searched for ",
        plain(item.title, newlines=False, limit=_TITLE),
        (f"   {fit}{took}", MUTED),
    )
    if report.error:
        return Content.assemble(head, "\n  ", plain(report.error, newlines=False).stylize("$text-error"))
    note = plain(f"{_INDENT}{report.note}", newlines=False).stylize("$text-warning")
    noted = [shorten(note, width)] if report.note else []
    return Content("\n").join(
        [*_results(item, head, width, results), *noted, *suggestion_lines(item.suggested, width)]
    )


def _results(item: Item, head: Content, width: int, results: int) -> list[Content]:
    report = item.report
    assert report is not None
    if not report.results:
        return [head, Content.styled("  nothing found", "$text-warning")]
    lines = _lines(item, report.results[:results], width)
    more = len(report.results) - results
    rest = [Content.styled(f"{' ' * _RANK}… {more} more", MUTED)] if more > 0 else []
    return [head, *lines, *rest]


def _lines(item: Item, hits: Sequence[Hit], width: int) -> list[Content]:
    longest = min(max(_SHORTEST_NAME, *(len(hit.tool_id) for hit in hits)), _LONGEST_NAME)
    layout, room = next(
        ((each, room) for each in _LAYOUTS if (room := width - _taken(item, hits, each)) >= longest),
        (_LAYOUTS[-1], width - _taken(item, hits, _LAYOUTS[-1])),
    )
    name = max(min(longest, room), _SHORTEST_NAME)
    best = max(hit.score.value for hit in hits)
    ids = {hit.tool_id: visible(hit.tool_id, newlines=False) for hit in hits}
    names = shortened(ids.values(), name)
    return [
        _line(item, hit, names[ids[hit.tool_id]].ljust(name), layout, best, is_first=hit is hits[0])
        for hit in hits
    ]


def _taken(item: Item, hits: Sequence[Hit], layout: _Layout) -> int:
    """Return the cells of a line beside the tool's name."""
    states = max(len(_state(item, hit, layout, is_first=number == 0)) for number, hit in enumerate(hits))
    called = len(_CALLED) if any(hit.tool_id in item.called for hit in hits) else 0
    return _RANK + 1 + layout.bar + 2 + states + called


def _line(item: Item, hit: Hit, name: str, layout: _Layout, best: float, *, is_first: bool) -> Content:
    share = hit.score.value / best if best > 0 else 0.0
    # An agent's transcript has no scores: nothing is drawn for them.
    unscored = item.report is not None and item.report.unscored
    drawn = "" if unscored else bar(share, layout.bar) or bar(0.125 / layout.bar, layout.bar)
    called = hit.tool_id in item.called
    return Content.assemble(
        (f"{hit.rank:>{_RANK - 1}} ", MUTED),
        name,
        " ",
        (drawn.ljust(layout.bar), "$primary"),
        "  ",
        (_state(item, hit, layout, is_first=is_first), MUTED),
        (_CALLED if called else "", "$text-success"),
    )


def _state(item: Item, hit: Hit, layout: _Layout, *, is_first: bool) -> str:
    """Return what the search did with a tool; the tokens of what it loaded line up."""
    word, tokens = layout.words.get(hit.outcome, str(hit.outcome)), item.loaded.get(hit.tool_id)
    return word if tokens is None else f"{word} {signed(tokens):>5}{layout.unit if is_first else ''}"


_PREVIEW_LINES = 4
_PREVIEW_CHARACTERS = 400
_ARGUMENTS = 160
_INDENT = "  "
_STATUS = {
    ItemStatus.RUNNING: ("… running", "$text-warning"),
    ItemStatus.OK: ("✓ ok", "$text-success"),
    ItemStatus.FAILED: ("✕ failed", "$text-error"),
    ItemStatus.REJECTED: ("✕ rejected", "$text-error"),
}


def block(item: Item, width: int = WIDTH, results: int = RESULTS) -> Content:
    """Return the block of a conversation item; a search lists its results in lines of `width` cells."""
    return search_block(item, width, results) if item.kind is ItemKind.SEARCH else _BLOCKS[item.kind](item)


def detail_title(item: Item) -> str:
    """Return the heading of an item's detail; an error's title is the first line of its text."""
    has_title = item.title and item.kind is not ItemKind.ERROR
    return f"{item.kind.value}: {item.title}" if has_title else item.kind.value


def _user(item: Item) -> Content:
    return Content.assemble(("You", "bold $primary"), "\n", _indented(plain(item.text)))


def _answer(item: Item) -> Content:
    streaming = (" ▍", MUTED) if item.status is ItemStatus.RUNNING else ""
    return Content.assemble(("Model", "bold $secondary"), "\n", _indented(plain(item.text)), streaming)


def _thought(item: Item) -> Content:
    head = Content.assemble(("Model", "bold $secondary"), ("  thinking before its next call", MUTED))
    return Content.assemble(head, "\n", _indented(plain(item.text)).stylize("italic"))


def _marked(item: Item, sign: str, color: str) -> Content:
    """Return a title behind a sign, and how its text begins."""
    head = Content.assemble((sign, f"bold {color}"), plain(item.title, newlines=False).stylize(color))
    return Content.assemble(head, "\n", _preview(item.text)) if item.text else head


def _call(item: Item) -> Content:
    word, color = _STATUS[item.status]
    word = f"✕ {item.outcome}" if item.outcome else word
    is_done = item.status in (ItemStatus.OK, ItemStatus.FAILED)
    took = f"  {milliseconds(item.milliseconds)}" if is_done and item.milliseconds else ""
    arguments = visible(arguments_text(item.arguments), limit=_ARGUMENTS, newlines=False)
    head = Content.assemble(
        ("▸ ", "bold $accent"),
        plain(item.title, newlines=False).stylize("bold"),
        "  ",
        arguments,
        "   ",
        (word, color),
        (took, MUTED),
    )
    return Content.assemble(head, "\n", _preview(item.text)) if item.text else head


def _error(item: Item) -> Content:
    head = Content.assemble(("✕ ", "bold $text-error"), plain(item.title).stylize("$text-error"))
    hint = Content.assemble("\n", _indented(plain(item.text))) if item.text else ""
    lines = count(item.raw.count("\n") + 1, "line")
    more = (f"\n{_INDENT}… raw reply, {lines} (enter opens)", MUTED) if item.raw else ""
    return Content.assemble(head, hint, more)


def _preview(text: str) -> Content:
    """Return the first lines; enter opens the rest."""
    cut = text[:_PREVIEW_CHARACTERS]
    lines = cut.splitlines()[:_PREVIEW_LINES]
    shown = "\n".join(lines)
    rest = len(text) - len(shown)
    more = (f"\n{_INDENT}… {rest} more characters (enter opens)", MUTED) if rest > 1 else ""
    return Content.assemble(_indented(plain(shown)).stylize(MUTED), more)


def _indented(content: Content) -> Content:
    return Content("\n").join(Content(_INDENT) + line for line in content.split("\n", allow_blank=True))


_BLOCKS = {
    ItemKind.USER: _user,
    ItemKind.ANSWER: _answer,
    ItemKind.THOUGHT: _thought,
    ItemKind.CALL: _call,
    ItemKind.NOTICE: lambda item: _marked(item, "◇ ", "$primary"),
    ItemKind.WARNING: lambda item: _marked(item, "⚠ ", "$text-warning"),
    ItemKind.ERROR: _error,
}


# From this height of the terminal a search lists as many results as it can.
_ROOMY, _FEW_RESULTS = 24, 3


class ConversationPanel(Blocks[Item], FocusBorder):
    """A block per item; what the user says brings the end back."""

    BORDER_TITLE = "Conversation"

    conversation: reactive[Conversation] = reactive(Conversation(), init=False)
    empty: reactive[Content] = reactive(Content(""), init=False)
    """What is shown as long as there is no item."""
    hint: reactive[Content] = reactive(Content(""), init=False)
    """What can be done now, below the last block."""

    def content(self, item: Item, width: int) -> Content:
        """What an item's block says."""
        return block(item, width, self._results)

    @property
    def shape(self) -> tuple[int, int]:
        """The width, and how many results of a search the terminal has room for."""
        return self.width, self._results

    @property
    def _results(self) -> int:
        return RESULTS if self.app.size.height >= _ROOMY else _FEW_RESULTS

    def foot(self, width: int) -> list[Content]:
        """The hint on the right, or the text of an empty conversation."""
        if not self.blocks:
            return [Content(), *self.empty.wrap(width), Content()]
        rows = self.hint.wrap(width) if self.hint else []
        return [row.pad_left(width - row.cell_length) for row in rows]

    def watch_empty(self, before: Content, after: Content) -> None:
        """Draw the text anew if it is another."""
        if not before.is_same(after):
            self.fit()

    watch_hint = watch_empty

    def watch_conversation(self, before: Conversation, after: Conversation) -> None:
        """Draw what has changed."""
        said = (item.kind is ItemKind.USER for item in after.items[len(before.items) :])
        self.show(after.items, end=any(said))
