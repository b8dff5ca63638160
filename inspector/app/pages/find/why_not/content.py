"""A tool in a search: what cut it, its bill beside its rival's, and its rank under every ranker."""

import math
from collections.abc import Iterator, Mapping, Sequence

from textual.content import Content

from inspector.app.draw.style import MUTED
from inspector.app.pages.find.score_bar import SIGNALS
from inspector.app.pages.find.search.content import probabilities
from inspector.app.pages.find.why_not.missing_tool import MissingTool
from inspector.domain.number import count, signed
from inspector.domain.ranking import TOLERANCE, Outcome
from inspector.engine.discovery.explanation.standing import Standing
from inspector.engine.discovery.explanation.why_not import LOOKED_UP, WhyNot
from widgets import Column, Record, middle, plain, visible

TOTAL = "\0total"
_NAME = 16
_RANK = 4
_GAP = 2


def columns(found: WhyNot | None) -> tuple[Column, ...]:
    """Return the ledger's columns; the rival's column has its name."""
    rival = middle(found.rival.tool_id, 20) if found is not None and found.rival is not None else "rival"
    return (
        Column("signal", "signal", width=9, weight=4),
        Column("term", "term", shorten="middle", min_width=12, weight=5),
        Column("mine", "this tool", align="right", width=9, weight=5),
        Column("rival", rival, align="right", width=9, weight=5),
        Column("difference", "difference", align="right", width=10, weight=6),
    )


