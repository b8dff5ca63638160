"""Generates an evaluation set from a catalog, without a language model.

The requests come from the tools' own texts, so they are easier than what people ask: they show whether a
ranker broke, not how good it is. The impossible requests are guesses (see `impossible`), and a paraphrase may
also fit another tool, so a person has to review the result.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from inspector.access.reach import EXACT, IMPOSSIBLE, PARAPHRASE, EvalCase
from inspector.core.tool import Tool
from inspector.schema.schema import SchemaField, fields
from inspector.search.index.embedded_text import MAX_INDEXED, key_of
from inspector.search.index.vocabulary import split_words, stem, terms, word_lines

_WORDS = files("inspector.search") / "words"


def synonyms(word: str) -> tuple[str, ...]:
    """Synonyms of a word in any of its forms; empty if the table has none."""
    return _by_stem().get(stem(word.lower()), ())


@cache
def _by_stem() -> Mapping[str, tuple[str, ...]]:
    """A small table of synonyms for words that are common in tool names."""
    table = json.loads((_WORDS / "synonyms.json").read_text(encoding="utf-8"))
    return {stem(word): tuple(others) for word, others in table.items()}


# A word in a larger share of the tools belongs to the catalog's subject.
MAX_SHARE = 0.01
# What hardly any catalog can serve.
REQUESTS = word_lines("impossible")


def impossible_requests(tools: Sequence[Tool]) -> tuple[str, ...]:
    """The REQUESTS whose words are rare in the names and descriptions of the tools.

    Each content word occurs in at most MAX_SHARE of the tools, and no tool has two of them. This is a guess
    from words: a tool may serve a request but describe it in other words.
    """
    wanted = {request: frozenset(terms(request)) for request in REQUESTS}
    request_words = frozenset[str]().union(*wanted.values())
    shared = [
        request_words.intersection(terms(f"{tool.name} {tool.description[:MAX_INDEXED]}")) for tool in tools
    ]
    frequency = Counter(word for words in shared for word in words)
    # Most tools share no word with any of the requests.
    several = [words for words in shared if len(words) > 1]
    limit = int(len(tools) * MAX_SHARE)
    return tuple(
        request
        for request, words in wanted.items()
        if all(frequency[word] <= limit for word in words)
        and not any(len(words & others) > 1 for others in several)
    )


MAX_QUERY = 300
PER_TOOL = 2
_MAX_READ = 2_000
_MAX_VALUE = 40
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n")
_WORD = re.compile(r"[A-Za-z]+")


class _Twins(Struct, frozen=True):
    """Tools with the same name in any spelling; a request for that name means all of them."""

    words: tuple[str, ...]
    tools: tuple[Tool, ...]

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(tool.id for tool in self.tools)


def generate(tools: Sequence[Tool], seed: int = 0, per_tool: int = PER_TOOL) -> tuple[EvalCase, ...]:
    """Generate exact, paraphrased and impossible requests; the same for the same arguments.

    Each name gets at most `per_tool` exact and `per_tool` paraphrased requests, picked by `seed` and the name
    alone, so that more tools do not change them. Tools with the same name on several servers form one group,
    unless a request names an id. No query occurs twice: tools requested in the same words form one group too.
    Queries have at most MAX_QUERY characters.
    """
    drafts: list[EvalCase] = []
    for twins in _twins(tools):
        random = Random(f"{seed} {key_of(' '.join(twins.words)).hex()}")
        for kind, candidates in ((EXACT, _exact(twins, random)), (PARAPHRASE, _paraphrases(twins, random))):
            drafts += [EvalCase("", q, (ids,), kind) for q, ids in _picked(candidates, random, per_tool)]
    drafts += [EvalCase("", query, (), IMPOSSIBLE) for query in impossible_requests(tools)]
    return numbered(_merged(drafts))


def numbered(cases: Iterable[EvalCase], taken: Iterable[str] = ()) -> tuple[EvalCase, ...]:
    """The cases with ids made of their kind and a number, avoiding the ids in `taken`."""
    used, last, with_ids = set(taken), dict[str, int](), []
    for case in cases:
        number = last.get(case.kind, 0) + 1
        while f"{case.kind}-{number:04d}" in used:
            number += 1
        last[case.kind] = number
        with_ids.append(replace(case, id=f"{case.kind}-{number:04d}"))
    return tuple(with_ids)


_Candidates = Iterator[tuple[str, frozenset[str]]]


def _twins(tools: Sequence[Tool]) -> list[_Twins]:
    by_words: dict[tuple[str, ...], list[Tool]] = {}
    for tool in tools:
        by_words.setdefault(
            tuple(word.lower() for word in split_words(tool.name)) or (tool.name,), []
        ).append(tool)
    return [_Twins(words, tuple(same)) for words, same in by_words.items()]


def _picked(candidates: _Candidates, random: Random, count: int) -> Iterable[tuple[str, frozenset[str]]]:
    usable = {query: ids for query, ids in candidates if query.strip() and len(query) <= MAX_QUERY}
    chosen = sorted(random.sample(range(len(usable)), min(max(count, 0), len(usable))))
    entries = list(usable.items())
    return [entries[index] for index in chosen]


def _merged(drafts: Iterable[EvalCase]) -> Iterable[EvalCase]:
    """One case per query; if several tools are requested in the same words, any of them counts."""
    by_query: dict[str, EvalCase] = {}
    for case in drafts:
        key = query_key(case.query)
        first = by_query.get(key)
        if first is None:
            by_query[key] = case
        elif first.is_possible and case.is_possible:
            by_query[key] = replace(first, relevant=(first.relevant[0] | case.relevant[0],))
    return by_query.values()


def query_key(query: str) -> str:
    """A key that is equal for queries that differ only in case and spaces."""
    return " ".join(query.split()).casefold()


def _exact(twins: _Twins, random: Random) -> _Candidates:
    """The name as words, the ids, and a spelling that no server uses."""
    words = twins.words
    yield " ".join(words), twins.ids
    for tool in twins.tools:
        yield tool.id, frozenset({tool.id})
    camel = words[0] + "".join(word.capitalize() for word in words[1:])
    names = {tool.name for tool in twins.tools}
    spellings = [spelling for spelling in (camel, "-".join(words)) if spelling not in names]
    if len(words) > 1 and spellings:
        yield random.choice(spellings), twins.ids


def _paraphrases(twins: _Twins, random: Random) -> _Candidates:
    for tool in twins.tools:
        for write in (_sentence, _with_parameter):
            query = write(tool, twins.words, random)
            if query:
                yield query, twins.ids


def _sentence(tool: Tool, words: tuple[str, ...], random: Random) -> str:
    """The first sentence of the description in other words; empty if the table has no synonyms for it."""
    first = _SENTENCE_END.split(tool.description.strip()[:_MAX_READ], maxsplit=1)[0]
    sentence = " ".join(first.split()).rstrip(".!?:")
    if len(sentence) > MAX_QUERY // 2:
        sentence = sentence[: MAX_QUERY // 2].rpartition(" ")[0]
    stems = {stem(word) for word in words}
    other = _WORD.sub(_other_word(lambda word, is_first: is_first or stem(word) in stems, random), sentence)
    return "" if other == sentence else other


def _other_word(chosen: Callable[[str, bool], bool], random: Random) -> Callable[[re.Match[str]], str]:
    def other(match: re.Match[str]) -> str:
        word = match.group()
        others = synonyms(word) if chosen(word.lower(), match.start() == 0) else ()
        return random.choice(others) if others else word

    return other


def _with_parameter(tool: Tool, words: tuple[str, ...], random: Random) -> str:
    """A request for the tool with one of its parameters, and a value if the schema has one."""
    known = fields(tool.input_schema)
    choices = [(field, value) for field in known for value in _values(field)]
    name = " ".join(random.choice(synonyms(word) or (word,)) for word in words)
    if choices:
        field, value = random.choice(choices)
        assignment = f"{tool.name} with {field.name}={value}"
        return random.choice((assignment, f"{name} by {_spaced(field.name)} {value}"))
    if known:
        field = random.choice([field for field in known if field.required] or list(known))
        return random.choice((f"{name} by {_spaced(field.name)}", f"{name} for this {_spaced(field.name)}"))
    return ""


def _values(field: SchemaField) -> list[str]:
    candidates = (*field.choices, field.default)
    return [value for value in candidates if isinstance(value, str) and 0 < len(value) <= _MAX_VALUE]


def _spaced(name: str) -> str:
    return " ".join(split_words(name)).lower() or name
