"""The score of the tool under the cursor, itemized like a bill, and the bar that its signals form."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from msgspec.structs import replace
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector.app.draw.definition import DefinitionCard
from inspector.app.draw.line import MUTED
from inspector.core.ranking import READ_LIKE, USED_BEFORE, Hit, Part, SearchReport, Signal
from inspector.features.search.facts import SHORT_TERMS, signal_word
from inspector.features.search.search_job import Pane, Topic, outcome
from inspector.search.index.vocabulary import as_written
from inspector.search.ranker.ranker_list import INFO
from widgets import middle, plain, shorten, stacked, visible

# Each signal of a score has a fixed color.
_COLORED = {
    "$text-primary": (Signal.NAME, Signal.PATTERN, Signal.EXACT, Signal.AFFINITY),
    "$text-success": (Signal.DESCRIPTION, Signal.WORDS, Signal.HISTORY),
    "$text-accent": (Signal.PARAMETERS, Signal.FUSION, Signal.STEP),
    "$text-warning": (Signal.SERVER, Signal.FUZZY),
    "$text-secondary": (Signal.SEMANTIC, Signal.KEYWORD, Signal.PHRASE),
    "$foreground": (Signal.TIER,),
    MUTED: (Signal.AVERAGE, Signal.UNASKED),
}
COLORS = {signal: color for color, signals in _COLORED.items() for signal in signals}
LETTERS = "N name, D description, P parameters, V server, W words, S meaning, B phrase, Q step, T tier"
BAR_WIDTH = 10


def merged(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Merge the parts of each signal, in signal order, so that a bar shows each letter once."""
    values: dict[Signal, list[float]] = {}
    for part in parts:
        values.setdefault(part.signal, []).append(part.value)
    return tuple(Part(signal, "", math.fsum(values[signal])) for signal in Signal if signal in values)


def bars(hits: Sequence[Hit], besides: Iterable[Hit] = ()) -> list[Content]:
    """Draw the positive signals of each score; a tier takes one cell, or it would hide all else.

    A bar is full at the largest sum of positive signals of a tool of its tier, here or `besides`.
    """
    full: dict[str, float] = {}
    for hit in (*hits, *besides):
        tier = _tier(hit)
        full[tier] = max(full.get(tier, 0.0), math.fsum(part.value for part in _shown(hit)))
    return stacked([_stack(hit, full) for hit in hits], BAR_WIDTH)


def _stack(hit: Hit, full: Mapping[str, float]) -> tuple[list[tuple[str, float, str]], float]:
    best = full[_tier(hit)] or 1.0
    cell = best / (BAR_WIDTH - 1)
    tier = [(Signal.TIER.value, cell, COLORS[Signal.TIER])] if _tier(hit) else []
    parts = [(part.signal.value, part.value, COLORS[part.signal]) for part in _shown(hit)]
    return [*tier, *parts], best + (cell if tier else 0.0)


def _shown(hit: Hit) -> list[Part]:
    return [part for part in merged(hit.score.parts) if part.value > 0 and part.signal is not Signal.TIER]


def _tier(hit: Hit) -> str:
    """Return the tier of a hit: scores of different tiers are on different scales."""
    return next((part.term for part in hit.score.parts if part.signal is Signal.TIER), "")


# The bill. Its columns have the field's terms as far as they fit; `search --json` has every input.

_TERM, _WHERE, _INPUTS, _ADDS = 13, 9, (6, 5, 6), 8
WIDTH = _TERM + _WHERE + sum(_INPUTS) + _ADDS + 5
# The inputs worth a column, by an input that only such parts have; other parts show their first three.
_COLUMNS = {
    "idf": ("tf", "df", "idf"),
    "mean": ("cosine", "mean", "weight"),
    "ratio": ("ratio", "haystack length"),
    "share": ("score", "share"),
    "uses": ("by age", "prior", "weight"),
}
_HEADS = {
    "haystack length": "chars",
    "threshold": "min",
    "token bonus": "bonus",
    "times in query": "times",
    "total weight": "total",
    "query words": "words",
    "tool keywords": "keys",
    "mean of three": "best 3",
}
_COUNTS = {"tf", "df", "N", "rank", "k", "times in query", "query words", "tool keywords"}
_COUNTS |= {"haystack length"}
# Too long for the column.
_LONG = (Signal.STEP, Signal.AFFINITY, Signal.PHRASE)
# Their terms are not stems.
_UNSTEMMED = (Signal.WORDS, Signal.UNASKED, *_LONG)


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
        yield Content.styled("Nothing in the query matches this tool.", MUTED)
        return
    lead = "word"
    for columns, group in groupby(parts, key=lambda part: _columns(part.inputs)):
        if columns or lead:
            heads = [_HEADS.get(column, column) for column in columns]
            yield Content.styled(_row(lead, "where" if lead else "", heads, "adds"), MUTED)
        yield from (_part_line(part, columns) for part in group)
        lead = ""
    yield Content.styled("─" * WIDTH, MUTED)
    yield _total(hit)