def waiting(tool_id: str, query: str) -> Content:
    """Return the text shown until the answer arrives."""
    return Content.assemble(
        _bold(tool_id),
        ("   for ", MUTED),
        _query(query),
        "\n",
        ("scoring …   esc goes back", "$text-warning"),
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


def verdict(found: WhyNot, *, limit: int, threshold: float, tools: int) -> Content:
    """Return the tool, its rank, and what cut it, in words."""
    rank = f"rank {found.standing.rank} of {tools}"
    lines = [
        Content.assemble(_bold(found.tool_id), ("   for ", MUTED), _query(found.request.query)),
        Content.assemble(
            rank,
            (f"   score {found.score.value:.3f}   ranker {found.ranker}", MUTED),
            _fit(found, threshold),
        ),
        _cut(found, limit, threshold),
    ]
    if found.note:
        lines.append(plain(found.note, limit=300, newlines=False).stylize("$text-warning"))
    return Content("\n").join(lines)


def _fit(found: WhyNot, threshold: float) -> Content:
    if found.probability is None:
        return Content()
    p, needed = probabilities(found.probability, threshold)
    return Content.styled(f"   fit {p}, needs {needed}", MUTED)


def _cut(found: WhyNot, limit: int, threshold: float) -> Content:
    if found.cut is None:
        first = found.rival is None
        text = (
            "it is the first result" if first else "it is a result; to rise, it has to beat the one above it"
        )
        return Content.styled(f"✓ {text}", "$text-success")
    return Content.styled(f"✕ {found.cut.value}: {_why(found, limit, threshold)}", "bold $text-warning")


def _why(found: WhyNot, limit: int, threshold: float) -> str:
    rival = visible(found.rival.tool_id, limit=80, newlines=False) if found.rival is not None else ""
    match found.cut:
        case Outcome.OVER_LIMIT:
            last = f", the last of them is {rival}" if rival else ""
            return f"only {count(limit, 'tool')} {'is' if limit == 1 else 'are'} returned{last}"
        case Outcome.BELOW_FLOOR if found.note == LOOKED_UP:
            return "the request asks for other tools by name"
        case Outcome.BELOW_FLOOR:
            return "its score is too low for the ranker to return it"
        case Outcome.UNLIKELY:
            return "the ranker finds it too unlikely to do what the query asks"
        case Outcome.ABSTAINED:
            p, needed = probabilities(found.probability or 0.0, threshold)
            return f"the search abstained (p {p} < {needed})"
        case Outcome.OTHER_SERVER:
            return "the request is limited to one server, and this tool is on another"
        case _:
            return "the request asks for tags that its server does not have"


def ledger_rows(found: WhyNot) -> tuple[Record, ...]:
    """Return both bills line by line, the biggest loss first, and their sums."""
    if found.rival is None:
        return ()
    lines = tuple(
        Record(
            f"{line.signal.value} {line.term}",
            (
                Content.styled(f"{line.signal.value} {SIGNALS[line.signal][0]}", SIGNALS[line.signal][1]),
                line.term,
                _amount(line.mine),
                _amount(line.rival),
                _difference(line.difference),
            ),
        )
        for line in found.ledger
    )
    return (*lines, _total(found, found.rival.score.value))


def _total(found: WhyNot, rival: float) -> Record:
    summed = math.fsum(line.difference for line in found.ledger)
    right = math.isclose(summed, found.difference, rel_tol=0.0, abs_tol=TOLERANCE)
    check = (
        Content.styled("✓ adds up", "$text-success")
        if right
        else Content.styled("✕ does not add up", "$text-error")
    )
    score = (Content.styled(f"{found.score.value:.3f}", "bold"), Content.styled(f"{rival:.3f}", "bold"))
    return Record(
        TOTAL, (Content.styled("score", "bold"), check, *score, _difference(found.difference).stylize("bold"))
    )


def _amount(value: float) -> str:
    return f"{value:.3f}" if value else "–"


def _difference(value: float) -> Content:
    text = signed(value, 3)
    color = {"-": "$text-error", "+": "$text-success"}.get(text[0], MUTED)
    return Content.styled(text, color)


def no_ledger(found: WhyNot) -> str:
    """Return the text of an empty ledger."""
    if found.note == LOOKED_UP:
        return "Nothing was ranked, so there are no scores to compare."
    return "It is first: nothing to beat." if found.cut is None else "No tool was returned: nothing to beat."


def reasons(found: WhyNot) -> Content:
    """Return what would help, and the terms that the tool lacks."""
    sections: list[Content] = []
    if found.advice:
        sections += [_heading("What would help"), *_bullets(found.advice)]
    if found.lacking:
        words = ", ".join(visible(term, limit=60, newlines=False) for term in found.lacking)
        sections.append(Content.assemble(("not in this tool  ", "$text-warning"), words))
    if not sections and found.cut is None:
        sections.append(Content.styled("It has every term of the query, and no tool ranks above it.", MUTED))
    return Content("\n").join(sections)


def _bullets(advice: Sequence[str]) -> Iterator[Content]:
    for sentence in advice:
        yield Content.assemble(("• ", "$accent"), plain(sentence, limit=600, newlines=False))


def ranks(standings: Mapping[str, Standing], names: Sequence[str], current: str, width: int) -> Content:
    """Return the tool's rank under each ranker, side by side; … is pending, – is not returned."""
    across = max(1, (width + _GAP) // (_NAME + _RANK + 2 + _GAP))
    down = -(-len(names) // across)
    best = min((standing.rank for standing in standings.values() if standing.kept), default=0)
    cells = [_rank(name, standings.get(name), name == current, best) for name in names]
    lines = [Content(" " * _GAP).join(cells[row::down]) for row in range(down)]
    heading = _heading("Its rank under each ranker")
    return Content("\n").join([heading, *lines, Content.styled("– not returned   ▸ in use", MUTED)])


def _rank(name: str, standing: Standing | None, is_current: bool, best: int) -> Content:
    text = "…" if standing is None else str(standing.rank) if standing.kept else "–"
    style = (
        "bold"
        if standing is not None and standing.kept and standing.rank == best
        else MUTED
        if text in "…–"
        else ""
    )
    label = middle(name, _NAME + 1).ljust(_NAME + 1)
    return Content.assemble(
        ("▸" if is_current else " ", "$accent"),
        (label, "bold" if is_current else MUTED),
        (f"{text:>{_RANK}}", style),
    )


def _heading(text: str) -> Content:
    return Content.styled(text, "bold")


def _bold(tool_id: str) -> Content:
    return plain(tool_id, limit=120, newlines=False).stylize("bold")


def _query(query: str) -> Content:
    return plain(f"“{middle(query, 60)}”")
