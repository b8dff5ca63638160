"""Additions to a tool's description that were tried: where the tool really stands with each of them."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import combinations, groupby

from inspector.access.reach import EvalCase
from inspector.core.ranking import Outcome, SearchRequest
from inspector.core.tool import Tool
from inspector.search.catalog_rankers import CatalogRankers
from inspector.search.document import MAX_EMBEDDED
from inspector.search.query import typed
from inspector.search.ranker import ranking_for
from inspector.search.search import SearchRules
from inspector.search.standing import Standing, Standings, Verdict, position_of
from inspector.search.tool_edit import edited_rankers
from inspector.search.vocabulary import STOP_WORDS, split_words, terms

# Requests that a tool would take from the right one if its description were another.


@dataclass(frozen=True, slots=True)
class Overtaken:
    """The right tool for a request, ahead before an edit and behind after it."""

    tool_id: str
    query: str


@dataclass(frozen=True)
class Overtaking:
    """Labelled requests that are for other tools than `tool_id`, under one ranker."""

    rankers: CatalogRankers
    ranker_name: str
    tool_id: str
    cases: Sequence[EvalCase]

    def by(self, edited: CatalogRankers) -> tuple[Overtaken, ...]:
        """The right tools that the tool stays behind now, but not once it is edited; one a request."""
        found: list[Overtaken] = []
        for query, rights in self._ahead:
            standings = Standings(edited.get(self.ranker_name).rank(query))
            own = standings[self._own].rank
            beaten = (right for right in rights if standings[right].rank > own)
            first = next(beaten, None)
            if first is not None:
                found.append(Overtaken(self.rankers.index.ids[first], query))
        return tuple(found)

    @property
    def _own(self) -> int:
        return self.rankers.index.position[self.tool_id]

    @cached_property
    def _ahead(self) -> list[tuple[str, list[int]]]:
        """For each request the positions of the best right tools that rank before this one now."""
        position = self.rankers.index.position
        found: list[tuple[str, list[int]]] = []
        for case in self.cases:
            if not case.is_possible or any(self.tool_id in group for group in case.relevant):
                continue
            standings = Standings(self.rankers.get(self.ranker_name).rank(case.query))
            groups = ([position[one] for one in group if one in position] for group in case.relevant)
            best = [min(group, key=lambda one: standings[one].rank) for group in groups if group]
            ahead = [one for one in best if standings[one].rank < standings[self._own].rank]
            if ahead:
                found.append((case.query, ahead))
        return found


MOST_SHOWN = 5
# How many of the single words that gain most are tried in pairs.
_PAIRED = 3


class Place(StrEnum):
    """Where a text is added to a description."""

    IN_FIRST = "in the first sentence"
    AS_FIRST = "as the first sentence"
    AT_END = "at the end"


@dataclass(frozen=True, slots=True)
class Addition:
    """A text that was added to a description, and the tool's standing with it.

    `description` is the whole new description, `tokens` what it adds to the definition. `cut` is why the tool
    is still no result, None if it is one. `overtaken` are right tools of known requests that it then beats.
    """

    text: str
    place: Place
    description: str
    tokens: int
    standing: Standing
    cut: Outcome | None
    overtaken: tuple[Overtaken, ...] = ()

    @property
    def reach(self) -> tuple[bool, int]:
        """How far the tool comes; smaller is better: a result before any other, then by rank."""
        return self.cut is not None, self.standing.rank


@dataclass(frozen=True)
class AdditionTrial:
    """Tries additions for one tool and one request. It changes nothing and is safe in a thread.

    `count` counts the tokens of a definition. `cases` gives the requests whose right tools are known.
    """

    rankers: CatalogRankers
    ranker_name: str
    request: SearchRequest
    tool_id: str
    rules: SearchRules
    count: Callable[[Tool], int]
    cases: Callable[[], Sequence[EvalCase]] = tuple

    def run(self, stopped: Callable[[], bool] = lambda: False) -> Iterator[tuple[Addition, ...]]:
        """Yield what is worth proposing after every text that was tried, then with what it overtakes.

        Yields nothing where no text can help: for a lookup, a tool that the request excludes or the first
        result. Raises what `edit_effect` raises.
        """
        if not self._can_help:
            return
        tried: list[Addition] = []
        for one in self.tried():
            if stopped():
                return
            tried.append(one)
            yield worthwhile(tried, self.before)
        if tried:
            yield from self._checked(worthwhile(tried, self.before), stopped)

    def _checked(
        self, proposed: tuple[Addition, ...], stopped: Callable[[], bool]
    ) -> Iterator[tuple[Addition, ...]]:
        cases = self.cases() if proposed else ()
        overtaking = Overtaking(self.rankers, self.ranker_name, self.tool_id, cases)
        for at, one in enumerate(proposed if cases else ()):
            if stopped():
                return
            edited = edited_rankers(
                self.rankers, replace(self._tool, description=one.description), self.tool_id
            )
            checked = replace(one, overtaken=overtaking.by(edited))
            proposed = (*proposed[:at], checked, *proposed[at + 1 :])
            yield proposed

    def all(self) -> tuple[Addition, ...]:
        """What is worth proposing once everything has been tried."""
        proposed: tuple[Addition, ...] = ()
        for proposed in self.run():  # noqa: B007 - the last one counts
            pass
        return proposed

    def tried(self) -> Iterator[Addition]:
        """Try single words, then pairs of those that gain most, then phrases, then the query itself."""
        query, missing = self._generic, self._missing
        known = {self._tool.description}
        gains: dict[str, float] = {}
        for word in missing[:MOST_WORDS]:
            for one in self._measured(self._mentioned((word,)), known):
                gains[word] = max(gains.get(word, one.standing.value), one.standing.value)
                yield one
        best = sorted(gains, key=lambda word: -gains[word])[:_PAIRED]
        for phrases in listings(query, missing, best):
            yield from self._measured(self._mentioned(phrases), known)
        if query == " ".join(self.request.query.split()):
            yield from self._measured(self._said(sentence(self.request.query)), known)

    @cached_property
    def before(self) -> tuple[bool, int]:
        """How far the tool comes without any addition, as `Addition.reach`."""
        verdict = self._verdict(self.rankers)
        position = position_of(self.rankers.index, self.tool_id)
        return verdict.cut(position) is not None, verdict.standings[position].rank

    @property
    def _can_help(self) -> bool:
        verdict = self._verdict(self.rankers)
        position = position_of(self.rankers.index, self.tool_id)
        outside = self.rules.outside(self._tool, verdict.request)
        if verdict.is_lookup or outside is not None or len(self.request.query) > MAX_EMBEDDED:
            return False
        return verdict.cut(position) is not None or verdict.standings[position].rank > 1

    @cached_property
    def _tool(self) -> Tool:
        return self.rankers.index.tools[position_of(self.rankers.index, self.tool_id)]

    @cached_property
    def _generic(self) -> str:
        """The query without the values and names that are of this request alone."""
        return generic(self.request.query, self.rankers.lexical.knows)

    @cached_property
    def _missing(self) -> tuple[str, ...]:
        """The query's words that the tool lacks, or else those that its description lacks; rarest first."""
        lexical, index = self.rankers.lexical, self.rankers.index
        own = index.documents[index.position[self.tool_id]]
        generic = set(lexical.terms(self._generic))
        asked = [term for term in lexical.terms(self.request.query) if term in generic]
        ids = {term: index.vocabulary.get(term, -1) for term in asked}
        has = set(own.terms.ids.tolist())
        lacking = {term for term in asked if ids[term] not in has}
        if not lacking:
            lacking = set(asked) - missing_words(self._tool.description, asked).keys()
        rarest = sorted(lacking, key=lambda term: (-lexical.idf(term), term))[: 2 * MOST_WORDS]
        words = missing_words(self._generic, rarest)
        return tuple(words[term] for term in rarest if term in words)

    def _mentioned(self, phrases: Sequence[str]) -> Iterator[tuple[str, Place, str]]:
        description, listed = self._tool.description, ", ".join(phrases)
        if description.strip():
            yield listed, Place.IN_FIRST, in_first_sentence(description, phrases)
        text = mention(phrases)
        yield text, Place.AT_END, put_last(text, description)

    def _said(self, text: str) -> Iterator[tuple[str, Place, str]]:
        if text:
            yield text, Place.AT_END, put_last(text, self._tool.description)
            yield text, Place.AS_FIRST, put_first(text, self._tool.description)

    def _measured(self, texts: Iterable[tuple[str, Place, str]], known: set[str]) -> Iterator[Addition]:
        """Rank with each new description, in one index that differs in this tool alone."""
        for text, place, description in texts:
            if description in known:
                continue
            known.add(description)
            edited = replace(self._tool, description=description)
            verdict = self._verdict(edited_rankers(self.rankers, edited, self.tool_id))
            position = position_of(verdict.rankers.index, self.tool_id)
            tokens = self.count(edited) - self.count(self._tool)
            standing = verdict.standings[position]
            yield Addition(text, place, description, tokens, standing, verdict.cut(position))

    def _verdict(self, rankers: CatalogRankers) -> Verdict:
        request = rankers.names.resolved(self.request)
        ranking = ranking_for(rankers.get(self.ranker_name), request)
        return Verdict(rankers, request, Standings(ranking, self.rules.likely(ranking, request)), self.rules)


