"""How Claude Code, Qwen Code and Droid search: each word of the query in a tool's name, else in other texts.

Equal tools are in the order of the alphabet. Sources, and how far it was measured, are in `clients/known/`.
"""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from inspector.core.ranking import Part, Score, Signal
from inspector.core.tool import Tool
from inspector.search.index.vocabulary import MAX_QUERY_LENGTH
from inspector.search.ranker.ranker import Ranking, Scores

EXACT = 100.0
_SELECT = "select:"
# All steps of the alphabet together: too little to change any other order, or a score's parts.
_ALPHABET = 5e-10
_FORBIDDEN = re.compile("[^A-Za-z0-9_-]")
# Where a hash stands that no query will have: no letter, digit or sign that names may have.
_HASH = "?"


def by_alphabet(names: Sequence[str], key: Callable[[str], Any] = str) -> Scores:
    """What to take from scores so that equal ones are in the order of the names."""
    steps = np.zeros(len(names))
    steps[sorted(range(len(names)), key=lambda place: key(names[place]))] = np.linspace(
        0, _ALPHABET, len(names)
    )
    return steps


class StepRanker(ABC):
    """Scores from 0; scores above zero are kept. What a query adds is for each client's ranker to say."""

    name: str

    def __init__(
        self, tools: Sequence[Tool], sent: Sequence[str], key: Callable[[str], Any], loaded: str = ""
    ) -> None:
        """By the `key` of the names as they are `sent` equal tools are ordered.

        Of tools whose `_meta` says true for `loaded` none is searched for.
        """
        self._ids = tuple(tool.id for tool in tools)
        self._deferred = np.array([tool.meta.get(loaded) is not True for tool in tools], dtype=bool)
        self._alphabet = by_alphabet(sent, key)

    @abstractmethod
    def terms(self, query: str) -> tuple[str, ...]:
        """The words of the query, or the names that it selects."""

    @abstractmethod
    def _parts(self, query: str) -> Callable[[int], Iterator[Part]]:
        """What the query adds to the score of the tool at a position."""

    def rank(self, query: str) -> Ranking:
        """Score every tool."""
        parts = self._parts(query)
        values = np.array([sum(part.value for part in parts(place)) for place in range(len(self._ids))])
        values = np.where(self._deferred, values, 0.0)
        kept = values > 0
        values = np.where(kept, values - self._alphabet, values)

        def explain(position: int) -> Score:
            found = tuple(parts(position)) if kept[position] else ()
            return Score(self._ids[position], float(values[position]), found)

        return Ranking(values, kept, explain)


def selected(query: str) -> tuple[str, ...] | None:
    """The names of `select:A,B`, in lower case; None for another query."""
    text = query[:MAX_QUERY_LENGTH].strip().lower()
    if not text.startswith(_SELECT):
        return None
    names = (name.strip() for name in text.removeprefix(_SELECT).split(","))
    return tuple(dict.fromkeys(name for name in names if name))


# Qwen Code's tool_search and Droid's ToolSearch look each word of the query up as a part of the name as it is
# sent, server and all, and of the whole description, in lower case:
#
#     Qwen Code   12  the name's end, behind _ or .          Droid   10  in the name
#                  6  else in the name                                3  else in the description
#                 +4  a word of the server's name
#                 +2  in the description
#                 +6  a word for an end, if another of them is in the name
#
# Words add up, and count as often as the query has them. `+word` has to be in the name; `select:A,B` gives
# the tools of these names. Qwen Code leaves out stop words, signs around words, and words of one letter;
# Droid takes words as they are.

QWEN_CODE, DROID = "qwen-code", "droid"
_ENDS, _INSIDE, _SERVER, _DESCRIBED, _ALIAS = 12.0, 6.0, 4.0, 2.0, 6.0
_DROID_NAME, _DROID_DESCRIBED = 10.0, 3.0
_EDGES = re.compile(r"^[^\w.+#-]+|[^\w.+#-]+$")
_STOP_WORDS = """
    a an and are at be can could did do does for from how i in is it me my of on or please should that the
    these this those to was were what which with would you
"""
_QWEN_STOP_WORDS = frozenset(_STOP_WORDS.split())


@dataclass(frozen=True, slots=True)
class _Texts:
    """What is compared of a tool, in lower case: the name as it is sent, the server's words, a text."""

    name: str
    server: frozenset[str]
    described: str


