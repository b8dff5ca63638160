"""What is known of a search, of one tool in it and of an edit of its texts: for page and terminal alike."""

import math
from collections.abc import Iterator, Sequence
from itertools import islice

from inspector.core.number import count, milliseconds, ordinal, signed
from inspector.core.ranking import (
    READ_LIKE,
    TOLERANCE,
    Answer,
    Gap,
    Hit,
    Outcome,
    SearchReport,
    Signal,
    with_gaps,
)
from inspector.core.report import NAME, NOTHING, NUMBER, TWO, Block, Column, Fact, Facts, Table
from inspector.features.check.finding import Proposal
from inspector.features.check.proposal import is_first
from inspector.search.answer.answer_text import WITHHELD, answer_text, confidence_beside, told_apart
from inspector.search.answer.search import SearchRules
from inspector.search.answer.standing import RankerComparison, Steps
from inspector.search.answer.tool_edit import QueryEffect
from inspector.search.answer.why_not import LOOKED_UP, LedgerLine, WhyNot
from inspector.search.index.vocabulary import as_written
from inspector.search.ranker.ranker_list import INFO

_MISSES_SHOWN, _FIRST, _NONE = 10, 5, "nothing"

# Outcomes as people say them; the terms of art are those of the events and of --json.
_WORDS = {Outcome.BELOW_FLOOR: "no match", Outcome.UNLIKELY: "unlikely", Outcome.PRECONDITION: "not yet"}
_SIGNAL_WORDS = {
    Signal.DESCRIPTION: "descr.",
    Signal.PARAMETERS: "params",
    Signal.SEMANTIC: "meaning",
    Signal.FUSION: "rank",
    Signal.HISTORY: "asked",
    Signal.AFFINITY: "used",
    Signal.PHRASE: "phrase",
}
# What is too long for a column.
SHORT_TERMS = {
    "best: description": "best: descr.",
    "best: parameters": "best: params",
    "siblings that fit": "server top 3",
    "static vectors": "word vectors",
}


def stands_for(ranker: str) -> str:
    """Whose search a ranker is, or of what kind."""
    return INFO[ranker].stands_for if ranker in INFO else ranker


def score(value: float) -> str:
    """A score as it is written everywhere."""
    return f"{value:.3f}"


def signal_word(signal: Signal) -> str:
    """A part of a score in a word; its letter is the signal's value."""
    return _SIGNAL_WORDS.get(signal, signal.name.lower())


def state_word(outcome: Outcome) -> str:
    """What became of a tool in a search."""
    return _WORDS.get(outcome, outcome.value)


def search_report(report: SearchReport) -> Iterator[str | Table]:
    """The answer, the tools by rank, how they were ranked, and what is beside them."""
    yield report.error or answer_text(report)
    shown = _shown(report)
    yield Table(
        "", ("#", "tool", "score", "state", "signals"), tuple(_rows(report, shown)), frozenset({0, 2})
    )
    words = " ".join(as_written(report.request.query, report.terms)) or "none"
    yield (
        f"{stands_for(report.ranker)}   {len(report.results)} of {count(report.scored, 'tool')}"
        f"   limit {report.limit}   {milliseconds(report.latency_ms)}   words {words}"
    )
    if report.withheld:
        yield WITHHELD + ", ".join(report.withheld)
    for hit in shown:
        yield from _past(hit)
    yield from _read_like(report)
    if report.note:
        yield report.note
    if report.unconnected:
        yield "\nIn the registry but not callable, because their servers are not connected:"
        columns = (Column("tool", "tool_id", NAME), Column("cosine", "similarity", TWO), Column("origin"))
        yield Table.of(columns, report.unconnected)


def _past(hit: Hit) -> Iterator[str]:
    """The past use that counted for a tool."""
    for part in hit.score.parts:
        if part.signal is Signal.AFFINITY:
            yield f"{hit.tool_id}   {part.term}   prior {part.inputs['prior']:.2f}"


def _read_like(report: SearchReport) -> Iterator[str]:
    """The phrases that the request is read like, which are the same for every tool."""
    parts = next((hit.score.parts for hit in report.hits), ())
    read = dict.fromkeys(part.term for part in parts if part.signal is Signal.PHRASE)
    if read:
        yield f"{READ_LIKE}: {'; '.join(read)}"


