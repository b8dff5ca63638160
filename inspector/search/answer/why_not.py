"""Compares one search for a whole request with one search for each of its steps, as the ranker reads them."""

import math
from collections.abc import Iterator
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.number import percent
from inspector.core.ranking import (
    READ_LIKE,
    TOLERANCE,
    USED_BEFORE,
    Answer,
    Outcome,
    Part,
    Score,
    SearchRequest,
    Signal,
)
from inspector.core.tool import Tool, why_destroys
from inspector.search.answer.answer_text import told_apart
from inspector.search.answer.search import NEAR, SearchRules
from inspector.search.answer.standing import Standing, Verdict, position_of
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.fusion import STATIC

BEST_PASSAGE = "best passage"
BEST_STEP = "best step"
ROUNDING = "rounding"
_BEST = "best: "


class LedgerLine(Struct, frozen=True):
    """What one signal adds to two tools' scores for one term."""

    signal: Signal
    term: str
    mine: float
    rival: float

    @property
    def difference(self) -> float:
        """Negative if `mine` loses."""
        return self.mine - self.rival


def ledger(mine: Score, rival: Score) -> tuple[LedgerLine, ...]:
    """The parts of both scores by signal and term, largest loss of `mine` first.

    The differences add up to the difference of the scores, within 1e-9. If the parts are too large for that
    precision, a line ROUNDING holds the rest. The best passage is a single line, whichever passage it is for
    either tool, and so are the best step and past use.
    """
    sides = [_sums(mine), _sums(rival)]
    keys = dict.fromkeys(key for side in sides for key in side)
    lines = [LedgerLine(*key, *(side.get(key, 0.0) for side in sides)) for key in keys]
    rest = mine.value - rival.value - math.fsum(line.difference for line in lines)
    if abs(rest) > TOLERANCE / 2:
        lines.append(LedgerLine(Signal.AVERAGE, ROUNDING, rest, 0.0))
    return tuple(sorted(lines, key=lambda line: line.difference))


def _sums(score: Score) -> dict[tuple[Signal, str], float]:
    values: dict[tuple[Signal, str], list[float]] = {}
    for part in score.parts:
        values.setdefault(_key(part), []).append(part.value)
    return {key: math.fsum(parts) for key, parts in values.items()}


def _key(part: Part) -> tuple[Signal, str]:
    if part.signal is Signal.STEP:
        return part.signal, BEST_STEP
    if part.signal is Signal.AFFINITY:
        return part.signal, USED_BEFORE
    if part.signal is Signal.PHRASE:
        return part.signal, READ_LIKE
    is_best = part.signal is Signal.SEMANTIC and part.term.startswith(_BEST)
    return part.signal, BEST_PASSAGE if is_best else part.term


MAX_ADVICE = 3
LOOKED_UP = "lookup by name, server or tags: nothing was ranked"
# A loss that rounds to zero at two decimals is not worth telling.
_WORTH_TELLING = 0.005
# A limit above this is not worth advising.
_MAX_LIMIT = 20
_SUBJECTS = {STATIC: "opening (by word vectors)"}


class Rival(Struct, frozen=True):
    """The tool to beat: the last of the results, or the result directly before this one."""

    tool_id: str
    standing: Standing
    score: Score


class WhyNot(Struct, frozen=True):
    """What happens to one tool in a search. `cut` is None if it is a result.

    `rival` is None for the first result and if there are no results. `having` and `lacking` hold the query
    terms that some field of the tool has and that none has, highest idf first. `advice` holds at most
    MAX_ADVICE sentences for people. `answer` is what the whole search says, with the best confidence of any
    tool as its `probability`, of which `found` needs the `threshold`. `note` says what the
    ranker or the search had to do without.
    """

    tool_id: str
    ranker: str
    request: SearchRequest
    standing: Standing
    score: Score
    cut: Outcome | None
    rival: Rival | None
    having: tuple[str, ...]
    lacking: tuple[str, ...]
    ledger: tuple[LedgerLine, ...]
    advice: tuple[str, ...] = ()
    answer: Answer = Answer.FOUND
    probability: float | None = None
    threshold: float = 0.0
    note: str = ""

    @property
    def difference(self) -> float:
        """How much more the tool scores than its rival; the ledger adds up to it."""
        return self.score.value - self.rival.score.value if self.rival is not None else 0.0


def why_not(
    rankers: CatalogRankers, ranker_name: str, request: SearchRequest, tool_id: str, rules: SearchRules
) -> WhyNot:
    """Explain what a search does with one tool.

    Raises ToolsightError for an unknown tool or ranker, ModelError if the query cannot be embedded.
    """
    position = position_of(rankers.index, tool_id)
    verdict = Verdict.of(rankers, ranker_name, request, rules)
    standings = verdict.standings
    score, rival = standings.ranking.explain(position), _rival(verdict, position)
    having, lacking = ((), ()) if verdict.is_lookup else _terms(rankers, request.query, position)
    found = WhyNot(
        tool_id=tool_id,
        ranker=ranker_name,
        request=verdict.request,
        standing=standings[position],
        score=score,
        cut=verdict.cut(position),
        rival=rival,
        having=having,
        lacking=lacking,
        ledger=ledger(score, rival.score) if rival is not None else (),
        answer=verdict.told,
        threshold=rules.threshold,
        probability=None if verdict.is_lookup else standings.ranking.probability,
        note=LOOKED_UP if verdict.is_lookup else standings.ranking.note,
    )
    return replace(found, advice=tuple(islice(_advice(found, verdict), MAX_ADVICE)))


