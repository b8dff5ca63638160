"""How Claude Code, Qwen Code and Droid search: each word of the query in a tool's name, else in other texts.

Equal tools are in the order of the alphabet. Sources, and how far it was measured, are in `clients/known/`.
"""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from string import punctuation
from typing import Any

import numpy as np

from inspector.core.ranking import Part, Score, Signal
from inspector.core.tool import ALWAYS_LOAD, SEARCH_HINT, Tool
from inspector.schema.json_value import as_text
from inspector.search.index.vocabulary import MAX_QUERY_LENGTH
from inspector.search.ranker.ranker import Ranking, Scores

EXACT = 100.0
_SELECT = "select:"
# All steps of the alphabet together: too little to change any other order, or a score's parts.
_ALPHABET = 5e-10
_FORBIDDEN = re.compile("[^A-Za-z0-9_-]")


def by_alphabet(keys: Sequence[Any]) -> Scores:
    """What to take from scores so that equal ones are in the order of their keys."""
    steps = np.zeros(len(keys))
    steps[sorted(range(len(keys)), key=keys.__getitem__)] = np.linspace(0, _ALPHABET, len(keys))
    return steps


class StepRanker(ABC):
    """Scores from 0; those above zero are kept. A word adds what its steps are worth, a tool's name EXACT."""

    name: str

    def __init__(self, tools: Sequence[Tool], keys: Sequence[Any], names: Sequence[frozenset[str]]) -> None:
        """Equal tools are in the order of their `keys`; `names` are those that take a tool, in lower case."""
        self._ids, self._names = tuple(tool.id for tool in tools), names
        self._alphabet = by_alphabet(keys)

    @abstractmethod
    def _asked(self, query: str) -> tuple[tuple[str, ...], Mapping[str, int], Sequence[str]]:
        """The names that a query takes, how often each word counts, and which words are required."""

    @abstractmethod
    def _steps(self, word: str, position: int) -> Iterator[tuple[Signal, float]]:
        """What a word adds to a tool's score, and by which text."""

    @abstractmethod
    def _meets(self, word: str, position: int) -> bool:
        """Whether a tool has a word that is required."""

    def terms(self, query: str) -> tuple[str, ...]:
        names, words, _required = self._asked(query)
        return tuple(words) or names

    def rank(self, query: str) -> Ranking:
        names, words, required = self._asked(query)

        def parts(position: int) -> Iterator[Part]:
            for place, name in enumerate(names):
                if name in self._names[position]:
                    yield Part(Signal.EXACT, name, max(EXACT - place, 1.0), {"weight": EXACT})
            if all(self._meets(word, position) for word in required):
                for word, times in words.items():
                    for signal, value in self._steps(word, position):
                        yield Part(signal, word, value * times, {"weight": value})

        values = np.array([sum(part.value for part in parts(place)) for place in range(len(self._ids))])
        kept = values > 0
        values = np.where(kept, values - self._alphabet, values)

        def explain(position: int) -> Score:
            return Score(self._ids[position], float(values[position]), tuple(parts(position)))

        return Ranking(values, kept, explain)


def selected(query: str) -> tuple[str, ...] | None:
    """The names of `select:A,B`, in lower case; None for another query."""
    text = query[:MAX_QUERY_LENGTH].strip().lower()
    if not text.startswith(_SELECT):
        return None
    names = (name.strip() for name in text.removeprefix(_SELECT).split(","))
    return tuple(dict.fromkeys(name for name in names if name))


# Claude Code's ToolSearch compares each word of the query with a tool in four steps; the first that matches
# counts:
#
#     4  a whole word of the server's or the tool's name, which _ separates, and capitals do not
#     3  a part of such a word
#     2  a word of `_meta["anthropic/searchHint"]`
#     1  a whole word of the description
#
# Several words add up. A query that is a tool's name, and a name in `select:A,B`, finds that tool first.
# `+word` has to match in one of the steps. Of a description the first 4,096 characters are read. No tool is
# searched for that is loaded at once (`_meta["anthropic/alwaysLoad"]`).

_READ = 4_096
_BETWEEN = re.compile(r"[\s_]+")


class ClaudeCodeRanker(StepRanker):
    """Claude Code's ToolSearch."""

    name = "claude-code"

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._deferred = [tool.meta.get(ALWAYS_LOAD) is not True for tool in tools]
        sent = [_cleaned(f"{tool.server}__{tool.name}").lower() for tool in tools]
        names = [
            frozenset(map(str.lower, (one.name, one.id, f"mcp__{one.server}__{one.name}", f"mcp__{name}")))
            if used
            else frozenset()
            for one, name, used in zip(tools, sent, self._deferred, strict=True)
        ]
        super().__init__(tools, sent, names)
        self._parts = [frozenset(filter(None, name.split("_"))) for name in sent]
        self._hints = [_spaced(as_text(tool.meta.get(SEARCH_HINT))) for tool in tools]
        self._described = [_spaced(tool.description[:_READ]) for tool in tools]

    def _asked(self, query: str) -> tuple[tuple[str, ...], Mapping[str, int], Sequence[str]]:
        if (names := selected(query)) is not None:
            return names, {}, ()
        text = query[:MAX_QUERY_LENGTH].strip().lower()
        given = [each.strip(punctuation.replace("+", "")) for each in text.split()]
        words = (word for each in given for word in _BETWEEN.split(each.lstrip("+")) if word)
        required = [each[1:] for each in given if each.startswith("+") and each[1:]]
        return (text,), dict.fromkeys(words, 1), required

    def _meets(self, word: str, position: int) -> bool:
        return any(True for _ in self._steps(word, position))

    def _steps(self, word: str, position: int) -> Iterator[tuple[Signal, float]]:
        parts, whole = self._parts[position], _spaced(word)
        if not self._deferred[position]:
            return
        if word in parts:
            yield Signal.NAME, 4.0
        elif any(word in part for part in parts):
            yield Signal.NAME, 3.0
        elif whole.strip() and whole in self._hints[position]:
            yield Signal.KEYWORD, 2.0
        elif whole.strip() and whole in self._described[position]:
            yield Signal.DESCRIPTION, 1.0


