"""A search report as one line of facts and as rows, with the reason for every tool that missed."""

import re
from collections.abc import Collection, Iterator

from textual.content import Content

from inspector.app.presenters.signal import bar, full_bars
from inspector.app.presenters.style import MUTED
from inspector.domain.index_state import IndexPhase, IndexState
from inspector.domain.number import milliseconds
from inspector.domain.ranking import Hit, Outcome, SearchReport, SearchRequest
from widgets import Record, middle, plain, visible

# No tool's id begins like the keys of the rows between the tools.
SEPARATOR = "\0limit"
FLOOR = "\0floor"
MORE = "\0more"
_TERMS = 60


def request_of(query: str, server: str, names: str) -> SearchRequest:
    """What was typed, as a request; names are separated by commas or spaces."""
    return SearchRequest(query.strip(), server.strip(), tuple(filter(None, re.split(r"[,\s]+", names))))


def facts(report: SearchReport, index: IndexState | None = None) -> Content:
    """What the search was about, what it went without, and whether the answer is that no tool fits."""
    error = plain(report.error).stylize("$text-error") if report.error else None
    if error is not None and not report.hits:
        return Content.assemble(("✕ ", "$text-error"), error)
    return Content("\n").join([_line(report), *_warnings(report, index), *([error] if error else [])])


def introduction(text: Content, index: IndexState) -> Content:
    """What stands there before a search, with how far the index is."""
    progress = embedding(index)
    return Content.assemble(text, "\n", progress.stylize("$text-warning")) if progress else text


def _line(report: SearchReport) -> Content:
    ranker = visible(report.ranker, newlines=False, limit=40)
    pieces = [
        Content.assemble(("ranker ", MUTED), ranker),
        Content(f"{len(report.results)} of {report.scored or len(report.hits)} tools"),
        *_fit(report),
        Content.styled(milliseconds(report.latency_ms), MUTED),
        _terms(report),
    ]
    return Content("   ").join(pieces)


def _fit(report: SearchReport) -> Iterator[Content]:
    if report.probability is not None:
        p, threshold = probabilities(report.probability, report.threshold)
        yield Content.assemble(("fit ", MUTED), p, (f", needs {threshold}", MUTED))


def _terms(report: SearchReport) -> Content:
    if report.terms:
        words = middle(visible(" ".join(report.terms), newlines=False), _TERMS)
        return Content.assemble(("terms ", MUTED), plain(words).stylize("bold"))
    meaning = bool(report.request.query.strip() and not report.request.tool_names)
    return Content.styled("by meaning, no terms" if meaning else "by name, no terms", MUTED)


def _warnings(report: SearchReport, index: IndexState | None) -> Iterator[Content]:
    if report.abstained and report.probability is not None:
        p, threshold = probabilities(report.probability, report.threshold)
        yield Content.assemble(
            (f"⚠ no tool fits (p {p} < {threshold})", "bold $text-warning"),
            ("   below, what came closest", MUTED),
        )
    progress = embedding(index) if index is not None else Content()
    note = plain(report.note, newlines=False, limit=300) if report.note else Content()
    if note or progress:
        yield Content("   ").join([piece for piece in (note, progress) if piece]).stylize("$text-warning")


def probabilities(value: float, threshold: float) -> tuple[str, str]:
    """A probability and its threshold with as many digits as it takes to tell them apart: .72, .30."""
    digits = next((d for d in (2, 3, 4) if round(value, d) != round(threshold, d)), 2)
    short, needed = (f"{number:.{digits}f}" for number in (value, threshold))
    return short.removeprefix("0"), needed.removeprefix("0")


def embedding(index: IndexState) -> Content:
    """How far the index is, while it is not complete."""
    if index.phase is IndexPhase.EMBEDDING:
        return Content(f"embedding: {index.embedded} of {index.total} texts")
    if index.phase is IndexPhase.LOADING:
        return Content("loading the embedding model …")
    return Content()


def rows(report: SearchReport, bound: Collection[str]) -> tuple[Record, ...]:
    """Results first, then what missed by its reason: over the limit or left out, then below the floor."""
    full = full_bars(report.hits)
    missed = [hit for hit in report.hits if not hit.outcome.is_result]
    near = [hit for hit in missed if hit.outcome is not Outcome.BELOW_FLOOR]
    closest = [hit for hit in near if hit.outcome is Outcome.ABSTAINED]
    rest = [hit for hit in near if hit.outcome is not Outcome.ABSTAINED]
    floor = [hit for hit in missed if hit.outcome is Outcome.BELOW_FLOOR]
    return (
        *(_row(hit, full, bound) for hit in (*report.results, *closest)),
        *_line_above(SEPARATOR, _limit(report, rest), rest),
        *(_row(hit, full, bound) for hit in rest),
        *_line_above(FLOOR, "below the floor", floor),
        *(_row(hit, full, bound) for hit in floor),
        *_more(report),
    )


def _limit(report: SearchReport, rest: Collection[Hit]) -> str:
    limited = any(hit.outcome is Outcome.OVER_LIMIT for hit in rest)
    return f"limit {report.limit}" if limited else "left out"


def _line_above(key: str, title: str, hits: Collection[Hit]) -> Iterator[Record]:
    if hits:
        yield Record(key, ("", f"── {title} ──", "", "", f"{len(hits)} missed"), tone="muted")


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
    """What became of the tool, and whether it is loaded by now."""
    if hit.outcome.is_result and bound:
        before = hit.outcome is Outcome.ALREADY_LOADED
        return Content.styled("● in use" if before else "● loaded", "$text-success")
    return Content(f"{'● ' if bound else ''}{hit.outcome.value}")
