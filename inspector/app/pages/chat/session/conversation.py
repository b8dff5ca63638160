"""The texts of the conversation, one block per item."""

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.app.pages.chat.session.search_block import RESULTS, WIDTH, search_block
from inspector.core.conversation import Item, ItemKind, ItemStatus
from inspector.core.message import arguments_text
from inspector.core.number import count, milliseconds
from widgets import plain, visible

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


def _notice(item: Item) -> Content:
    head = Content.assemble(("◇ ", "bold $primary"), plain(item.title, newlines=False).stylize("$primary"))
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


def _warning(item: Item) -> Content:
    head = Content.assemble(
        ("⚠ ", "bold $text-warning"), plain(item.title, newlines=False).stylize("$text-warning")
    )
    return Content.assemble(head, "\n", _preview(item.text)) if item.text else head


def _error(item: Item) -> Content:
    head = Content.assemble(("✕ ", "bold $text-error"), plain(item.title).stylize("$text-error"))
    hint = Content.assemble("\n", _indented(plain(item.text))) if item.text else ""
    more = (f"\n{_INDENT}… {_answered(item.raw)} (enter opens)", MUTED) if item.raw else ""
    return Content.assemble(head, hint, more)


def _answered(raw: str) -> str:
    return f"raw reply, {count(raw.count(chr(10)) + 1, 'line')}"


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
    ItemKind.NOTICE: _notice,
    ItemKind.WARNING: _warning,
    ItemKind.ERROR: _error,
}
