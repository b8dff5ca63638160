"""What is drawn of a cell: a tool as declared beside it as sent, or what is known of a client."""

from collections.abc import Iterable, Iterator
from datetime import date
from itertools import islice, zip_longest

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.clients.client import Client, Confidence, Fact, Topic
from inspector.clients.comparison import compared
from inspector.clients.delivery import Delivery, Reason
from inspector.clients.seen import Cut, SeenTool
from inspector.core.number import count
from inspector.features.clients.facts import MARKS
from inspector.session.client_matrix import fate
from inspector.session.client_view import (
    IN_THE_PROMPT,
    ClientView,
    cut_at,
    declares,
    first_call,
    knows,
    parameters,
)
from widgets import Hanging, plain

_WARNS, _GONE, _NEW = "$text-warning", "$text-error", "$text-success"
FATES = {"✓": MUTED, "~": "", "✕": f"bold {_GONE}", "∅": f"bold {_GONE}"}
"""The colors of verdicts, by their signs."""
_COLORS = {"~": (_WARNS, _WARNS), "-": (_GONE, ""), "+": ("", _NEW)}
_LIMIT, _MOST_LINES = 20_000, 1_000
# A line of both sides, behind a sign that says whether they differ.
Pair = tuple[str, Content, Content]


def tool_detail(client: Client, one: Delivery, width: int) -> Content:
    """Return why a tool is as it is in a client, and below it as declared, beside it as sent."""
    head = plain(fate(one)).stylize(f"bold {FATES[fate(one)[0]]}")
    cost = f"   {count(one.tokens, 'token')} in {client.title}" if one.reaches else f"   in {client.title}"
    lines = [Content.assemble(head, (cost, MUTED)), *map(_reason, one.reasons)]
    if one.seen is not None:
        sent = "as sent" if one.reaches else "not sent; it would be"
        titles = ("", Content.styled("declared", MUTED), Content.styled(sent, MUTED))
        lines += [Content(""), *beside((titles, *_pairs(one.seen)), width)]
    return Content("\n").join(lines)


def _reason(reason: Reason) -> Content:
    dated = f", {reason.fact.date}" if reason.fact and reason.fact.date else ""
    sure = f"   {MARKS[reason.confidence]} {reason.confidence.told}{dated}"
    return Content.assemble(plain(f"  {reason.says}", newlines=False), (sure, MUTED))


def _pairs(seen: SeenTool) -> Iterator[Pair]:
    """Yield name, description and parameters as declared and as sent."""
    tool, text, blank = seen.tool, seen.description, ("", Content(""), Content(""))
    names = [plain(one, newlines=False).stylize("bold") for one in (tool.name, seen.name)]
    yield "~" if tool.name != seen.name else "", names[0], names[1]
    yield blank
    kept, mark = plain(text.text[: text.kept], limit=_LIMIT), text.mark if text.lost else ""
    lost = plain(text.lost, limit=_LIMIT).stylize(f"strike {_GONE}")
    sent = Content.assemble(plain(text.lead).stylize(_NEW), kept, plain(mark).stylize(_NEW))
    yield "~" if text.lost or text.lead else "", kept + lost, sent
    yield blank
    for line in islice(compared(tool.input_schema, parameters(seen)), _MOST_LINES):
        yield line.sign, plain(line.declared, newlines=False), plain(line.sent, newlines=False)


def beside(pairs: Iterable[Pair], width: int) -> Iterator[Content]:
    """Yield pairs in two columns; a sign and a color stand where they differ."""
    half = max((width - 3) // 2, 8)
    for sign, *both in pairs:
        colors = _COLORS.get(sign, ("", ""))
        sides = (Hanging(one).rows(half) for one in both)
        for number, (left, right) in enumerate(zip_longest(*sides, fillvalue=Content(""))):
            mark = (f" {sign} ", "bold") if sign and not number else (" │ ", MUTED)
            left, right = (
                one.stylize_before(color) if color else one
                for one, color in zip((left, right), colors, strict=True)
            )
            yield Content.assemble(left.pad_right(max(half - left.cell_length, 0)), mark, right)


def client_detail(view: ClientView, today: date, topic: Topic | None = None) -> Content:
    """Return the facts of a topic first, then what the model knows before any search, then all facts."""
    client = view.client
    first, would, less = first_call(view)
    lines = [
        *_known(today, [fact for fact in client.facts if fact.topic is topic]),
        *([Content("")] if topic else []),
        Content.styled(knows(client), "bold"),
        Content.assemble(first, (would, MUTED), (f"   {less}" if less else "", _NEW)),
        Content.assemble(declares(client), (f"   {_sure(client, Topic.PROTOCOL)}", MUTED)),
        *(plain(f"⚠ {problem}", newlines=False).stylize(_WARNS) for problem in view.problems),
    ]
    if view.prompt:
        lines += [Content(""), Content.styled(IN_THE_PROMPT, MUTED)]
    for paragraph in view.paragraphs:
        lines.append(plain(paragraph.text, limit=_LIMIT))
        if paragraph.cut is not None and paragraph.cut.lost:
            lines.append(_lost(f"instructions from {paragraph.of}", paragraph.cut, client))
    lines += [Content(""), Content.styled(f"What is known about {client.title}", "bold")]
    if client.fidelity is not None:
        lines.append(Content(client.fidelity.told))
    return Content("\n").join([*lines, *_known(today, client.facts)])


def _sure(client: Client, topic: Topic) -> str:
    """How sure the rules of a topic are."""
    confidence: Confidence = client.confidence(topic)
    return f"{MARKS[confidence]} {confidence.told}"


def _lost(what: str, text: Cut, client: Client) -> Content:
    """Return the line where a text is cut, and what the model does not read of it."""
    return Content.assemble(
        plain(cut_at(what, text), newlines=False).stylize(f"bold {_WARNS}"),
        (f"   {_sure(client, Topic.CUTS)}\n", MUTED),
        plain(text.lost.strip("\n"), limit=_LIMIT).stylize("strike " + MUTED),
    )


def _known(today: date, facts: Iterable[Fact]) -> Iterator[Content]:
    """Yield facts, each with its source."""
    for fact in facts:
        yield Content.assemble(
            (f"{MARKS[fact.confidence]} {fact.topic}  ", MUTED),
            fact.says,
            (f"\n   {fact.evidence(today)}", MUTED),
            (f"\n   {fact.source}" if fact.source else "", MUTED),
        )
