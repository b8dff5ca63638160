"""The score of the tool under the cursor, itemized like a bill."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector.app.draw.line import MUTED
from inspector.app.pages.find.pane import Pane, Topic, outcome
from inspector.app.pages.find.score_bar import SHORT_TERMS, SIGNALS
from inspector.core.ranking import ASKED_BEFORE, USED_BEFORE, Hit, Part, SearchReport, Signal
from inspector.search.explanation.addition import as_written
from inspector.search.rankers.ranker_list import INFO
from widgets import middle, plain, shorten, visible

# The columns have everyday words; the last line says which terms of art they stand for.

_TERM, _WHERE, _INPUTS, _ADDS = 13, 9, (6, 5, 6), 8
WIDTH = _TERM + _WHERE + sum(_INPUTS) + _ADDS + 5
# The inputs worth a column, by an input that only such parts have; other parts show their first three.
_COLUMNS = {
    "idf": ("tf", "df", "idf"),
    "mean": ("cosine", "mean", "weight"),
    "ratio": ("ratio", "haystack length"),
    "share": ("score", "share"),
    "past requests": ("cosine", "past requests", "weight"),
    "uses": ("by age", "prior", "weight"),
}
_HEADS = {
    "tf": "times",
    "df": "tools",
    "idf": "rarity",
    "cosine": "near",
    "mean": "usual",
    "haystack length": "chars",
    "threshold": "floor",
    "token bonus": "bonus",
    "times in query": "times",
    "total weight": "total",
    "query words": "words",
    "tool keywords": "keys",
    "mean of three": "best 3",
    "past requests": "asked",
}
_TERMS_OF_ART = ("tf", "df", "idf", "cosine", "mean")
_COUNTS = {"tf", "df", "N", "rank", "k", "times in query", "query words", "tool keywords"}
_COUNTS |= {"haystack length", "past requests"}
# Their terms are not stems: a word as the query has it, a whole step of it, a past request, past use.
_UNSTEMMED = (Signal.WORDS, Signal.STEP, Signal.HISTORY, Signal.AFFINITY)
_NOTHING = "Nothing in the query matches this tool."


def bill(report: SearchReport, hit: Hit, outcome: Content) -> Content:
    """Return every part of a score, their total, the terms the tool lacks, and the ranker's formula."""
    name = shorten(plain(hit.tool_id, newlines=False), WIDTH - 24, where="middle")
    title = Content.assemble(name.stylize("bold"), (f"  rank {hit.rank}  ", MUTED), outcome)
    lines = [title, *_lines(report, hit), *_missing(report, hit), *_foot(report, hit)]
    return Content("\n").join(lines)


def _lines(report: SearchReport, hit: Hit) -> Iterator[Content]:
    written = dict(zip(report.terms, as_written(report.request.query, report.terms), strict=True))
    parts = [replace(part, term=_term(part, written)) for part in hit.score.parts]
    if not parts:
        yield Content.styled(_NOTHING, MUTED)
        return
    lead = "word"
    for columns, group in groupby(parts, key=lambda part: _columns(part.inputs)):
        if columns or lead:
            yield Content.styled(
                _row(lead, "where" if lead else "", [_head(c) for c in columns], "adds"), MUTED
            )
        yield from (_part_line(part, columns) for part in group)
        lead = ""
    yield Content.styled("─" * WIDTH, MUTED)
    yield _total(hit)


def _term(part: Part, written: Mapping[str, str]) -> str:
    """What a line is about; a step, a past request or past use is too long for it, and stands below."""
    if part.signal is Signal.STEP:
        return _step(part)
    if part.signal is Signal.HISTORY:
        return ASKED_BEFORE
    if part.signal is Signal.AFFINITY:
        return USED_BEFORE
    return part.term if part.signal is Signal.WORDS else written.get(part.term, part.term)


def _step(part: Part) -> str:
    return f"step {part.inputs['step']:.0f} of {part.inputs['steps']:.0f}"


def _columns(inputs: Mapping[str, float]) -> tuple[str, ...]:
    known = next((columns for key, columns in _COLUMNS.items() if key in inputs), None)
    return known if known is not None else tuple(inputs)[: len(_INPUTS)]


def _head(column: str) -> str:
    return _HEADS.get(column, column)


def _row(term: str, where: str, numbers: Sequence[str], adds: str) -> str:
    padded = [*numbers, *[""] * (len(_INPUTS) - len(numbers))]
    inputs = " ".join(f"{number:>{width}}" for number, width in zip(padded, _INPUTS, strict=True))
    return f"{term:<{_TERM}} {where:<{_WHERE}} {inputs} {adds:>{_ADDS}}"


def _part_line(part: Part, columns: Sequence[str]) -> Content:
    word, style = SIGNALS[part.signal]
    term = plain(middle(SHORT_TERMS.get(part.term, part.term), _TERM), newlines=False)
    numbers = [_number(column, part.inputs[column]) if column in part.inputs else "" for column in columns]
    row = _row("", "", numbers, _adds(part.value))
    return Content.assemble(
        term.pad_right(max(_TERM - term.cell_length, 0)),
        " ",
        (f"{part.signal.value} {word:<{_WHERE - 2}}", style),
        row[_TERM + 1 + _WHERE : -_ADDS],
        (row[-_ADDS:], "bold"),
    )


