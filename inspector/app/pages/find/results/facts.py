"""A search in a line: the ranker, how much was found, how sure that is, and which words were looked for."""

from collections.abc import Iterator

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.app.pages.find.pane import stands_for
from inspector.core.number import count, milliseconds
from inspector.core.ranking import Answer, IndexPhase, IndexState, Outcome, SearchReport
from inspector.search.answer_text import confidence_text
from inspector.search.explanation.addition import as_written
from widgets import middle, plain, visible

# The least width of the words.
_TERMS = 20
_GAP = "   "


def facts(report: SearchReport, index: IndexState | None = None, width: int = 120) -> Content:
    """Return ranker, counts and words of the search, its answer, and what a model would get.

    The first line has at most `width` cells, unless that leaves too few for the terms.
    """
    error = plain(report.error).stylize("$text-error") if report.error else None
    if error is not None and not report.hits:
        return Content.assemble(("✕ ", "$text-error"), error)
    lines = (
        _line(report, width),
        *_for_a_model(report, width),
        *_warnings(report, index),
        *_unconnected(report, width),
    )
    return Content("\n").join([*lines, *([error] if error else [])])


def introduction(text: Content, index: IndexState) -> Content:
    """Return the text before a search, with the progress of the index."""
    progress = embedding(index)
    return Content.assemble(text, "\n", progress.stylize("$text-warning")) if progress else text


def _line(report: SearchReport, width: int) -> Content:
    """The duration goes first where the words have no room, then the words."""
    known = [
        Content(stands_for(report.ranker)),
        Content(f"{len(report.results)} of {count(report.scored or len(report.hits), 'tool')}"),
        *_answer(report),
    ]
    for pieces in ([*known, Content.styled(milliseconds(report.latency_ms), MUTED)], known):
        line = Content(_GAP).join(pieces)
        room = width - line.cell_length - len(_GAP)
        if room >= _TERMS:
            return Content.assemble(line, _GAP, _terms(report, room))
    return line


def _answer(report: SearchReport) -> Iterator[Content]:
    if report.probability is not None:
        style = "bold" if report.answer is Answer.FOUND else "bold $text-warning"
        yield Content.styled(report.answer.value, style)
        yield Content.styled(confidence_text(report), MUTED)


def _terms(report: SearchReport, width: int) -> Content:
    if report.terms:
        terms = " ".join(as_written(report.request.query, report.terms))
        words = middle(visible(terms, newlines=False), width - len("words "))
        return Content.assemble(("words ", MUTED), plain(words).stylize("bold"))
    meaning = bool(report.request.query.strip() and not report.request.tool_names)
    return Content.styled("by meaning" if meaning else "by name", MUTED)


def _for_a_model(report: SearchReport, width: int) -> Iterator[Content]:
    """What a model would get where that is not all that was found, one thing a line."""
    number = len(report.results)
    held = [hit.tool_id for hit in report.hits if hit.outcome is Outcome.WITHHELD]
    is_unsure = report.probability is not None and report.probability < report.threshold
    if is_unsure and number:
        closest = "the closest one" if number == 1 else f"the {number} closest"
        yield _warned(f"⚠ no tool clearly fits; a model would get {closest}")
    elif is_unsure or (held and not number):
        yield _warned("⚠ no tool fits; a model would get none")
    if held:
        lead = "withheld, as the query does not clearly ask to delete: "
        names = ", ".join(visible(tool_id, newlines=False) for tool_id in held)
        listed = middle(names, max(width - len(lead), _TERMS))
        yield Content.assemble((lead, "$text-warning"), plain(listed))


def _warned(text: str) -> Content:
    return Content.assemble((text, "$text-warning"), ("   l loads any tool", MUTED))


def _warnings(report: SearchReport, index: IndexState | None) -> Iterator[Content]:
    progress = embedding(index) if index is not None else Content()
    note = plain(report.note, newlines=False, limit=300) if report.note else Content()
    if note or progress:
        yield Content("   ").join([piece for piece in (note, progress) if piece]).stylize("$text-warning")


def _unconnected(report: SearchReport, width: int) -> Iterator[Content]:
    """What the registry has besides, on one line: it is neither ranked with the others nor loaded."""
    if report.unconnected:
        start = f"in the registry, not connected ({len(report.unconnected)}): "
        named = (f"{visible(one.tool_id, newlines=False)} {one.similarity:.2f}" for one in report.unconnected)
        listed = middle(", ".join(named), max(width - len(start), _TERMS))
        yield Content.assemble((start, MUTED), plain(listed))


def embedding(index: IndexState) -> Content:
    """Return the progress of the index while it is incomplete."""
    match index.phase:
        case IndexPhase.DOWNLOADING:
            done, total = index.embedded / 1e6, index.total / 1e6
            return Content(f"downloading {_model(index)}: {done:.0f} of about {total:.0f} MB")
        case IndexPhase.LOADING:
            return Content("loading the embedding model …")
        case IndexPhase.EMBEDDING:
            return Content(f"embedding: {index.embedded} of {count(index.total, 'text')}")
        case IndexPhase.STOPPED:
            return Content(f"embedding stopped at {index.embedded} of {count(index.total, 'text')}")
        case IndexPhase.FAILED:
            return Content("no embeddings: ") + plain(visible(index.reason, limit=200, newlines=False))
    return Content()


def _model(index: IndexState) -> str:
    return middle(visible(index.model, limit=200, newlines=False), 40)
