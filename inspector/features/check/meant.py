"""What phrases of the phrasebook near to a request mean, as far as a search says that a tool does it."""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from inspector.access.reach import EvalCase
from inspector.core.text import first_sentence
from inspector.core.tool import Tool
from inspector.schema.schema import fields
from inspector.search.index.query import actions, asked_action
from inspector.search.index.vocabulary import spaced, stem, terms
from inspector.search.ranker.catalog_rankers import CatalogRankers

# How likely the tool has to do what a sentence says, as a search for that says; how many are searched for.
_LIKELY, _MOST_MEANT = 0.5, 150
# Where the object of a verb ends: “notes in the vault”.
_OBJECT_END = re.compile(
    r"\s+(?:in|by|from|with|without|to|on|at|of|as|for|into|across|within|under|between|matching|per|and|or"
    r"|including|that|which|through|over|about|against|before|after|via)\b|[.,;:(]"
)
# What may be said of any object.
_PLAIN = frozenset(
    terms(
        "name identifier id status type number previous existing new current multiple text content title "
        "list details specific single given value"
    )
)


class Meant:
    """What phrases near to a request mean in the words of interfaces, as far as the tool does it.

    It does if a search for that finds it likely, and before the other tools of its server that its requests
    do not allow as well; if its verb is of the kind of the tool's; and if its words are those of the tool,
    but for one that other tools of its server have. A sentence has to add a word to the description.
    """

    def __init__(self, rankers: CatalogRankers, tool: Tool, cases: Sequence[EvalCase]) -> None:
        self._index, self._tool, self._ranker = rankers.index, tool, rankers.hybrid
        texts = (f"{one.name} {one.description} {one.choices}" for one in fields(tool.input_schema))
        own = f"{tool.name} {tool.description}"
        self._own, self._said = frozenset(terms(own)), frozenset(terms(" ".join((own, tool.server, *texts))))
        self._does = asked_action(spaced(tool.name)) | asked_action(first_sentence(tool.description))
        siblings = [other for other in self._index.tools if other.server == tool.server]
        self._names = frozenset(terms(" ".join(one.name for one in siblings)))
        self._server = frozenset(terms(" ".join(one.description for one in siblings)))
        same = (group for case in cases for group in case.relevant if tool.id in group)
        allowed = frozenset[str]().union(*same)
        rivals = [other for other in siblings if other.id not in allowed and other is not tool]
        self._rivals = {self._index.position[other.id]: frozenset(terms(other.name)) for other in rivals}

    def near(self, queries: Sequence[str]) -> Iterator[tuple[str, str]]:
        """(verb, what follows) of each, nearest first."""
        vectors = [vector for vector in self._index.query_vectors(queries) or () if vector is not None]
        keys = self._index.documents[self._index.position[self._tool.id]].passages
        passages = [found for key in keys if (found := self._index.vectors.get(key)) is not None]
        if not passages:
            return
        own, book = np.stack(passages), self._index.phrasebook
        near = [book.meant_near(vector, own, _MOST_MEANT) for vector in vectors]
        for meaning in dict.fromkeys(text for several in zip(*near, strict=False) for text in several):
            verb, _, rest = meaning.partition(" ")
            if self._may_be_said(verb.lower(), rest) and self._is_done(meaning):
                yield verb.lower(), rest

    def _may_be_said(self, verb: str, rest: str) -> bool:
        kinds, words = actions([verb]), set(terms(rest))
        is_its_verb = not kinds & ~self._does if kinds else stem(verb) in self._said
        others = words - self._said - _PLAIN
        before_object = _OBJECT_END.split(rest, 1)[0].rpartition(" ")[0]
        may_be = self._names | self._server.intersection(terms(before_object))
        adds = not self._own.issuperset(words | {stem(verb)})
        return is_its_verb and adds and len(others) <= 1 and others <= may_be

    def _is_done(self, meaning: str) -> bool:
        said, name = set(terms(_OBJECT_END.split(meaning, 1)[0])), set(terms(self._tool.name))
        if any(other <= said and not name <= said for other in self._rivals.values()):
            return False
        ranking, own = self._ranker.rank(meaning), self._index.position[self._tool.id]
        if ranking.fit is None or ranking.fit[own] < _LIKELY:
            return False
        return all(ranking.values[rival] < ranking.values[own] for rival in self._rivals)
