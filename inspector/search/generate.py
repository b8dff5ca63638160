"""Generates an evaluation set from a catalog, without a language model.

The requests come from the tools' own texts, so they are easier than what people ask: they show whether a
ranker broke, not how good it is. The impossible requests are guesses (see `impossible`), and a paraphrase may
also fit another tool, so a person has to review the result.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random

from inspector.access.reach import EXACT, IMPOSSIBLE, PARAPHRASE, EvalCase
from inspector.core.tool import Tool
from inspector.schema.schema import SchemaField, fields
from inspector.search.document import MAX_INDEXED, key_of
from inspector.search.vocabulary import split_words, stem, terms

# A small table of synonyms for words that are common in tool names.

_TABLE: Mapping[str, tuple[str, ...]] = {
    # Verbs.
    "add": ("put in", "attach"),
    "analyze": ("look into", "examine"),
    "archive": ("put away",),
    "calculate": ("work out", "figure out"),
    "cancel": ("call off",),
    "change": ("alter", "adjust"),
    "check": ("look at", "see whether"),
    "close": ("shut", "finish"),
    "compare": ("tell apart", "put side by side"),
    "convert": ("turn", "transform"),
    "copy": ("duplicate",),
    "create": ("make", "add"),
    "delete": ("remove", "get rid of"),
    "describe": ("explain", "tell me about"),
    "download": ("save locally",),
    "edit": ("change", "revise"),
    "evaluate": ("work out",),
    "execute": ("run",),
    "export": ("save out",),
    "fetch": ("get me", "retrieve"),
    "find": ("look for", "where is"),
    "generate": ("make", "produce"),
    "get": ("what is", "tell me"),
    "import": ("bring in", "load"),
    "install": ("set up",),
    "list": ("show", "which are"),
    "lookup": ("find",),
    "merge": ("combine", "join"),
    "move": ("relocate", "shift"),
    "open": ("start", "bring up"),
    "publish": ("make public", "release"),
    "query": ("ask",),
    "read": ("open", "show me"),
    "remove": ("delete", "take away"),
    "rename": ("give another name to",),
    "reply": ("answer",),
    "resolve": ("settle",),
    "retrieve": ("fetch", "give me"),
    "return": ("show", "give me"),
    "run": ("execute", "start"),
    "save": ("keep", "store"),
    "schedule": ("plan", "arrange"),
    "search": ("look for", "find"),
    "send": ("write", "pass on"),
    "set": ("change", "put"),
    "share": ("give access to",),
    "show": ("display", "let me see"),
    "start": ("begin", "launch"),
    "stop": ("halt", "end"),
    "summarize": ("sum up",),
    "translate": ("say in another language",),
    "update": ("change", "modify"),
    "upload": ("send up", "put online"),
    "validate": ("check",),
    "write": ("put down",),
    # Nouns.
    "alert": ("warning",),
    "appointment": ("meeting",),
    "article": ("text",),
    "comment": ("remark",),
    "customer": ("client", "buyer"),
    "directory": ("folder",),
    "document": ("file", "paper"),
    "email": ("mail",),
    "error": ("failure",),
    "event": ("appointment", "happening"),
    "folder": ("directory",),
    "forecast": ("outlook", "prediction"),
    "image": ("picture", "photo"),
    "invoice": ("bill",),
    "issue": ("problem", "ticket"),
    "job": ("task",),
    "location": ("place",),
    "log": ("record",),
    "message": ("text",),
    "order": ("purchase",),
    "price": ("cost",),
    "product": ("article", "item"),
    "repository": ("code base",),
    "task": ("to-do", "piece of work"),
    "user": ("person", "member"),
    "website": ("site", "web page"),
}


def synonyms(word: str) -> tuple[str, ...]:
    """Synonyms of a word in any of its forms; empty if the table has none."""
    return _by_stem().get(stem(word.lower()), ())


@cache
def _by_stem() -> Mapping[str, tuple[str, ...]]:
    return {stem(word): others for word, others in _TABLE.items()}


# Requests that hardly any catalog can serve, and those that look impossible for a given one.

# A word in a larger share of the tools belongs to the catalog's subject.
MAX_SHARE = 0.01

REQUESTS = (
    "Book me a haircut with my usual barber",
    "Order a margherita pizza for delivery",
    "Water the tomatoes in the greenhouse",
    "Feed the cat at noon",
    "Walk the dog around the block",
    "Tune my guitar to drop D",
    "Fold the laundry",
    "Iron my shirts",
    "Vacuum under the sofa",
    "Sharpen the kitchen knives",
    "Bake a sourdough loaf",
    "Brew me an espresso",
    "Peel two kilos of potatoes",
    "Mow the lawn",
    "Shovel the snow off the driveway",
    "Trim the hedge",
    "Prune the apple tree",
    "Unclog the bathtub drain",
    "Replace the flat tyre of my bicycle",
    "Change the engine oil of my car",
    "Wash the windscreen",
    "Jump-start the motorcycle",
    "Refuel the boat",
    "Land the helicopter on the roof",
    "Launch a satellite into orbit",
    "Dock with the space station",
    "Predict tonight's lottery numbers",
    "Read my palm and tell my fortune",
    "Cast a horoscope for a Sagittarius",
    "Interpret the dream I had about teeth",
    "Hypnotise me so that I quit smoking",
    "Diagnose the rash on my elbow",
    "Prescribe antibiotics for my sore throat",
    "Fill the cavity in my molar",
    "Measure my blood pressure",
    "Donate blood at the clinic",
    "Knit a woollen scarf",
    "Sew a button on my coat",
    "Dye my hair purple",
    "Paint the bedroom ceiling white",
    "Assemble the wardrobe",
    "Hang the mirror above the fireplace",
    "Chop firewood for the stove",
    "Sweep the chimney",
    "Catch a trout for dinner",
    "Shear the sheep",
    "Milk the cows",
    "Harvest the barley",
    "Ferment cabbage into sauerkraut",
    "Distil whisky from malt",
    "Teach my toddler to swim",
    "Babysit the twins tomorrow evening",
    "Officiate our wedding ceremony",
    "Testify for me in court",
    "Forge my neighbour's signature",
    "Pick the lock of the garage",
    "Play the cello at the funeral",
    "Choreograph a tango for two",
    "Referee the football final",
    "Climb Kilimanjaro in my place",
    "Translate these hieroglyphs carved in the tomb",
    "Bury the treasure on the island",
)


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


@dataclass(frozen=True, slots=True)
class _Twins:
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
        by_words.setdefault(_name_words(tool.name), []).append(tool)
    return [_Twins(words, tuple(same)) for words, same in by_words.items()]


def _name_words(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in split_words(name)) or (name,)


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
