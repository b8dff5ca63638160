"""What there are grounds to say of a tool: by its own texts, and by requests that are known to be for it."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from inspector.access.reach import EvalCase
from inspector.core.text import first_sentence
from inspector.core.tool import ACTS, READS, Tool, destroying_verb
from inspector.features.check.wording import GRAMMAR, Asked, is_other_word
from inspector.schema.schema import fields
from inspector.search.index.tool_index import ToolIndex
from inspector.search.index.vocabulary import spaced, split_words, stem, terms

# A phrase with at least this cosine to a passage of the tool, which few tools are nearer to, is close to it.
_AS_GOOD, _VERY_CLOSE, _CLOSE, _NEARER, _ALIKE = 0.5, 0.45, 0.35, 5, 0.08
# A noun that a larger share of tools has says little about one.
_COMMON, _EVERYWHERE = 0.08, 0.04
# Two nouns at least this near by both encoders mean the same: of 41 pairs of synonyms that were looked at it
# takes 18, of 51 pairs of other related nouns 1 (docs/papers/descriptions.md).
_SAME, _SAME_STATIC = 0.69, 0.6
_BEGINNING = 100
_SEARCHES = ("search", "query", "lookup", "view", "is", "has", "check", "count", "validate")
# “Find a card in a deck” finds cards.
_PREPOSITION = re.compile(r"\b(?:in|by|from|with|to|on|at|based|given|using)\b")
# A noun of several labelled requests of a tool is its own if the tool's are this share of all that have it.
_SHARED, _OWN_SHARE, _MANY, _MUCH = 2, 0.2, 3, 0.4


class Grounds:
    """What a tool's own texts and its labelled requests say that it is for.

    A noun has grounds if it is close in meaning to the tool's texts, and they or several of its labelled
    requests have it or few tools are nearer; or if much of what it is asked has it, and hardly other tools.
    """

    def __init__(self, index: ToolIndex, tool: Tool, cases: Sequence[EvalCase]) -> None:
        self._index, self._tool = index, tool
        parameters = fields(tool.input_schema)
        texts = (tool.name, tool.description, *(f"{f.name} {f.description}" for f in parameters))
        self._words = tuple(dict.fromkeys(word.lower() for text in texts for word in split_words(text)))
        self._terms = frozenset(map(stem, self._words))
        self._name = spaced(tool.name).split()
        self._taken = frozenset(terms(" ".join(text for text in texts[2:])))
        self._said = frozenset(terms(f"{tool.name} {tool.description}"))
        self._own: list[set[str]] = []
        self._all = Counter[str]()
        self._tools: defaultdict[str, set[frozenset[str]]] = defaultdict(set)
        for case in {case.query: case for case in cases}.values():
            found = set(terms(case.query))
            self._own += [found for group in case.relevant if tool.id in group]
            self._all.update(found)
            for term in found:
                self._tools[term].update(case.relevant)

    def admitted(self, asked: Iterable[Asked]) -> list[Asked]:
        """What there are grounds for, each with the modifiers that bring it nearer to the tool."""
        several = list(dict.fromkeys(asked))
        near = self._nearness(sorted({phrase for one in several for phrase in _endings(one)}))
        found = []
        for one in several:
            verb = self._verb(one)
            if not verb and (self._acts or one.verb in ACTS):
                # A tool that changes something must not answer to what only asks, nor the reverse.
                continue
            best = max(near[phrase].cosine for phrase in _endings(one))
            phrase = next(each for each in _endings(one) if near[each].cosine >= best - _ALIKE)
            if self._is_its_own(one.head, near[phrase]) or self.synonym(one.head):
                found.append(replace(one, words=tuple(phrase.split()), verb=verb))
        return found

    @cached_property
    def _acts(self) -> bool:
        """Whether the tool changes something, by its claims, its name or how its description begins."""
        claims, first = self._tool.annotations, split_words(self._tool.description.lower()[:_BEGINNING])[:1]
        words = {stem(word) for word in (*self._name, *first)}
        reads = not words.isdisjoint(map(stem, READS))
        if destroying_verb(self._tool) or (claims.destructive and not claims.read_only):
            return True
        return not reads and not words.isdisjoint(map(stem, ACTS))

    def _is_its_own(self, head: str, phrase: "_Nearness") -> bool:
        if not self._is_telling(head) or (phrase.cosine < _VERY_CLOSE and self._is_asked_everywhere(head)):
            return False
        if phrase.cosine < _CLOSE:
            return self._is_nearly_only_here(head)
        is_near = phrase.cosine >= _AS_GOOD and phrase.nearer < self._most_nearer
        is_its_own = stem(head) in self._said or is_near or self._shared(head)
        return is_its_own and not self._is_input(head)

    def _is_input(self, noun: str) -> bool:
        """Whether a noun is what the tool takes, and not what it is for by its name and first sentence."""
        names = (spaced(self._tool.name), first_sentence(self._tool.description))
        is_for = terms(" ".join(_PREPOSITION.split(text)[0] for text in names))
        return stem(noun) in self._taken and stem(noun) not in is_for

    def _is_nearly_only_here(self, head: str) -> bool:
        """Whether much of what the tool is asked has a noun, and what one other tool is asked at most."""
        enough = max(_MANY, _MUCH * len(self._own))
        return self._count(head) >= enough and len(self._tools[stem(head)]) <= 2

    def _is_asked_everywhere(self, word: str) -> bool:
        tools = len(frozenset().union(*self._tools.values()))
        return len(self._tools[stem(word)]) > max(2, _EVERYWHERE * tools)

    def synonym(self, noun: str) -> str:
        """A word of the tool's own that means the same as a noun that it lacks; "" for none."""
        if stem(noun) in self._terms:
            return ""
        own = [word for word in self._words if len(word) > 2 and word.isalpha()]
        listed = next((word for word in own if is_other_word(noun, word)), "")
        return listed or self._same(noun, own)

    def _same(self, noun: str, own: Sequence[str]) -> str:
        static, vectors = self._index.static, self._index.query_vectors([noun, *own])
        if static is None or vectors is None or not own:
            return ""
        table = np.asarray(static.embed([noun, *own]))
        first, *others = (vector for vector in vectors if vector is not None)
        for at, (word, vector) in enumerate(zip(own, others, strict=True), start=1):
            if first @ vector >= _SAME and table[0] @ table[at] >= _SAME_STATIC:
                return word
        return ""

    def is_about(self, noun: str) -> bool:
        """Whether a noun of the tool's texts is very close to them."""
        return self._has(noun) and self._nearness([noun])[noun].cosine >= _VERY_CLOSE

    def _has(self, word: str) -> bool:
        return stem(word) in self._terms

    def _shared(self, word: str) -> bool:
        return self._count(word) >= max(_SHARED, _OWN_SHARE * self._all[stem(word)])

    def _count(self, word: str) -> int:
        return sum(stem(word) in request for request in self._own)

    def _verb(self, one: Asked) -> str:
        """The verb if the tool's texts have it or a synonym, or if both only read; else that of its name."""
        is_said = self._has(one.verb) or any(is_other_word(one.verb, word) for word in self._words)
        reads = next((word for word in self._name if word in READS), "")
        if one.verb and (is_said or (reads and one.verb in READS)):
            return one.verb
        # “Use this to search a bill” is no English.
        return "find" if reads in _SEARCHES else "" if one.verb in ACTS else reads

    def _is_telling(self, word: str) -> bool:
        """Whether few tools have the word."""
        number = self._index.vocabulary.get(stem(word), -1)
        share = self._index.postings.document_frequency(number) / len(self._index.tools)
        return share <= _COMMON or len(self._index.tools) < 1 / _COMMON

    @property
    def _most_nearer(self) -> int:
        return max(_NEARER, len(self._index.tools) // 100)

    def _nearness(self, phrases: Sequence[str]) -> "dict[str, _Nearness]":
        vectors = self._index.query_vectors(phrases) if phrases else None
        known = [vector for vector in vectors or () if vector is not None]
        if len(known) < len(phrases) or not known:
            # Without vectors nothing is known to be far.
            return dict.fromkeys(phrases, _Nearness(1.0, len(self._index.tools)))
        position = self._index.position[self._tool.id]
        best = np.nan_to_num(self._index.similarities_of(known), nan=-1.0).max(axis=1)
        nearer = (best > best[:, position, None]).sum(axis=1)
        pairs = zip(best[:, position], nearer, strict=True)
        return {phrase: _Nearness(float(c), int(n)) for phrase, (c, n) in zip(phrases, pairs, strict=True)}


def _endings(one: Asked) -> Iterator[str]:
    """The noun alone, then with one more of its modifiers each."""
    yield from (" ".join(one.words[at:]) for at in range(len(one.words) - 1, -1, -1))


@dataclass(frozen=True, slots=True)
class _Nearness:
    """The best cosine of a phrase with a passage of the tool, and how many tools are nearer to it."""

    cosine: float
    nearer: int


def missing_words(query: str, lacking: Collection[str]) -> dict[str, str]:
    """The lacking terms of a query in its order, each with its first word as written, in lower case."""
    words: dict[str, str] = {}
    for word in split_words(query):
        term = terms(word)[0]
        if term in lacking and word.lower() not in GRAMMAR:
            words.setdefault(term, word.lower())
    return words
