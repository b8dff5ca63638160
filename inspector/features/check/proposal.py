"""Tries sentences for a tool's description: what they win for its own requests, and what others lose."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from inspector.access.reach import EvalCase
from inspector.core.message import ModelReply, ModelRequest, UserMessage
from inspector.core.ports import ChatModel
from inspector.core.tool import Tool
from inspector.features.check.finding import Effect, Loser, Proposal
from inspector.features.check.meant import Meant
from inspector.features.check.wording import (
    Grounds,
    asked_in,
    is_english,
    prompt,
    use_sentence,
    written,
)
from inspector.search.answer.generate import generate
from inspector.search.answer.standing import Standings, position_of
from inspector.search.answer.tool_edit import edited_rankers
from inspector.search.index.vocabulary import split_words, terms
from inspector.search.ranker.catalog_rankers import CatalogRankers

MOST_SHOWN = 5
# A tool is found if it is among as many results as a search returns.
FOUND = 5
# The nearest requests of other tools that are ranked again: those of a whole catalog would take minutes.
_CHECKED = 60
_MOST_OWN, _MOST_TRIED, _MOST_TOGETHER = 10, 24, 3
_LONGEST_TOGETHER = 2
_GIVEN = 0.01
# In tokens.
_LONGEST_ANSWER = 600


def put_first(sentence: str, description: str) -> str:
    """The description with a sentence before it."""
    return f"{sentence} {description.lstrip()}".rstrip()


def put_last(sentence: str, description: str) -> str:
    """The description with a sentence after it, which a sentence without an end gets first."""
    own = description.rstrip()
    if not own:
        return sentence
    return f"{own} {sentence}" if own[-1] in '.!?:;"”)' else f"{own}. {sentence}"


def is_first(one: Proposal) -> bool:
    """Whether the sentence stands before the rest of the description."""
    return one.description.startswith(one.sentence)


class Others(Struct, frozen=True, dict=True):
    """Requests that are for other tools, under one ranker, and who loses one by an edit of `tool_id`."""

    rankers: CatalogRankers
    ranker_name: str
    tool_id: str
    cases: Sequence[EvalCase]

    def losers(
        self, edited: CatalogRankers, added: str, stopped: Callable[[], bool] = lambda: False
    ) -> tuple[Loser, ...]:
        """The right tools that the edited tool takes the first place from, or a place among the first FOUND.

        Of the requests those that share most words with the `added` text are looked at.
        """
        found = []
        for case in self._nearest(added):
            if stopped():
                break
            ahead = self._ahead(case)
            if not ahead:
                continue
            after = Standings(edited.get(self.ranker_name).rank(case.query))
            own = after[self._own].rank
            lost = (
                right
                for right, rank in ahead
                if after[right].rank > own and (rank == 1 or after[right].rank > FOUND)
            )
            beaten = next(lost, None)
            if beaten is not None:
                found.append(Loser(self.rankers.index.ids[beaten], case.query))
        return tuple(found)

    @property
    def _own(self) -> int:
        return self.rankers.index.position[self.tool_id]

    @cached_property
    def _cases(self) -> tuple[EvalCase, ...]:
        others = (
            case
            for case in self.cases
            if case.is_possible and not any(self.tool_id in g for g in case.relevant)
        )
        return tuple({case.query: case for case in others}.values())

    @cached_property
    def _seen(self) -> dict[str, list[tuple[int, int]]]:
        return {}

    def _ahead(self, case: EvalCase) -> list[tuple[int, int]]:
        """The best right tool of each group, if found now and before this tool, with its rank."""
        if case.query not in self._seen:
            position = self.rankers.index.position
            now = Standings(self.rankers.get(self.ranker_name).rank(case.query))
            groups = ([position[one] for one in group if one in position] for group in case.relevant)
            best = [min(group, key=lambda one: now[one].rank) for group in groups if group]
            limit = min(FOUND + 1, now[self._own].rank)
            self._seen[case.query] = [(one, now[one].rank) for one in best if now[one].rank < limit]
        return self._seen[case.query]

    def _nearest(self, added: str) -> Sequence[EvalCase]:
        wanted = set(terms(added))
        return sorted(self._cases, key=lambda case: -len(wanted.intersection(terms(case.query))))[:_CHECKED]


class _Tried(Struct, frozen=True):
    """A description with a sentence, and how far the tool comes with it: larger is better."""

    sentence: str
    description: str
    tokens: int
    reach: tuple[float, float]
    effect: Effect
    edited: CatalogRankers
    by: str = ""


def _fits(phrase: str, others: Sequence[tuple[str, str]]) -> bool:
    """Whether a phrase can stand beside the others: they have no word of it, and all are plurals."""
    said = {term for _, other in others for term in terms(other)}
    has_article = any(one.startswith(("a ", "an ", "the ")) for one in (phrase, *(o for _, o in others)))
    is_long = any(len(one.split()) > _LONGEST_TOGETHER for one in (phrase, *(o for _, o in others)))
    return said.isdisjoint(terms(phrase)) and not (others and (has_article or is_long))


class ProposalTrial(Struct, frozen=True, dict=True):
    """Tries sentences for one tool and the requests that miss it. It changes nothing and is safe in a thread.

    `cases` are the labelled requests of all tools, `count` counts the tokens of a definition. `answer` is
    what the model `writer` wrote, see `written_by`; its sentences are tried beside those of the templates.
    """

    rankers: CatalogRankers
    ranker_name: str
    tool_id: str
    missed: Sequence[str]
    cases: Sequence[EvalCase]
    count: Callable[[Tool], int]
    answer: str = ""
    writer: str = ""

    def run(self, stopped: Callable[[], bool] = lambda: False) -> Iterator[tuple[Proposal, ...]]:
        """Yield what is worth proposing, each time that more of it is known; smallest first.

        With each proposal the tool comes further than with all smaller ones, and no other tool loses a
        request. Raises ToolsightError for an unknown tool or ranker, ModelError if texts cannot be embedded.
        """
        kept: list[_Tried] = []
        tried: list[_Tried] = []
        for one in self._tried(stopped):
            if stopped():
                return
            tried.append(one)
        for one in sorted(tried, key=lambda one: (-one.reach[0], -one.reach[1], one.tokens)):
            if len(kept) == MOST_SHOWN or stopped():
                break
            is_smaller = all(one.tokens < other.tokens for other in kept)
            if is_smaller and not self.others.losers(one.edited, one.sentence, stopped) and not stopped():
                kept.append(one)
                yield tuple(
                    Proposal(self.tool_id, each.sentence, each.description, each.effect, each.by)
                    for each in reversed(kept)
                )

    def all(self) -> tuple[Proposal, ...]:
        """What is worth proposing once everything has been tried."""
        return next(iter(deque(self.run(), maxlen=1)), ())

    async def written_by(self, model: ChatModel) -> "ProposalTrial":
        """The same trial with what a model writes for it. Raises ModelError."""
        question = prompt(self._tool, self._rival, self.missed)
        async for chunk in model.stream(ModelRequest("", (UserMessage(question),), (), _LONGEST_ANSWER)):
            if isinstance(chunk, ModelReply):
                return replace(self, answer=chunk.text, writer=model.name)
        return self

    @cached_property
    def others(self) -> Others:
        """The requests for other tools: labelled ones, and generated ones of the nearest tools."""
        generated = generate(self._siblings) if self._siblings else ()
        return Others(self.rankers, self.ranker_name, self.tool_id, (*self.cases, *generated))

    @cached_property
    def _tool(self) -> Tool:
        return self.rankers.index.tools[position_of(self.rankers.index, self.tool_id)]

    @cached_property
    def _own(self) -> list[str]:
        """The tool's labelled requests."""
        return [case.query for case in self.cases if any(self.tool_id in group for group in case.relevant)]

    @cached_property
    def _wanted(self) -> list[str]:
        return list(dict.fromkeys((*self.missed[:_MOST_OWN], *self._own[:_MOST_OWN])))

    @cached_property
    def _before(self) -> dict[str, Standings]:
        ranker = self.rankers.get(self.ranker_name)
        return {query: Standings(ranker.rank(query)) for query in self._wanted}

    @cached_property
    def _siblings(self) -> list[Tool]:
        """The tools that stand before this one for what misses it."""
        tools = self.rankers.index.tools
        first = (self._before[query].order[:FOUND] for query in self._wanted)
        found = dict.fromkeys(int(position) for order in first for position in order)
        return [tools[position] for position in found if tools[position] is not self._tool]

    def _tried(self, stopped: Callable[[], bool]) -> Iterator[_Tried]:
        """What helps: a sentence for each phrase, for the best of them together, and what a model wrote."""
        before = self._reach(self._before)
        single: list[tuple[_Tried, tuple[str, str]]] = []
        for phrase in self._phrases():
            if stopped():
                return
            single.append((self._with(use_sentence([phrase])), phrase))
        single.sort(key=lambda pair: pair[0].reach, reverse=True)
        best: list[_Tried] = [one for one, _ in single]
        together: list[tuple[str, str]] = []
        reach = before
        for one, phrase in single:
            if len(together) == _MOST_TOGETHER or stopped() or not _fits(phrase[1], together):
                continue
            more = self._with(use_sentence([*together, phrase])) if together else one
            # What takes nothing away makes the sentence fit more requests than those that are known.
            takes_nothing = more.reach[0] >= reach[0] and more.reach[1] > reach[1] - _GIVEN
            if more.reach > reach or (together and takes_nothing):
                together, reach = [*together, phrase], more.reach
                best.append(more)
        best += (replace(self._with(sentence), by=self.writer) for sentence in self._written())
        # When to use a tool may come before what it does, too.
        best += [
            replace(self._measured(one.sentence, put_first(one.sentence, self._tool.description)), by=one.by)
            for one in best
        ]
        yield from (one for one in best if one.reach[0] >= before[0] and self._wins(one))

    def _wins(self, one: _Tried) -> bool:
        """Whether a request that misses the tool finds it, or sooner, or comes to half of a low rank."""
        ranks = (one.effect.ranks[query] for query in self.missed[:_MOST_OWN])
        return any(
            after
            and (not before or after < before)
            and (after <= FOUND or (before and after <= before / 2))
            and after <= 2 * FOUND
            for before, after in ranks
        )

    def _phrases(self) -> list[tuple[str, str]]:
        """(verb, noun phrase) of what requests ask for and what there are grounds for, in English."""
        if not is_english(self._tool):
            return []
        own = (tool.description for tool in self.rankers.index.tools)
        texts = (*own, *self._wanted, *(case.query for case in self.cases))
        known = {word.lower() for text in texts for word in split_words(text)}
        asked = (one for query in self._wanted for one in asked_in(query))
        found: dict[str, str] = {}
        for one in Grounds(self.rankers.index, self._tool, self.cases).admitted(asked):
            phrase = one.listed(known)
            found[phrase] = found.get(phrase) or one.verb
        meant = Meant(self.rankers, self._tool, self.cases).near(self._wanted)
        asked_for = ((verb, phrase) for phrase, verb in found.items())
        return list(islice(chain(asked_for, meant), _MOST_TRIED))

    @property
    def _rival(self) -> Tool | None:
        """The first of the tools that stand before this one."""
        return next(iter(self._siblings), None)

    def _written(self) -> Iterator[str]:
        """The sentences of the model's answer that keep the rules."""
        texts = [
            f"{one.name} {one.description} {one.input_schema}" for one in (self._tool, self._rival) if one
        ]
        definition = {word.lower() for text in texts for word in split_words(text)}
        yield from written(self.answer, definition, self.missed)

    def _with(self, sentence: str) -> _Tried:
        return self._measured(sentence, put_last(sentence, self._tool.description))

    @property
    def _position(self) -> int:
        return self.rankers.index.position[self.tool_id]

    def _measured(self, sentence: str, description: str) -> _Tried:
        """Rank the tool's requests with a new description, in an index that differs in this tool alone."""
        edited = replace(self._tool, description=description)
        rankers = edited_rankers(self.rankers, edited, self.tool_id)
        ranker = rankers.get(self.ranker_name)
        after = {query: Standings(ranker.rank(query)) for query in self._wanted}
        ranks = {query: (self._rank(self._before[query]), self._rank(after[query])) for query in self._wanted}
        tokens = self.count(edited) - self.count(self._tool)
        effect = Effect(self.ranker_name, ranks, tokens)
        return _Tried(sentence, description, tokens, self._reach(after), effect, rankers)

    def _rank(self, standings: Standings) -> int | None:
        standing = standings[self._position]
        return standing.rank if standing.kept else None

    def _reach(self, standings: Mapping[str, Standings]) -> tuple[float, float]:
        """How many requests find the tool, and the mean of its reciprocal ranks."""
        own = [found[self._position] for found in standings.values()]
        return sum(one.kept and one.rank <= FOUND for one in own), float(np.mean([1 / o.rank for o in own]))
