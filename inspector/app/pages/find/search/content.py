"""A search report as a line of facts and as rows, with the reason for every tool that is no result."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from textual.content import Content

from inspector.app.draw.style import MUTED
from inspector.app.pages.find.score_bar import bar, full_bars
from inspector.domain.index_state import IndexPhase, IndexState
from inspector.domain.number import count, milliseconds
from inspector.domain.ranking import Hit, Outcome, SearchReport, SearchRequest
from widgets import Record, middle, plain, visible

# Keys of the rows between the tools; no tool id begins like them.
LIMIT = "\0limit"
UNLIKELY = "\0unlikely"
FLOOR = "\0floor"
MORE = "\0more"
# The minimum width of the terms.
_TERMS = 12
_GAP = "   "
NO_RANKS: Mapping[str, int] = {}


def request_of(query: str, server: str, names: str) -> SearchRequest:
    """Return the typed texts as a request; names are separated by commas or spaces."""
    return SearchRequest(query.strip(), server.strip(), tuple(filter(None, re.split(r"[,\s]+", names))))


def facts(report: SearchReport, index: IndexState | None = None, width: int = 120) -> Content:
    """Return ranker, counts and terms of the search, its warnings, and whether it abstained.

    The first line has at most `width` cells, unless that leaves too few for the terms.
    """
    error = plain(report.error).stylize("$text-error") if report.error else None
    if error is not None and not report.hits:
        return Content.assemble(("✕ ", "$text-error"), error)
    return Content("\n").join([_line(report, width), *_warnings(report, index), *([error] if error else [])])


def introduction(text: Content, index: IndexState) -> Content:
    """Return the text before a search, with the progress of the index."""
    progress = embedding(index)
    return Content.assemble(text, "\n", progress.stylize("$text-warning")) if progress else text


def _line(report: SearchReport, width: int) -> Content:
    ranker = visible(report.ranker, newlines=False, limit=40)
    line = Content(_GAP).join(
        [
            Content.assemble(("ranker ", MUTED), ranker),
            Content(f"{len(report.results)} of {count(report.scored or len(report.hits), 'tool')}"),
            *_fit(report),
            Content.styled(milliseconds(report.latency_ms), MUTED),
        ]
    )
    return Content.assemble(line, _GAP, _terms(report, width - line.cell_length - len(_GAP)))


def _fit(report: SearchReport) -> Iterator[Content]:
    if report.probability is not None:
        p, threshold = probabilities(report.probability, report.threshold)
        yield Content.assemble(("fit ", MUTED), p, (f", needs {threshold}", MUTED))


def _terms(report: SearchReport, width: int) -> Content:
    if report.terms:
        room = max(width - len("terms "), _TERMS)
        words = middle(visible(" ".join(report.terms), newlines=False), room)
        return Content.assemble(("terms ", MUTED), plain(words).stylize("bold"))
    meaning = bool(report.request.query.strip() and not report.request.tool_names)
    return Content.styled("no terms: by meaning" if meaning else "no terms: by name", MUTED)


def _warnings(report: SearchReport, index: IndexState | None) -> Iterator[Content]:
    if report.abstained and report.probability is not None:
        p, threshold = probabilities(report.probability, report.threshold)
        yield Content.assemble(
            (f"⚠ no tool fits (p {p} < {threshold})", "bold $text-warning"),
            ("   the closest tools are listed below", MUTED),
        )
    progress = embedding(index) if index is not None else Content()
    note = plain(report.note, newlines=False, limit=300) if report.note else Content()
    if note or progress:
        yield Content("   ").join([piece for piece in (note, progress) if piece]).stylize("$text-warning")


def probabilities(value: float, threshold: float) -> tuple[str, str]:
    """Format a probability and its threshold with enough digits to tell them apart: .72, .30."""
    digits = next((d for d in (2, 3, 4) if round(value, d) != round(threshold, d)), 2)
    short, needed = (f"{number:.{digits}f}" for number in (value, threshold))
    return short.removeprefix("0"), needed.removeprefix("0")


def embedding(index: IndexState) -> Content:
    """Return the progress of the index while it is incomplete."""
    match index.phase:
        case IndexPhase.DOWNLOADING:
            done, total = index.embedded / 1e6, index.total / 1e6
            return Content(f"downloading {_model(index)}: {done:.0f} of about {total:.0f} MB   f9 stops")
        case IndexPhase.LOADING:
            return Content("loading the embedding model …")
        case IndexPhase.EMBEDDING:
            return Content(f"embedding: {index.embedded} of {count(index.total, 'text')}   f9 stops")
        case IndexPhase.STOPPED:
            return Content(f"embedding stopped at {index.embedded} of {count(index.total, 'text')}")
        case IndexPhase.FAILED:
            return Content("no embeddings: ") + plain(visible(index.reason, limit=200, newlines=False))
    return Content()


def _model(index: IndexState) -> str:
    return middle(visible(index.model, limit=200, newlines=False), 40)


def rows(
    report: SearchReport, bound: Collection[str], before: Mapping[str, int] = NO_RANKS
) -> tuple[Record, ...]:
    """Return the results, then the other tools by reason; after abstaining, the closest tools first.

    `before` holds ranks of an earlier search: a tool whose rank has changed tells the earlier one.
    """
    full = full_bars(report.hits)
    missed = [hit for hit in report.hits if not hit.outcome.is_result]
    apart = () if report.abstained else (Outcome.UNLIKELY, Outcome.BELOW_FLOOR)
    near = [hit for hit in missed if hit.outcome not in apart]
    groups = (
        (LIMIT, "" if report.abstained else _limit(report, near), near),
        (UNLIKELY, "unlikely to fit", [hit for hit in missed if hit.outcome in apart[:1]]),
        (FLOOR, "below the floor", [hit for hit in missed if hit.outcome in apart[1:]]),
    )
    found = (
        *(_row(hit, full, bound) for hit in report.results),
        *(record for group in groups for record in _group(*group, full, bound)),
    )
    ranks = {hit.tool_id: hit.rank for hit in report.hits}
    moved = {key: was for key, was in before.items() if ranks.get(key, was) != was}
    return (*(_with_rank_before(record, moved) for record in found), *_more(report))


def _with_rank_before(record: Record, before: Mapping[str, int]) -> Record:
    if record.key not in before:
        return record
    *cells, outcome = record.cells
    told = Content.assemble((f"was {before[record.key]}  ", "bold $accent"), outcome)
    return replace(record, cells=(*cells, told))


def _group(
    key: str, title: str, hits: Collection[Hit], full: dict[str, float], bound: Collection[str]
) -> Iterator[Record]:
    if hits and title:
        yield Record(key, ("", f"── {title}", "", "", f"{len(hits)} missed"), tone="muted")
    yield from (_row(hit, full, bound) for hit in hits)


def _limit(report: SearchReport, rest: Collection[Hit]) -> str:
    limited = any(hit.outcome is Outcome.OVER_LIMIT for hit in rest)
    return f"limit {report.limit}" if limited else "left out"


def _more(report: SearchReport) -> Iterator[Record]:
    count = report.scored - len(report.hits)
    if count > 0:
        yield Record(MORE, ("", f"… and {count:,} more", "", "", ""), tone="muted")


def _row(hit: Hit, full: dict[str, float], bound: Collection[str]) -> Record:
    return Record(
        hit.tool_id,
        (
            str(hit.rank),
            hit.tool_id,
            bar(hit, full),
            f"{hit.score.value:.3f}",
            outcome(hit, hit.tool_id in bound),
        ),
        tone="" if hit.outcome.is_result else "muted",
        copy=hit.tool_id,
    )


def outcome(hit: Hit, bound: bool) -> Content:
    """Return the tool's outcome, and whether it is loaded by now."""
    if hit.outcome.is_result and bound:
        before = hit.outcome is Outcome.ALREADY_LOADED
        return Content.styled("● bound before" if before else "● loaded", "$text-success")
    return Content(f"{'● ' if bound else ''}{hit.outcome.value}")
