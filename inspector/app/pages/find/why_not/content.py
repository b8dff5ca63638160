"""A tool in a search: what cut it, what would bring it in, and its bill beside its rival's."""

import math
from collections.abc import Iterator, Sequence

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.app.pages.find.pane import score, stands_for
from inspector.app.pages.find.score_bar import SHORT_TERMS, SIGNALS
from inspector.app.pages.find.why_not.missing_tool import MissingTool
from inspector.core.number import count, ordinal, signed
from inspector.core.ranking import TOLERANCE, Outcome, Signal
from inspector.search.answer_text import told_apart
from inspector.search.explanation.addition import Addition, Place, as_written
from inspector.search.explanation.why_not import LOOKED_UP, LedgerLine, WhyNot
from widgets import Column, Record, middle, plain, visible

TOTAL = "\0total"
PROPOSALS = (
    Column("text", "", shorten="middle", min_width=20, weight=9),
    Column("rank", "rank", align="right", width=6, weight=10),
    Column("tokens", "tokens", align="right", width=6, weight=5),
)
TRYING = "trying additions to its description …"
_TITLE = "Additions tried, smallest first; enter drafts one"
_NO_TEXT = "No wording we tried ranks it higher."


LEDGER = (
    Column("signal", "signal", width=9, weight=4),
    Column("term", "word", shorten="middle", min_width=12, weight=5),
    Column("mine", "this tool", align="right", width=9, weight=5),
    Column("rival", "to beat", align="right", width=9, weight=5),
    Column("difference", "difference", align="right", width=10, weight=6),
)


def waiting(tool_id: str, query: str) -> Content:
    """Return the text shown until the answer arrives."""
    return Content.assemble(
        _bold(tool_id),
        ("   for ", MUTED),
        _query(query),
        "\n",
        ("scoring …", "$text-warning"),
    )


def missing(tool_id: str, query: str, reason: MissingTool) -> Content:
    """Return the text for a tool that no search can find."""
    return Content.assemble(
        _bold(tool_id),
        ("   for ", MUTED),
        _query(query),
        "\n",
        (f"✕ {reason.reason}", "$text-warning"),
        "\n",
        reason.hint,
    )


def verdict(found: WhyNot, *, limit: int, closest: float, tools: int) -> Content:
    """Return the tool, its rank, and what cut it, in words."""
    rank = f"{ordinal(found.standing.rank)} of {tools:,}"
    lines = [
        Content.assemble(_bold(found.tool_id), ("   for ", MUTED), _query(found.request.query)),
        Content.assemble(
            rank,
            (f"   score {score(found.score.value)}   {stands_for(found.ranker)}", MUTED),
        ),
        _cut(found, limit, closest),
    ]
    if found.note:
        lines.append(plain(found.note, limit=300, newlines=False).stylize("$text-warning"))
    return Content("\n").join(lines)


def _cut(found: WhyNot, limit: int, closest: float) -> Content:
    if found.cut is None:
        first = found.rival is None
        text = (
            "it is the first result" if first else "it is a result; to rise, it must beat the tool above it"
        )
        return Content.styled(f"✓ {text}", "$text-success")
    return Content.styled(f"✕ {found.cut.value}: {_why(found, limit, closest)}", "bold $text-warning")


def _why(found: WhyNot, limit: int, closest: float) -> str:
    rival = visible(found.rival.tool_id, limit=80, newlines=False) if found.rival is not None else ""
    match found.cut:
        case Outcome.OVER_LIMIT:
            last = f"; the last one is {rival}" if rival else ""
            return f"only {count(limit, 'tool')} {'is' if limit == 1 else 'are'} returned{last}"
        case Outcome.BELOW_FLOOR if found.note == LOOKED_UP:
            return "the request asks for other tools by name"
        case Outcome.BELOW_FLOOR:
            return "its score is too low for the ranker to return it"
        case Outcome.UNLIKELY:
            return "the ranker finds it too unlikely to do what the query asks"
        case Outcome.NOTHING_FITS:
            own, needed = told_apart(found.probability or 0.0, closest)
            return f"the search returns nothing (confidence {own}, closest needs {needed})"
        case Outcome.WITHHELD:
            return "it may destroy data, and the request does not clearly ask for that"
        case Outcome.OTHER_SERVER:
            return "the request is limited to one server, and this tool is on another"
        case _:
            return "the request asks for tags its server lacks"


def ledger_rows(found: WhyNot) -> tuple[Record, ...]:
    """Return the sums of both bills, then their lines, the biggest loss first."""
    if found.rival is None:
        return ()
    lines = tuple(
        Record(
            f"{line.signal.value} {line.term}",
            (
                Content.styled(f"{line.signal.value} {SIGNALS[line.signal][0]}", SIGNALS[line.signal][1]),
                _term(line, found.request.query),
                _amount(line.mine),
                _amount(line.rival),
                _difference(line.difference),
            ),
        )
        for line in found.ledger
    )
    return (_total(found, found.rival.score.value), *lines)


