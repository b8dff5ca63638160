"""What is drawn of a cell: a tool as declared beside it as sent, or what is known of a client."""

from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.clients.client import Client, Topic
from inspector.clients.comparison import Line, definition_lines
from inspector.clients.delivery import Delivery, Reason
from inspector.core.number import count
from inspector.features.clients.behaviour import MARKS
from inspector.features.clients.facts import client_report, facts_about
from inspector.session.client_matrix import fate
from inspector.session.client_view import ClientView, known_lines
from widgets import Hanging, plain

_WARNS, _GONE, _NEW = "$text-warning", "$text-error", "$text-success"
FATES = {"✓": MUTED, "≈": MUTED, "~": "", "✕": f"bold {_GONE}", "∅": f"bold {_GONE}"}
"""The colors of verdicts, by their signs."""
_SIDES = {"": ("", ""), "~": (_WARNS, _WARNS), "-": (_GONE, ""), "+": ("", _NEW)}
_COLORS = {"⚠": _WARNS, "✂": f"bold {_WARNS}", "  ✂": f"strike {MUTED}", "    ": MUTED}
_LIMIT, _MOST_LINES = 20_000, 1_000


def tool_detail(client: Client, one: Delivery, width: int) -> Content:
    """Return why a tool is as it is in a client, and below it as declared, beside it as sent."""
    head = plain(fate(one)).stylize(f"bold {FATES[fate(one)[0]]}")
    cost = f"   {count(one.tokens, 'token')} in {client.title}" if one.reaches else f"   in {client.title}"
    lines = [Content.assemble(head, (cost, MUTED)), *map(_reason, one.reasons)]
    if one.seen is not None:
        sent = "as sent" if one.reaches else "not sent; it would be"
        half = max((width - 3) // 2, 8)
        lines.append(Content.styled(f"\n{'declared':<{half}} │ {sent}", MUTED))
        lines += _beside(islice(definition_lines(one.seen), _MOST_LINES), half)
    return Content("\n").join(lines)


def _reason(reason: Reason) -> Content:
    dated = f", {reason.fact.date}" if reason.fact and reason.fact.date else ""
    sure = f"   {MARKS[reason.confidence]} {reason.confidence.told}{dated}"
    return Content.assemble(plain(f"  {reason.says}", newlines=False), (sure, MUTED))


def _beside(lines: Iterable[Line], half: int) -> Iterator[Content]:
    """Yield lines in two columns; a sign and a color stand where they differ."""
    for line in lines:
        texts = zip((line.declared, line.sent), _SIDES[line.sign], strict=True)
        sides = (
            Hanging(plain(text, newlines=False, limit=_LIMIT).stylize(color)).rows(half)
            for text, color in texts
        )
        for number, (left, right) in enumerate(zip_longest(*sides, fillvalue=Content(""))):
            mark = (f" {line.sign} ", "bold") if line.sign and not number else (" │ ", MUTED)
            yield Content.assemble(left.pad_right(max(half - left.cell_length, 0)), mark, right)


def client_detail(view: ClientView, topic: Topic | None = None) -> Content:
    """Return the facts of a topic first, then what the model knows before any search, then all facts."""
    first = (*facts_about(view.client, topic), "") if topic else ()
    lines = "\n".join((*first, *known_lines(view), "", *client_report(view.client))).split("\n")
    return Content("\n").join(map(_drawn, lines))


def _drawn(line: str) -> Content:
    color = next((color for start, color in _COLORS.items() if line.startswith(start)), "")
    return plain(line, limit=_LIMIT).stylize(color)