def _adds(value: float) -> str:
    """With as many decimals as there is room for: where tools hardly differ, parts run into thousands."""
    written = (f"{value:.{decimals}f}" for decimals in (3, 2, 1))
    return next((text for text in written if len(text) <= _ADDS), f"{value:.0f}")


def _number(column: str, value: float) -> str:
    return f"{value:.0f}" if column in _COUNTS else f"{value:.2f}"


def _total(hit: Hit) -> Content:
    """Return the score, and whether the lines above add up to it."""
    right = hit.score.adds_up()
    check = ("✓ adds up", "$text-success") if right else ("✕ does not add up", "bold $text-error")
    adds = f"{hit.score.value:.3f}".rjust(WIDTH - _TERM - 1 - len(check[0]))
    return Content.assemble((f"{'score':<{_TERM}} ", "bold"), check, (adds, "bold"))


def _missing(report: SearchReport, hit: Hit) -> Iterator[Content]:
    matched = {part.term for part in hit.score.parts if part.signal not in _UNSTEMMED}
    missing = as_written(report.request.query, (term for term in report.terms if term not in matched))
    lacking = [visible(term, newlines=False, limit=60) for term in missing]
    if lacking:
        yield Content.assemble(("\nnot in this tool  ", "$text-warning"), ", ".join(lacking))


def _foot(report: SearchReport, hit: Hit) -> Iterator[Content]:
    """Yield the inputs that the columns leave out (lengths, deviations), to recompute every line."""
    if any(part.signal is Signal.EXACT and not part.inputs for part in hit.score.parts) and not report.terms:
        yield Content.styled("\nRequested by name or server, so there is no score to compute.", MUTED)
        return
    formula = INFO[report.ranker].formula if report.ranker in INFO else ""
    yield Content.styled(f"\n{formula}", MUTED)
    lines = (*_lexical(hit), *_spread(hit), *_whole(hit), *_past(hit), *_used(hit), *_terms_of_art(hit))
    yield from (Content.styled(line, MUTED) for line in lines)


def _terms_of_art(hit: Hit) -> Iterator[str]:
    shown = {column for part in hit.score.parts for column in _columns(part.inputs)}
    known = [f"{_HEADS[term]} = {term}" for term in _TERMS_OF_ART if term in shown]
    if known:
        yield ", ".join(known)


def _lexical(hit: Hit) -> Iterator[str]:
    by_field = {part.signal: part.inputs for part in hit.score.parts if "mean length" in part.inputs}
    if not by_field:
        return
    tools = next(iter(by_field.values())).get("N", 0.0)
    yield f"among {tools:.0f} tools; words here / on average × weight:"
    yield "  ".join(
        f"{signal.value} {known['length']:.0f}/{known['mean length']:.1f}"
        + (f" ×{known['weight']:g}" if "weight" in known else "")
        for signal, known in by_field.items()
    )


def _spread(hit: Hit) -> Iterator[str]:
    spread = [
        f"{visible(part.term, newlines=False, limit=30)} {part.inputs['deviation']:.3f}"
        for part in hit.score.parts
        if "deviation" in part.inputs
    ]
    if spread:
        yield f"S adds weight · cosine / deviation: {', '.join(spread)}"


def _whole(hit: Hit) -> Iterator[str]:
    """Yield what the query counts as a whole: it may have steps, and a wording without its literals."""
    if any("wordings" in part.inputs for part in hit.score.parts):
        yield "near, usual, deviation: averaged over the query with and without its literals"
    for part in hit.score.parts:
        if part.signal is Signal.STEP:
            step = visible(part.term, newlines=False, limit=200)
            yield f"the whole query weighs {1 - part.inputs['share']:.2f}, its best-fitting step the rest:"
            yield f"{_step(part)}: “{step}”"


def _past(hit: Hit) -> Iterator[str]:
    """Yield the past request that is closest to the query, and how it counts."""
    for part in hit.score.parts:
        if part.signal is Signal.HISTORY:
            floor = part.inputs["floor"]
            yield f"H adds weight · (near − {floor:g}) / {1 - floor:g} for the closest past request:"
            yield visible(part.term, newlines=False, limit=200)


def _used(hit: Hit) -> Iterator[str]:
    """Yield how often the tool was used before and by whom, and how that counts."""
    for part in hit.score.parts:
        if part.signal is Signal.AFFINITY:
            yield f"Y adds weight · prior · {part.inputs['spread']:.3f}, the deviation of the scores;"
            yield f"prior = log(1 + by age) / log(1 + {part.inputs['full']:g}), at most 1:"
            yield visible(part.term, newlines=False, limit=200)


_NO_SEARCH = "A tool's score appears here."
_NO_TOOL = "Choose a tool to see how its score adds up."


class ScorePane(Pane):
    """Follows the cursor of the list."""

    takes_focus = False
    first = ("#bill",)

    def __init__(self) -> None:
        super().__init__(id="score")
        self._hit_id = ""

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="bill"):
            yield Static(id="bill-text")

    @property
    def tool_id(self) -> str:
        return self._hit_id

    def show(self, topic: Topic) -> None:
        report, hit = topic.report, topic.hit
        text = self.query_one("#bill-text", Static)
        self._hit_id = hit.tool_id if hit is not None else ""
        if report is None or hit is None:
            scored = report is not None and bool(report.hits)
            text.update(Content.styled(_NO_TOOL if scored else _NO_SEARCH, MUTED))
            return
        bound = hit.tool_id in self.session.state.bound_ids
        text.update(bill(report, hit, outcome(hit, bound)))