def _term(line: LedgerLine, query: str) -> str:
    """What a line is about, words as the query has them."""
    if line.signal is Signal.WORDS:
        return line.term
    return SHORT_TERMS.get(line.term) or as_written(query, (line.term,))[0]


def _total(found: WhyNot, rival: float) -> Record:
    summed = math.fsum(line.difference for line in found.ledger)
    right = math.isclose(summed, found.difference, rel_tol=0.0, abs_tol=TOLERANCE)
    check = (
        Content.styled("✓ adds up", "$text-success")
        if right
        else Content.styled("✕ does not add up", "$text-error")
    )
    both = (Content.styled(score(value), "bold") for value in (found.score.value, rival))
    return Record(
        TOTAL, (Content.styled("score", "bold"), check, *both, _difference(found.difference).stylize("bold"))
    )


def _amount(value: float) -> str:
    return score(value) if value else "–"


def _difference(value: float) -> Content:
    text = signed(value, 3)
    color = {"-": "$text-error", "+": "$text-success"}.get(text[0], MUTED)
    return Content.styled(text, color)


def no_ledger(found: WhyNot) -> str:
    """Return the text of an empty ledger."""
    if found.note == LOOKED_UP:
        return "Nothing was ranked, so there are no scores to compare."
    return (
        "It ranks first: nothing to beat." if found.cut is None else "No tool was returned: nothing to beat."
    )


def ledger_title(found: WhyNot | None) -> str:
    """Return what the ledger compares with."""
    if found is None or found.rival is None:
        return "Tool to beat"
    rival = middle(found.rival.tool_id, 24)
    ahead = f", ahead by {score(-found.difference)}" if found.difference < 0 else ""
    return f"To beat: {rival}, {ordinal(found.rival.standing.rank)}{ahead}"


def reasons(found: WhyNot) -> Content:
    """Return the query's words that the tool has and lacks, and what else holds it back."""
    lines = [
        _words("matching words  ", found.having, found.request.query, MUTED),
        _words("missing words   ", found.lacking, found.request.query, "$text-warning"),
        *_bullets(found.advice),
    ]
    if found.rival is None and found.cut is None and not found.lacking:
        lines.append(Content.styled("It has every query word, and no tool ranks above it.", MUTED))
    return Content("\n").join(line for line in lines if line)


def _words(label: str, sought: Sequence[str], query: str, style: str) -> Content:
    if not sought:
        return Content()
    words = "  ".join(visible(word, limit=60, newlines=False) for word in as_written(query, sought))
    return Content.assemble((label, style), words)


def proposals(additions: Sequence[Addition]) -> tuple[Record, ...]:
    """Return a row per addition, with the rank that the tool reaches with it."""
    return tuple(_proposal(one) for one in additions)


def _proposal(one: Addition) -> Record:
    text = visible(one.text, limit=2_000, newlines=False)
    where = "" if one.place is Place.AT_END else f" {one.place}"
    reached = Content.styled(f"→ {ordinal(one.standing.rank)}", "" if one.cut else "bold $text-success")
    if one.overtaken:
        reached = Content.assemble(("⚠ ", "$text-warning"), reached)
    cells = (Content.assemble(("+ ", "$accent"), f"“{text}”", (where, MUTED)), reached, f"{one.tokens:+,}")
    return Record(one.description, cells, copy=one.text)


def overtaken(one: Addition | None) -> Content:
    """Return which right tool an addition would beat, for which request, and for how many more."""
    if one is None or not one.overtaken:
        return Content()
    first, *others = one.overtaken
    more = f" and for {count(len(others), 'more request')}" if others else ""
    text = f"⚠ but it would also beat {middle(first.tool_id, 40)} for “{middle(first.query, 60)}”{more}"
    return plain(text, newlines=False).stylize("$text-warning")


def proposals_title(additions: Sequence[Addition], *, is_done: bool) -> str:
    """Return the title of the proposals: what they are, and whether more are being tried."""
    if not is_done:
        return "Trying additions …"
    return _TITLE if additions else "Additions tried"


def no_proposal(*, is_done: bool) -> str:
    """Return the text in place of proposals."""
    return _NO_TEXT if is_done else TRYING


def _bullets(advice: Sequence[str]) -> Iterator[Content]:
    for sentence in advice:
        yield Content.assemble(("• ", "$accent"), plain(sentence, limit=600, newlines=False))


def _bold(tool_id: str) -> Content:
    return plain(tool_id, limit=120, newlines=False).stylize("bold")


def _query(query: str) -> Content:
    return plain(f"“{middle(query, 60)}”")