def _spaced(text: str) -> str:
    """The words of a text in lower case, with a space on each side."""
    return " ".join(("", *re.findall(r"\w+", text.lower()), ""))


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

_STOP_WORDS = """
    a an and are at be can could did do does for from how i in is it me my of on or please should that the
    these this those to was were what which with would you
"""
_QWEN_STOP_WORDS = frozenset(_STOP_WORDS.split())
_ENDINGS = frozenset({"cancel", "clear", "delete", "remove", "stop"})
_EDGES = re.compile(r"^[^\w.+#-]+|[^\w.+#-]+$")


class DroidRanker(StepRanker):
    """Droid's ToolSearch; what has no description is described in its words."""

    name = "droid"
    empty = "MCP tool from {}"

    def __init__(self, tools: Sequence[Tool]) -> None:
        sent = self._sent(tools)
        self._sent_names = [name.lower() for name in sent]
        names = [frozenset({name}) for name in self._sent_names]
        super().__init__(tools, list(map(_collated, sent)), names)
        self._described = [(tool.description or self.empty.format(tool.server)).lower() for tool in tools]

    def _sent(self, tools: Sequence[Tool]) -> list[str]:
        """The names as they are sent: only one that is too long, or another's, ends with a hash."""
        plain = [f"{tool.server}___{tool.name}" for tool in tools]
        taken = Counter(map(_cleaned, plain))
        return [_hashed(name if taken[_cleaned(name)] > 1 else _cleaned(name), 64, 8) for name in plain]

    def _asked(self, query: str) -> tuple[tuple[str, ...], Mapping[str, int], Sequence[str]]:
        if (names := selected(query)) is not None:
            return names, {}, ()
        given = query[:MAX_QUERY_LENGTH].lower().split()
        required = [self._read(one) for one in given if one != one.lstrip("+") != ""]
        return (), Counter(filter(None, map(self._read, given))), required

    def _meets(self, word: str, position: int) -> bool:
        return any(one in self._sent_names[position] for one in self._alike(word))

    def _read(self, given: str) -> str:
        """A word of the query as it is looked up; "" for none."""
        return given[1:] if len(given) > 1 and given.startswith("+") else given

    def _alike(self, word: str) -> frozenset[str]:
        """The word, and those that mean the same."""
        return frozenset({word})

    def _steps(self, word: str, position: int) -> Iterator[tuple[Signal, float]]:
        if word in self._sent_names[position]:
            yield Signal.NAME, 10.0
        elif word in self._described[position]:
            yield Signal.DESCRIPTION, 3.0


class QwenCodeRanker(DroidRanker):
    """Qwen Code's tool_search."""

    name = "qwen-code"
    empty = ""

    def _sent(self, tools: Sequence[Tool]) -> list[str]:
        return [_hashed(f"mcp__{tool.server}__{tool.name}", 63, 7) for tool in tools]

    def _read(self, given: str) -> str:
        word = _EDGES.sub("", given.removeprefix("+"))
        return "" if len(word) < 2 or word in _QWEN_STOP_WORDS else word

    def _alike(self, word: str) -> frozenset[str]:
        return _ENDINGS if word in _ENDINGS else frozenset({word})

    def _steps(self, word: str, position: int) -> Iterator[tuple[Signal, float]]:
        name, described = self._sent_names[position], self._described[position]
        alike, servers = self._alike(word), name.split("__")[:2]
        if f"_{name}".endswith(tuple(f"_{one}" for one in alike)):
            yield Signal.NAME, 12.0
        elif any(one in name for one in alike):
            yield Signal.NAME, 6.0
        if not alike.isdisjoint(servers):
            yield Signal.SERVER, 4.0
        if any(one in described for one in alike):
            yield Signal.DESCRIPTION, 2.0
        if any(one in name for one in alike - {word}):
            yield Signal.KEYWORD, 6.0


def _cleaned(text: str) -> str:
    return _FORBIDDEN.sub("_", text)


def _hashed(plain: str, limit: int, digits: int) -> str:
    """A name as it is sent: one that is too long or was changed ends with a hash, here with what none has."""
    name = _cleaned(plain)
    is_whole = name == plain and len(name) <= limit
    return name if is_whole else f"{name[: limit - digits - 1]}_{'?' * digits}"


def _collated(name: str) -> tuple[list[int], list[bool]]:
    """By what ICU sorts names: signs, digits, letters; the case decides where all else is equal."""
    places = [ord(one) if one.isalnum() else "_-".find(one) for one in name.lower()]
    return places, [one.isupper() for one in name]