def worthwhile(tried: Iterable[Addition], before: tuple[bool, int]) -> tuple[Addition, ...]:
    """The additions that bring the tool further than `before`, smallest first, at most MOST_SHOWN.

    Each brings it further than all smaller ones. Of too many, the smallest are kept, and the one that
    brings it furthest.
    """
    found: list[Addition] = []
    reached = before
    for one in sorted(tried, key=lambda one: (one.tokens, one.reach, len(one.text))):
        if one.reach < reached and one.standing.rank <= before[1]:
            found.append(one)
            reached = one.reach
    return tuple(found if len(found) <= MOST_SHOWN else [*found[: MOST_SHOWN - 1], found[-1]])


# Of a query with more missing words only the rarest are combined.
MOST_WORDS = 4
_MOST_SENTENCE_WORDS = 25
_OPENING = "\"'([{<“‘«*_"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n")
_POLITE = re.compile(
    r"^(?:(?:please|kindly|can you|could you|would you|i want to|i need to|i would like to|i'd like to|"
    r"how (?:do|can) (?:i|you|we)|how to|help me(?: to)?)\s+)+",
    re.IGNORECASE,
)
_QUESTION = frozenset(
    re.findall(
        r"\w+", "what which who whose when where why how is are was were do does did has have can should"
    )
)
# Rankers look for these words, but an addition of them alone says nothing.
_LITTLE = STOP_WORDS | frozenset(
    re.findall(
        r"\w+",
        """
        about above after against all along also another any around because before behind below beside between
        both but during each either every few just least less like many more most much near neither next now
        only onto other over per same several since some still such through too toward under until up upon via
        very want while within without yet
        please kindly thank thanks
        d ll m re ve t don doesn didn isn aren wasn weren won wouldn couldn shouldn hasn haven
        """,
    )
)