def _shown(report: SearchReport) -> tuple[Hit, ...]:
    """The results, and the first of what scored and missed."""
    missed = (hit for hit in report.hits if not hit.outcome.is_result and hit.score.value > 0)
    ranks = {hit.rank for hit in (*report.results, *islice(missed, _MISSES_SHOWN))}
    return tuple(hit for hit in report.hits if hit.rank in ranks)


def _rows(report: SearchReport, shown: Sequence[Hit]) -> Iterator[tuple[str, ...]]:
    """The tools by rank, and between them where those are that are left out."""
    last = max((hit.rank for hit in shown), default=0)
    for one in with_gaps([hit for hit in report.hits if hit.rank <= last], shown.__contains__):
        if isinstance(one, Gap):
            yield "", f"… {one.ranks}", "", one.reason, ""
            continue
        sums = {
            signal: math.fsum(part.value for part in one.score.parts if part.signal is signal)
            for signal in dict.fromkeys(part.signal for part in one.score.parts)
        }
        parts = " ".join(f"{signal} {value:.2f}" for signal, value in sums.items())
        yield str(one.rank), one.tool_id, score(one.score.value), state_word(one.outcome), parts


def rankers_report(found: RankerComparison) -> Iterator[str | Table]:
    """The first tools of each ranker: as columns, thirteen rankers fit no terminal."""
    rows = []
    for column, name in enumerate(found.names):
        kept = sorted(
            (row.standings[column].rank, row.tool_id) for row in found.rows if row.standings[column].kept
        )
        rows.append((name, ", ".join(tool_id for _rank, tool_id in kept[:_FIRST]) or _NONE))
    yield Table("", ("ranker", f"first {_FIRST}"), tuple(rows))
    yield from dict.fromkeys(filter(None, found.notes))


def steps_report(found: Steps) -> Iterator[str | Table]:
    """What the whole request finds beside what its steps do."""
    finds = Column("finds", lambda one: ", ".join(one.tool_ids) or _NONE)
    yield Table.of((Column("search", "text"), Column("answer"), finds), (found.whole, *found.steps))
    yield f"found only by the steps: {', '.join(found.only_steps) or 'none'}"
    yield from filter(None, [found.whole.note])


# Why a tool is not found, or not first.


def why_report(
    found: WhyNot, proposals: Sequence[Proposal], rules: SearchRules, tools: int
) -> Iterator[Block]:
    """The verdict, the tool beside the one that it has to beat, and sentences that would help it."""
    yield f"{found.tool_id}   for “{found.request.query}”"
    yield rank_text(found, tools)
    yield cut_text(found, rules.limit, rules.closest_threshold)
    if confidence := confidence_beside(found.probability, found.threshold):
        yield f"{found.answer}   {confidence}"
    if found.note:
        yield found.note
    if found.rival is not None:
        yield rival_text(found, found.rival.tool_id)
        lines = (ledger_cells(line, found.request.query) for line in found.ledger)
        yield Table("", LEDGER, (ledger_total(found), *lines), frozenset({2, 3, 4}))
    yield from reasons(found)
    if proposals:
        yield "Sentences for its description, with which no other tool loses a request (draft only):"
        yield Table.of(_PROPOSALS, proposals)


_PROPOSALS = (
    Column("rank", lambda one: ordinal(one.effect.reached), NUMBER),
    Column("tokens", lambda one: f"{one.effect.tokens:+,}", NUMBER),
    Column("where", lambda one: "first" if is_first(one) else "last"),
    Column("by", lambda one: one.by or "phrases"),
    Column("sentence"),
)
LEDGER = ("signal", "word", "this tool", "to beat", "difference")


def rank_text(found: WhyNot, tools: int) -> str:
    """The tool's rank among so many, its score, and whose ranking that is."""
    rank = f"{ordinal(found.standing.rank)} of {tools:,}"
    return f"{rank}   score {score(found.score.value)}   {stands_for(found.ranker)}"


def cut_text(found: WhyNot, limit: int, closest: float) -> str:
    """Whether the tool is a result, and if not, what cut it."""
    if found.cut is not None:
        return f"✕ {state_word(found.cut)}: {_why(found, limit, closest)}"
    sign = "✓" if found.answer is Answer.FOUND else "• no tool clearly fits;"
    if found.rival is None:
        return f"{sign} it is the first result"
    return f"{sign} it is a result; to rise, it must beat the tool above it"


