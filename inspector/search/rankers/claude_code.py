"""Keywords in names and descriptions, as Claude Code's ToolSearch takes them.

    score = sum over the query's words of  3 [a word of the name] or 2 [within the name],
                                         + 1 [a word of the description]

A query that is a tool's name, and a name in `select:A,B`, scores 100. Of `+word` the name must have the word.
What is documented and that the weights are assumed: `clients/known/claude-code.toml`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from inspector.core.ranking import Part, Score, Signal
from inspector.core.tool import Tool
from inspector.search.document import MAX_INDEXED
from inspector.search.rankers.ranker import Ranking
from inspector.search.vocabulary import MAX_QUERY_LENGTH, split_words

NAME = "claude-code"
EXACT, PART, WITHIN, DESCRIBED = 100.0, 3.0, 2.0, 1.0
_SELECT = "select:"


@dataclass(frozen=True, slots=True)
class _Texts:
    """What is compared of a tool, in lower case."""

    id: str
    names: frozenset[str]
    name: str
    parts: frozenset[str]
    described: frozenset[str]

    def parts_for(self, query: "_Query") -> Iterator[Part]:
        """What each part of the query adds to the score."""
        for name in query.names:
            if name in self.names:
                yield Part(Signal.EXACT, name, EXACT, {"weight": EXACT})
        if any(word not in self.name for word in query.required):
            return
        for word in query.words:
            if word in self.parts:
                yield Part(Signal.NAME, word, PART, {"weight": PART})
            elif word in self.name:
                yield Part(Signal.NAME, word, WITHIN, {"weight": WITHIN})
            if word in self.described:
                yield Part(Signal.DESCRIPTION, word, DESCRIBED, {"weight": DESCRIBED})


@dataclass(frozen=True, slots=True)
class _Query:
    """A query: tools by `names`, `words` that count, and those of them that a name is `required` to have."""

    names: tuple[str, ...]
    words: tuple[str, ...] = ()
    required: tuple[str, ...] = ()


class ClaudeCodeRanker:
    """Scores from 0; scores above zero are kept."""

    name = NAME

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._texts = tuple(map(_texts, tools))

    def terms(self, query: str) -> tuple[str, ...]:
        read = _query(query)
        return read.words or read.names

    def rank(self, query: str) -> Ranking:
        read = _query(query)
        values = np.array([sum(part.value for part in texts.parts_for(read)) for texts in self._texts])

        def explain(position: int) -> Score:
            texts = self._texts[position]
            return Score(texts.id, float(values[position]), tuple(texts.parts_for(read)))

        return Ranking(values, values > 0, explain)


def _query(query: str) -> _Query:
    text = query[:MAX_QUERY_LENGTH].strip().lower()
    if text.startswith(_SELECT):
        wanted = (name.strip() for name in text.removeprefix(_SELECT).split(","))
        return _Query(tuple(dict.fromkeys(name for name in wanted if name)))
    words = dict.fromkeys(word for each in text.split() for word in split_words(each))
    required = (each[1:] for each in text.split() if each.startswith("+"))
    return _Query((text,), tuple(words), tuple(word for word in required if word))


def _texts(tool: Tool) -> _Texts:
    joined = f"{tool.server} {tool.name}"
    names = frozenset(name.lower() for name in (tool.name, tool.id, f"mcp__{tool.server}__{tool.name}"))
    return _Texts(
        tool.id,
        names,
        joined.lower(),
        frozenset(word.lower() for word in split_words(joined)),
        frozenset(word.lower() for word in split_words(tool.description[:MAX_INDEXED])),
    )