class _NameFirstRanker(StepRanker):
    """Looks words up in names as they are sent, and in descriptions. Words of `alike` mean one another."""

    alike: frozenset[str] = frozenset()

    def __init__(self, tools: Sequence[Tool], sent: Sequence[str], empty: str = "") -> None:
        """What has no description gets the text `empty`, with the server's name."""
        super().__init__(tools, sent, _collated)
        self._texts = tuple(
            _Texts(
                name.lower(),
                frozenset(f"mcp {tool.server}".lower().split()),
                (tool.description or empty.format(tool.server)).lower(),
            )
            for tool, name in zip(tools, sent, strict=True)
        )

    def terms(self, query: str) -> tuple[str, ...]:
        return selected(query) or tuple(self._asked(query)[0])

    def _parts(self, query: str) -> Callable[[int], Iterator[Part]]:
        names = selected(query)
        words, required = self._asked(query) if names is None else (Counter[str](), frozenset[str]())

        def parts(position: int) -> Iterator[Part]:
            texts = self._texts[position]
            if names and texts.name in names:
                # In the order that was asked for.
                value = max(EXACT - names.index(texts.name), 1.0)
                yield Part(Signal.EXACT, texts.name, value, {"weight": EXACT})
            if all(any(one in texts.name for one in self._meant(word)) for word in required):
                found = ((*step, times) for word, times in words.items() for step in self._steps(word, texts))
                yield from (Part(by, word, value * n, {"weight": value}) for by, word, value, n in found)

        return parts

    def _asked(self, query: str) -> tuple[Counter[str], frozenset[str]]:
        """The words of the query with how often it has them, and those that are required."""
        given = tuple(map(self._read, query[:MAX_QUERY_LENGTH].lower().split()))
        required = frozenset(word for word, is_required in given if word and is_required)
        return Counter(word for word, _ in given if word), required

    def _meant(self, word: str) -> frozenset[str]:
        return self.alike if word in self.alike else frozenset({word})

    @abstractmethod
    def _read(self, given: str) -> tuple[str, bool]:
        """A word of the query as it is looked up, "" for none, and whether it is required."""

    @abstractmethod
    def _steps(self, word: str, texts: _Texts) -> Iterator[tuple[Signal, str, float]]:
        """What a word adds, and by which text."""


class QwenCodeRanker(_NameFirstRanker):
    """Qwen Code's tool_search."""

    name = QWEN_CODE
    alike = frozenset({"cancel", "clear", "delete", "remove", "stop"})

    def __init__(self, tools: Sequence[Tool]) -> None:
        super().__init__(tools, [_sent(f"mcp__{tool.server}__{tool.name}", 63, 7) for tool in tools])

    def _read(self, given: str) -> tuple[str, bool]:
        word = _EDGES.sub("", given.removeprefix("+"))
        return ("" if len(word) < 2 or word in _QWEN_STOP_WORDS else word), given.startswith("+")

    def _steps(self, word: str, texts: _Texts) -> Iterator[tuple[Signal, str, float]]:
        meant = self._meant(word)
        name = f"_{texts.name}"
        if any(name.endswith((f"_{one}", f".{one}")) for one in meant):
            yield Signal.NAME, word, _ENDS
        elif any(one in texts.name for one in meant):
            yield Signal.NAME, word, _INSIDE
        if not texts.server.isdisjoint(meant):
            yield Signal.SERVER, word, _SERVER
        if any(one in texts.described for one in meant):
            yield Signal.DESCRIPTION, word, _DESCRIBED
        others = [one for one in meant if one != word]
        if any(one in texts.name or one in texts.server for one in others):
            yield Signal.KEYWORD, word, _ALIAS


class DroidRanker(_NameFirstRanker):
    """Droid's ToolSearch."""

    name = DROID

    def __init__(self, tools: Sequence[Tool]) -> None:
        plain = [f"{tool.server}___{tool.name}" for tool in tools]
        taken = Counter(map(_cleaned, plain))
        # Only where another tool has the name that it would get is a changed one told apart.
        names = [name if taken[_cleaned(name)] > 1 else _cleaned(name) for name in plain]
        super().__init__(tools, [_sent(name, 64, 8) for name in names], "MCP tool from {}")

    def _read(self, given: str) -> tuple[str, bool]:
        is_required = len(given) > 1 and given.startswith("+")
        return given[is_required:], is_required

    def _steps(self, word: str, texts: _Texts) -> Iterator[tuple[Signal, str, float]]:
        if word in texts.name:
            yield Signal.NAME, word, _DROID_NAME
        elif word in texts.described:
            yield Signal.DESCRIPTION, word, _DROID_DESCRIBED


def _cleaned(text: str) -> str:
    return _FORBIDDEN.sub("_", text)


def _sent(plain: str, limit: int, digits: int) -> str:
    """A name as it is sent: one that is too long or was changed ends with a hash."""
    name = _cleaned(plain)
    if name == plain and len(name) <= limit:
        return name
    return f"{name[: limit - digits - 1]}_{_HASH * digits}"


def _collated(name: str) -> tuple[list[int], list[bool]]:
    """By what ICU sorts names: signs, digits, letters; the case decides where all else is equal."""
    places = [ord(one) if one.isalnum() else "_-".find(one) for one in name.lower()]
    return places, [one.isupper() for one in name]