def _why(found: WhyNot, limit: int, closest: float) -> str:
    match found.cut:
        case Outcome.OVER_LIMIT:
            last = f"; the last one is {found.rival.tool_id}" if found.rival is not None else ""
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
            return "it destroys or ends something, and the request does not clearly ask for that"
        case Outcome.PINNED_FITS:
            return "a pinned tool fits the request, so nothing is loaded beside it"
        case Outcome.OTHER_SERVER:
            return "the request is limited to one server, and this tool is on another"
        case _:
            return "the request asks for tags its server lacks"


def rival_text(found: WhyNot, name: str) -> str:
    """Which tool there is to beat, by this name, and how far ahead it is."""
    if found.rival is None:
        return "Tool to beat"
    ahead = f", ahead by {score(-found.difference)}" if found.difference < 0 else ""
    return f"To beat: {name}, {ordinal(found.rival.standing.rank)}{ahead}"


def ledger_total(found: WhyNot) -> tuple[str, ...]:
    """Both scores and their difference, and whether the lines below add up to it."""
    summed = math.fsum(line.difference for line in found.ledger)
    adds_up = math.isclose(summed, found.difference, rel_tol=0.0, abs_tol=TOLERANCE)
    rival = found.rival.score.value if found.rival is not None else 0.0
    said = "✓ adds up" if adds_up else "✕ does not add up"
    return "score", said, score(found.score.value), score(rival), signed(found.difference, 3)


def ledger_cells(line: LedgerLine, query: str) -> tuple[str, ...]:
    """A line of both bills; words are written as the query has them."""
    term = line.term
    if line.signal is not Signal.WORDS:
        term = SHORT_TERMS.get(line.term) or as_written(query, (line.term,))[0]
    amounts = (score(value) if value else NOTHING for value in (line.mine, line.rival))
    signal = f"{line.signal.value} {signal_word(line.signal)}"
    return signal, term, *amounts, signed(line.difference, 3)


def reasons(found: WhyNot) -> Iterator[Block]:
    """The query's words that the tool has and lacks, and what else holds it back."""
    words = (("matching words", found.having, False), ("missing words", found.lacking, True))
    yield Facts(
        tuple(
            Fact(label, "  ".join(as_written(found.request.query, sought)), warns)
            for label, sought, warns in words
            if sought
        )
    )
    yield from (f"• {sentence}" for sentence in found.advice)
    if found.rival is None and found.cut is None and not found.lacking:
        yield "It has every query word, and no tool ranks above it."


# What an edit of its texts changes.


def answer_change(effect: QueryEffect, threshold: float) -> str:
    """“nothing 2 % → closest 15 %, 4th → 1st”: what a search says, and the tool's rank, before and after."""
    was = _answered(effect.answer_before, effect.probability_before, threshold)
    now = _answered(effect.answer_after, effect.probability_after, threshold)
    ranks = (ordinal(one.rank) if one.kept else "no result" for one in (effect.before, effect.after))
    return f"{was} → {now}, {' → '.join(ranks)}"


def _answered(answer: Answer, probability: float | None, threshold: float) -> str:
    return answer if probability is None else f"{answer} {told_apart(probability, threshold)[0]}"


def others_changed(changed: int, of: int, what: str) -> str:
    """“2 of 19 other requests change”."""
    return f"{changed:,} of {count(of, what)} {'changes' if changed == 1 else 'change'}"


def sizes_changed(effect: QueryEffect, was: int, now: int) -> str:
    """The tokens of the definition before and after, and how many tools are too alike, if that changes."""
    alike = (effect.collisions_before, effect.collisions_after)
    told = f"   {alike[0]} → {alike[1]} tools too alike" if alike[0] != alike[1] else ""
    return f"{was:,} → {now:,} tokens{told}"


def edit_report(effect: QueryEffect, was: int, now: int, threshold: float) -> Iterator[str]:
    """What changes for the query, for how many labelled requests, and for which of them."""
    changes = (*effect.cases.better, *effect.cases.worse)
    yield answer_change(effect, threshold)
    yield others_changed(len(changes), effect.cases.measured, "labelled request")
    yield sizes_changed(effect, was, now)
    for change in changes:
        yield f"{change.before or 'missed'} → {change.after or 'missed'}   {change.query}"