def _term(part: Part, written: Mapping[str, str]) -> str:
    """What a line is about; a step or past use is too long for it, and stands below."""
    if part.signal is Signal.STEP:
        return f"step {part.inputs['step']:.0f} of {part.inputs['steps']:.0f}"
    if part.signal is Signal.AFFINITY:
        return USED_BEFORE
    if part.signal is Signal.PHRASE:
        return READ_LIKE
    return part.term if part.signal in (Signal.WORDS, Signal.UNASKED) else written.get(part.term, part.term)


def _columns(inputs: Mapping[str, float]) -> tuple[str, ...]:
    known = (columns for key, columns in _COLUMNS.items() if key in inputs)
    return next(known, tuple(inputs)[: len(_INPUTS)])


def _row(term: str, where: str, numbers: Sequence[str], adds: str) -> str:
    padded = [*numbers, *[""] * (len(_INPUTS) - len(numbers))]
    inputs = " ".join(f"{number:>{width}}" for number, width in zip(padded, _INPUTS, strict=True))
    return f"{term:<{_TERM}} {where:<{_WHERE}} {inputs} {adds:>{_ADDS}}"


def _part_line(part: Part, columns: Sequence[str]) -> Content:
    word, style = signal_word(part.signal), COLORS[part.signal]
    term = plain(middle(SHORT_TERMS.get(part.term, part.term), _TERM), newlines=False)
    inputs = ((column, part.inputs.get(column)) for column in columns)
    numbers = [
        "" if value is None else f"{value:.{0 if column in _COUNTS else 2}f}" for column, value in inputs
    ]
    # With as many decimals as there is room for: where tools hardly differ, parts run into thousands.
    written = (f"{part.value:.{decimals}f}" for decimals in (3, 2, 1))
    adds = next((text for text in written if len(text) <= _ADDS), f"{part.value:.0f}")
    row = _row("", "", numbers, adds)
    return Content.assemble(
        term.pad_right(max(_TERM - term.cell_length, 0)),
        " ",
        (f"{part.signal.value} {word:<{_WHERE - 2}}", style),
        row[_TERM + 1 + _WHERE : -_ADDS],
        (row[-_ADDS:], "bold"),
    )


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
    """Yield the ranker's formula, and the texts that the columns have no room for."""
    parts = hit.score.parts
    if any(part.signal is Signal.EXACT and not part.inputs for part in parts) and not report.terms:
        yield Content.styled("\nRequested by name or server, so there is no score to compute.", MUTED)
        return
    if report.ranker in INFO:
        yield Content.styled(f"\n{INFO[report.ranker].formula}", MUTED)
    for part in parts:
        if part.signal in _LONG:
            told = f"{_term(part, {})}: {visible(part.term, newlines=False, limit=200)}"
            yield Content.styled(told, MUTED)


class DefinitionPane(Pane):
    """The definition of the tool under the cursor of the list, and the words of the query that it lacks."""

    takes_focus = False
    first = ("DefinitionCard",)
    _topic = Topic()

    def __init__(self) -> None:
        super().__init__(id="definition")

    def compose(self) -> ComposeResult:
        yield DefinitionCard(classes="scroll")

    @property
    def tool_id(self) -> str:
        return self._topic.hit.tool_id if self._topic.hit is not None else ""

    def show(self, topic: Topic) -> None:
        self._topic, report, hit = topic, topic.report, topic.hit
        lacks = () if report is None or hit is None else (*_missing(report, hit),)
        self.query_one(DefinitionCard).show_tool(self.tool_id, lacks)

    def on_resize(self) -> None:
        """Draw what depends on the width."""
        self.show(self._topic)


class ScorePane(Pane):
    """Follows the cursor of the list."""

    takes_focus = False
    first = ("#bill",)

    def __init__(self) -> None:
        super().__init__(id="score")
        self._hit: Hit | None = None
        self._drawn: object = None

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="bill"):
            yield Static(id="bill-text")

    @property
    def tool_id(self) -> str:
        return self._hit.tool_id if self._hit is not None else ""

    def show(self, topic: Topic) -> None:
        report, hit = topic.report, topic.hit
        drawn = (report, hit, hit is not None and hit.tool_id in self.session.state.bound_ids)
        if drawn == self._drawn:
            return
        self._drawn, self._hit = drawn, hit
        if report is not None and hit is not None:
            text = bill(report, hit, outcome(hit, drawn[2]))
        elif report is not None and report.hits:
            text = Content.styled("Choose a tool to see how its score adds up.", MUTED)
        else:
            text = Content.styled("A tool's score appears here.", MUTED)
        self.write(text, "#bill-text")