def generic(query: str, knows: Callable[[str], bool]) -> str:
    """The query without what is of one request alone: literals, other values, and proper names.

    A proper name is a capitalised word inside a sentence that the catalog does not know. `knows` is asked for
    terms.
    """
    kept: list[str] = []
    names: set[str] = set()
    is_inside = False
    for token in typed(query).split():
        words = (word for word in split_words(token) if word.lower() not in _LITTLE)
        strange = {term for word in words for term in terms(word) if not knows(term)}
        is_value = bool(strange) and any(character.isdigit() for character in token)
        if strange and (is_value or (is_inside and token.lstrip(_OPENING)[:1].isupper())):
            names |= strange
        else:
            kept.append(token)
        is_inside = not token.endswith((".", "!", "?"))
    return " ".join(token for token in kept if names.isdisjoint(terms(token)))


def missing_words(query: str, lacking: Collection[str]) -> dict[str, str]:
    """The lacking terms of a query in its order, each with its first word as written, in lower case."""
    words: dict[str, str] = {}
    for word in split_words(query):
        term = terms(word)[0]
        if term in lacking and word.lower() not in _LITTLE:
            words.setdefault(term, word.lower())
    return words


def runs(query: str, missing: Collection[str]) -> tuple[str, ...]:
    """The missing words as they stand side by side in the query: “unpaid invoices”, “customer”."""
    words = [word.lower() for word in split_words(query)]
    sides = groupby(words, key=lambda word: word in missing)
    return tuple(dict.fromkeys(" ".join(run) for is_missing, run in sides if is_missing))


def listings(query: str, missing: Sequence[str], best: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """What to mention together, smallest first: two of the `best` words, words side by side, all of them."""
    whole = runs(query, missing)
    by_word = {word: run for run in whole for word in run.split()}
    for pair in combinations(best, 2):
        first, second = sorted(pair, key=missing.index)
        together = f"{first} {second}"
        yield (together,) if together in by_word.get(first, "") else (first, second)
    yield from ((run,) for run in whole if " " in run)
    if whole:
        yield whole


def sentence(query: str) -> str:
    """The query as a sentence of a description, or "" if it cannot be one."""
    words = _POLITE.sub("", " ".join(query.split())).rstrip(" .!?;:,")
    first = words.partition(" ")[0].lower()
    if not words.isprintable() or " " not in words or len(words.split()) > _MOST_SENTENCE_WORDS:
        return ""
    if first in _QUESTION or first in STOP_WORDS:
        return f"Answers “{words}”."
    return f"{words[0].upper()}{words[1:]}."


def mention(phrases: Sequence[str]) -> str:
    """A sentence that mentions the phrases."""
    return f"Also for: {', '.join(phrases)}."


def in_first_sentence(description: str, phrases: Sequence[str]) -> str:
    """The description with the phrases in parentheses at the end of its first sentence."""
    end = _SENTENCE_END.search(description)
    opening = description[: end.start()] if end else description
    rest = description[len(opening) :]
    body = opening.rstrip(" .!?")
    return f"{body} ({', '.join(phrases)}){opening[len(body) :]}{rest}" if body else description


def put_first(text: str, description: str) -> str:
    """The description with a sentence before it."""
    return f"{text} {description.lstrip()}".rstrip()


def put_last(text: str, description: str) -> str:
    """The description with a sentence after it, which a sentence without an end gets first."""
    own = description.rstrip()
    if not own:
        return text
    return f"{own} {text}" if own[-1] in '.!?:;"”)' else f"{own}. {text}"
