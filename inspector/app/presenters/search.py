"""A search report as rows, and one hit as a bill whose lines add up to its score."""

import math
import re
from collections.abc import Collection

from textual.content import Content

from inspector.app.presenters.style import MUTED
from inspector.domain.number import milliseconds
from inspector.domain.ranking import Hit, Outcome, Part, SearchReport, SearchRequest, Signal
from widgets import Record, middle, plain, stacked, visible

SIGNALS = {
    Signal.NAME: ("name", "$primary"),
    Signal.DESCRIPTION: ("description", "$success"),
    Signal.PARAMETERS: ("parameters", "$accent"),
    Signal.SEMANTIC: ("semantic", "$secondary"),
    Signal.FUZZY: ("fuzzy", "$warning"),
    Signal.EXACT: ("exact", "$primary"),
}
SEPARATOR = "\0separator"
BAR_WIDTH = 10
FORMULA = (
    "a term adds idf · tf · 2.5 / (tf + 1.5 · (0.25 + 0.75 · length / mean)),\n"
    "shared by where it stands   (BM25, k1 1.5, b 0.75)"
)
_TERM_WIDTH = 12
_MUTED = MUTED


def request_of(query: str, server: str, names: str) -> SearchRequest:
    """What was typed, as a request; names are separated by commas or spaces."""
    return SearchRequest(query.strip(), server.strip(), tuple(filter(None, re.split(r"[,\s]+", names))))


def facts(report: SearchReport) -> Content:
    """What the search was about, in one line, or what is wrong with it."""
    error = plain(report.error).stylize("$text-error") if report.error else None
    if error is not None and not report.hits:
        return Content.assemble(("✕ ", "$text-error"), error)
    words = middle(visible(" ".join(report.terms), newlines=False), 60)
    line = Content.assemble(
        ("terms ", _MUTED) if report.terms else ("by name, no terms", _MUTED),
        plain(words).stylize("bold"),
        (f"   {len(report.results)} of {len(report.hits)} tools", ""),
        (f"   {report.ranker}   {milliseconds(report.latency_ms)}", _MUTED),
    )
    return Content.assemble(line, "\n", error) if error is not None else line


def rows(report: SearchReport, bound: Collection[str]) -> tuple[Record, ...]:
    """Results first, then a line, then the tools that missed with the reason."""
    best = max((hit.score.value for hit in report.hits), default=0.0)
    missed = tuple(hit for hit in report.hits if not hit.outcome.is_result)
    found = tuple(_row(hit, best, bound) for hit in report.results)
    if not missed:
        return found
    return (*found, _separator(report, missed), *(_row(hit, best, bound) for hit in missed))


def _separator(report: SearchReport, missed: tuple[Hit, ...]) -> Record:
    limited = any(hit.outcome is Outcome.OVER_LIMIT for hit in missed)
    title = f"── limit {report.limit} ──" if limited else "── no match ──"
    return Record(SEPARATOR, ("", title, "", "", f"{len(missed)} missed"), tone="muted")


def _row(hit: Hit, best: float, bound: Collection[str]) -> Record:
    parts = [(part.signal.value, part.value, SIGNALS[part.signal][1]) for part in merged(hit.score.parts)]
    return Record(
        hit.tool_id,
        (
            str(hit.rank),
            hit.tool_id,
            stacked(parts, BAR_WIDTH, best),
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


def merged(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """One part a signal, so that a bar shows each letter once."""
    signals = dict.fromkeys(part.signal for part in sorted(parts, key=lambda p: list(Signal).index(p.signal)))
    return tuple(
        Part(signal, "", math.fsum(part.value for part in parts if part.signal is signal))
        for signal in signals
    )


def bill(report: SearchReport, hit: Hit, bound: bool) -> Content:
    """Every part of a score, their total, and what is missing from the tool."""
    lines = [
        Content.assemble(
            plain(hit.tool_id, newlines=False).stylize("bold"),
            (f"   rank {hit.rank}   ", _MUTED),
            outcome(hit, bound),
        ),
        *(
            _lines(hit)
            if hit.score.parts
            else [Content.styled("No term of the query is in this tool.", _MUTED)]
        ),
        *_missing(report, hit),
        *_formula(hit),
    ]
    return Content("\n").join(lines)


def _lines(hit: Hit) -> list[Content]:
    parts = hit.score.parts
    if not parts:
        return [Content.styled("No term of the query is in this tool.", _MUTED)]
    header = Content.styled(_columns("term", "where", "tf", "df", "idf", "adds"), _MUTED)
    rule = Content.styled("─" * len(header), _MUTED)
    return [header, *(_part_line(part, parts) for part in parts), rule, _total(hit)]


def _columns(term: str, where: str, tf: str, df: str, idf: str, adds: str) -> str:
    return f"{term:<{_TERM_WIDTH}} {where:<13} {tf:>4} {df:>9} {idf:>5} {adds:>7}"


def _part_line(part: Part, parts: tuple[Part, ...]) -> Content:
    word, style = SIGNALS[part.signal]
    term = middle(visible(part.term, newlines=False), _TERM_WIDTH)
    padded = plain(term) + Content(" " * max(_TERM_WIDTH - Content(term).cell_length, 0))
    known = part.inputs
    df = f"{known['df']:.0f} of {known['N']:.0f}" if {"df", "N"} <= known.keys() else ""
    idf = f"{known['idf']:.2f}" if "idf" in known else ""
    numbers = f" {_frequency(part, parts):>4} {df:>9} {idf:>5} "
    where = Content.styled(f"{part.signal.value} {word:<11}", style)
    return Content.assemble(padded, " ", where, numbers, (f"{part.value:>7.3f}", "bold"))


def _frequency(part: Part, parts: tuple[Part, ...]) -> str:
    """How often the term is in this field, and of how many in all when another field has it too."""
    if "tf" not in part.inputs:
        return ""
    total = part.inputs["tf"]
    whole = math.fsum(other.value for other in parts if other.term == part.term)
    here = round(total * part.value / whole) if whole else 0
    return f"{here}" if here == total else f"{here}/{total:.0f}"


def _total(hit: Hit) -> Content:
    right = hit.score.adds_up()
    check = ("✓ adds up", "$text-success") if right else ("✕ does not add up", "$text-error")
    total = _columns("score", "", "", "", "", f"{hit.score.value:.3f}")
    return Content.assemble((total, "bold"), "\n", check)


def _missing(report: SearchReport, hit: Hit) -> list[Content]:
    found = {part.term for part in hit.score.parts}
    lacking = [visible(term, newlines=False, limit=60) for term in report.terms if term not in found]
    if not lacking:
        return []
    return [Content.assemble(("\nnot in this tool  ", "$text-warning"), ", ".join(lacking))]


def _formula(hit: Hit) -> list[Content]:
    inputs = next((part.inputs for part in hit.score.parts if "length" in part.inputs), None)
    if inputs is None:
        asked = any(part.signal is Signal.EXACT for part in hit.score.parts)
        return [Content.styled("\nAsked for by name or server: nothing to compute.", _MUTED)] if asked else []
    length = f"\nlength {inputs['length']:.0f} words, mean {inputs['mean length']:.1f}"
    return [Content.styled(f"{length}\n{FORMULA}", _MUTED)]