def _rival(verdict: Verdict, position: int) -> Rival | None:
    rival = verdict.rival(position)
    if rival is None:
        return None
    standings = verdict.standings
    return Rival(verdict.rankers.index.ids[rival], standings[rival], standings.ranking.explain(rival))


def _terms(rankers: CatalogRankers, query: str, position: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The query's terms that the tool has, and those that it lacks."""
    vocabulary, lexical = rankers.index.vocabulary, rankers.lexical
    has = set(rankers.index.documents[position].terms.ids.tolist())
    ordered = sorted(lexical.terms(query), key=lexical.idf, reverse=True)
    known = [vocabulary.get(term, -1) in has for term in ordered]
    having = tuple(term for term, is_there in zip(ordered, known, strict=True) if is_there)
    return having, tuple(term for term, is_there in zip(ordered, known, strict=True) if not is_there)


def _advice(why: WhyNot, verdict: Verdict) -> Iterator[str]:
    """First what excludes the tool, then where its meaning falls short."""
    if why.cut is None and why.rival is None:
        return
    tool = verdict.rankers.index.tools[verdict.rankers.index.position[why.tool_id]]
    if why.cut is not None:
        yield from _obstacle(why.cut, tool, verdict)
    if not verdict.is_lookup and why.cut not in (Outcome.OTHER_SERVER, Outcome.OTHER_TAG):
        yield from _loss(why)


def _obstacle(cut: Outcome, tool: Tool, verdict: Verdict) -> Iterator[str]:
    request, probability = verdict.request, verdict.standings.ranking.probability
    if cut is Outcome.OTHER_SERVER:
        yield f"The request is limited to server '{request.server_name}'; this tool is on '{tool.server}'."
    elif cut is Outcome.OTHER_TAG:
        missing = ", ".join(f"'{tag}'" for tag in verdict.missing_tags(tool))
        yield f"It lacks the tag {missing}, which the request requires."
    elif verdict.is_lookup:
        yield (
            "The request is empty."
            if request.is_empty
            else "The request lists tools by name, and this is not one of them."
        )
    elif cut is Outcome.OVER_LIMIT:
        rivals = verdict.rivals(tool)
        number, count = rivals.index(tool.id) + 1, len(rivals)
        if verdict.answer is Answer.CLOSEST:
            change = f"a “closest” answer has at most {verdict.rules.most(Answer.CLOSEST)}"
        elif number <= _MAX_LIMIT:
            change = f"a limit of {number} would return it"
        else:
            change = f"far beyond the limit of {verdict.rules.limit}"
        yield f"It is match {number} of {count}: {change}."
    elif cut is Outcome.UNLIKELY and verdict.standings.ranking.comparable is not None:
        yield f"Its score is below {percent(NEAR)} of the best: other tools fit the request much better."
    elif cut in (Outcome.WITHHELD, Outcome.PINNED_FITS):
        yield _left_out(cut, tool)
    elif cut is Outcome.NOTHING_FITS and probability is not None:
        lower = math.floor(probability * 100) / 100
        own, needed = told_apart(probability, verdict.rules.closest_threshold)
        yield (
            f"The highest confidence of any tool is {own}, but “closest” needs {needed}; "
            f"a threshold of {lower:.2f} would return it."
        )


def _left_out(cut: Outcome, tool: Tool) -> str:
    if cut is Outcome.PINNED_FITS:
        return "A pinned tool fits the request, so nothing is loaded beside it."
    why = why_destroys(tool)
    return f"{why[:1].upper()}{why[1:]}, which the request does not clearly ask for."


def _loss(why: WhyNot) -> Iterator[str]:
    """The cosines or the steps behind the largest loss, if it is one of meaning or of the best step."""
    worst = why.ledger[0] if why.ledger else None
    if worst is None or why.rival is None or worst.difference > -_WORTH_TELLING:
        return
    rival_id, mine, rival = why.rival.tool_id, _part(why.score, worst), _part(why.rival.score, worst)
    if mine is None or rival is None:
        return
    if worst.signal is Signal.STEP:
        yield (
            f"Of the query's steps, it fits “{mine.term}” best, with a score of {mine.inputs['score']:.2f}; "
            f"{rival_id} fits “{rival.term}” best, with {rival.inputs['score']:.2f}."
        )
    elif worst.signal is Signal.SEMANTIC and "cosine" in mine.inputs and "cosine" in rival.inputs:
        yield (
            f"Its {_SUBJECTS.get(worst.term, worst.term)} has a cosine of {mine.inputs['cosine']:.2f} with "
            f"the query, compared with {rival.inputs['cosine']:.2f} for {rival_id} ({worst.difference:+.2f})."
        )


def _part(score: Score, line: LedgerLine) -> Part | None:
    """The first part of a score that a line of the ledger is about."""
    return next((part for part in score.parts if _key(part) == (line.signal, line.term)), None)
