"""A query as rankers read it: its wordings, with literals and without, its clauses, its steps."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from inspector.search.index.literal import typed
from inspector.search.index.vocabulary import (
    MAX_QUERY_LENGTH,
    STOP_WORDS,
    VERBS,
    split_words,
    stem,
    word_lines,
)

STEP_VERBS = VERBS | frozenset(
    re.findall(
        r"\w+",
        """
        answer arrange ask attach begin book bring change check choose cut drop email ensure fill
        fix give hand install keep leave let log look mail make mark message note order pay pick
        print prepare put remind report return select show shut sort store switch take tell text
        turn use wait zip
        """,
    )
)
# “… and send …”, “…, then send …”: a step of its own if a verb follows.
_AND = re.compile(
    r",?\s+(?:and(?:\s+(?:then|also|finally|please))?|then|also|after\s+that,?|finally)\s+(?=([a-z]+))|,\s+(?=([a-z]+)\b)",
    re.IGNORECASE,
)


def further_steps(sentence: str) -> Iterator[re.Match[str]]:
    """What joins a further step to the one before it: all up to its verb."""
    return (match for match in _AND.finditer(sentence) if (match[1] or match[2]).lower() in STEP_VERBS)


# Where something is asked, what is merely said beside it is not looked for. These are rules of thumb for
# English: a subject and its verb make a statement, unless the sentence asks, or goes on with an imperative
# (“our edits are done, publish the site”).
_ASKS = re.compile(
    r"\?|\b(?:could|can|would|will)\s+you\b|\bplease\b|\b(?:i|we)(?:[’']d|\s+would)\s+like\b"
    r"|\b(?:i|we)\s+(?:\w+\s+)?(?:need|want|wish)\b"
    r"|\blooking\s+for\b|\blet\s+me\s+know\b|\btell\s+me\b|\bhelp\s+me\b",
    re.IGNORECASE,
)
# A subject that nobody searches for, after any number of interjections.
_SUBJECT = re.compile(
    r"""\W*(?:(?:so|well|okay|ok|oh|ah|hm+|wow|yes|no|yeah|fine|sure|anyway|honestly|sometimes|then|now|just|and
          |but|maybe|again|at\s+least|to\s+be\s+honest|in\s+my\s+opinion|of\s+course)\W+)*
    (?: (?:i|we|you|it|there|he|she|they|that|this)(?:[’'](?:m|ve|ll|d|re|s))?
      | my | our | the | his | her | their | these | those
      | (?:no|every|some|any)(?:body|one|thing) | nothing | people | what\s+an? | not
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_QUESTION_WORD = re.compile(
    r"\W*(?:what|which|who|whom|whose|where|when|why|how|is|are|was|were|do|does|did|has|have|had|can|could"
    r"|may|should|will|would|am|any|don|let)\b",
    re.IGNORECASE,
)
_FINITE_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|did|does|am)(?:n[’']t)?\b|[’'](?:re|ve|ll|m)\b"
    r"|\b(?:don|won|can|couldn|wouldn)[’']t\b",
    re.IGNORECASE,
)
# What comes after one of these, or after a comma, says more of a thing that is asked for.
_SUBORDINATE = re.compile(
    r"\b(?:that|which|who|whom|whose|what|where|when|whenever|wherever|why|how|if|whether|there|until|once"
    r"|because|since|as|while|unless)\b|,(?!$)",
    re.IGNORECASE,
)
_AFTER_COLON = re.compile(r"(?:\s[-–—]|:)\s+([a-z]+)", re.IGNORECASE)
_FIRST_WORD = re.compile(r"\W*(\w+)")


def is_statement(sentence: str) -> bool:
    """Whether a sentence says something and asks for nothing. A few words without a verb are a request."""
    if _ASKS.search(sentence) or _has_imperative(sentence):
        return False
    return bool(_SUBJECT.match(sentence)) or _begins_with_subject_and_verb(sentence)


def _has_imperative(sentence: str) -> bool:
    """Whether one follows what is said first."""
    after_colon = (match[1].lower() for match in _AFTER_COLON.finditer(sentence))
    return any(further_steps(sentence)) or any(word in STEP_VERBS for word in after_colon)


def _begins_with_subject_and_verb(sentence: str) -> bool:
    first = _FIRST_WORD.match(sentence)
    if first is None or first[1].lower() in STEP_VERBS or _QUESTION_WORD.match(sentence):
        return False
    verb = _FINITE_VERB.search(sentence)
    return verb is not None and not _SUBORDINATE.search(sentence[: verb.start()].strip())


# A clause depends on nothing around it. What is judged clause by clause, as whether any tool fits, therefore
# cannot be changed by what else is said.
_COURTESY = re.compile(
    r"""\b(?:
      (?:would|do)\s+you\s+mind(?:\s+helping(?:\s+me)?(?:\s+(?:to|with|out))?)?
    | (?:could|can|would|will)\s+you(?:\s+(?:please|kindly|maybe|perhaps|possibly|also))*
        (?:\s+be\s+so\s+kind\s+as\s+to)?(?:\s+help\s+me(?:\s+(?:to|with|out))?)?
    | please | kindly | pls | (?:please\s+)?help\s+(?:me|us)(?:\s+(?:to|with|out))?
    | if\s+(?:it'?s\s+|it\s+is\s+|that'?s\s+)?(?:possible|you\s+(?:can|could|have\s+time|don[’']?t\s+mind))
    | (?:i|we)(?:[’']d|\s+would)\s+(?:also\s+|really\s+)?(?:like|love|appreciate)
        (?:\s+(?:you\s+)?to|\s+it\s+if\s+you\s+could)?
    | (?:i|we)\s+(?:also\s+|really\s+|just\s+)?(?:need|want|wish)(?:\s+you)?(?:\s+to)?
    | i(?:[’']m|\s+am)\s+(?:trying|looking|hoping|wondering)\s+(?:to|for|if\s+you\s+(?:could|can))
    | after\s+that | let\s+me\s+know | tell\s+me | for\s+(?:me|us)
    | thank(?:s|\s+you)(?:\s+(?:a\s+lot|so\s+much|very\s+much|in\s+advance|again|a\s+million))?
    | many\s+thanks(?:\s+in\s+advance)? | cheers | (?:much|greatly)\s+appreciated
    | (?:hi|hey|hello)(?:\s+there)? | good\s+(?:morning|afternoon|evening|day)
    | it(?:[’']s|\s+is)\s+(?:really\s+|very\s+|quite\s+|rather\s+)?urgent
    | as\s+soon\s+as\s+possible | asap | right\s+away | no\s+rush | take\s+your\s+time
    | when(?:ever)?\s+you\s+(?:get|have)\s+(?:a\s+)?(?:chance|time|moment|minute)
    | sorry(?:\s+to\s+bother\s+you)? | (?:best|kind)\s+regards
    | (?:and\s+)?have\s+a\s+(?:nice|good|great)\s+(?:day|weekend|evening|one)
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_BLANKS = re.compile(r"[^\S\n]+")
_SENTENCE_END = re.compile(r"(?<=[.!?;])[\"”’')]*\s+|\n+")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|mr|mrs|ms|dr|st|no|approx|[a-z])\.$", re.IGNORECASE)
_EDGES = " \t,;:.!?-–—\"'“”‘’()"


class Clause(Struct, frozen=True):
    """One sentence without courtesies. A statement asks for nothing."""

    text: str
    is_statement: bool = False


def clauses(text: str) -> tuple[Clause, ...]:
    """The distinct sentences in order; what is only courtesy or stop words is none."""
    return _distinct(_sentences(text))


def steps(text: str) -> tuple[str, ...]:
    """What is asked for, one thing after the other: sentences split where another verb follows."""
    found = _distinct(part for sentence in _sentences(text) for part in _parts(sentence))
    return tuple(clause.text for clause in found if not clause.is_statement)


@lru_cache(maxsize=256)
def asking(text: str) -> str:
    """What is left of a text without its mere statements; "" if it asks for nothing."""
    parts = [part for sentence in _sentences(text) for part in _parts(sentence)]
    asked = [part for part in parts if not is_statement(part)]
    return text if len(asked) == len(parts) else " ".join(asked)


def _distinct(parts: Iterable[str]) -> tuple[Clause, ...]:
    """What the parts say, each thing once, without greetings, thanks, and forms of asking."""
    found: dict[str, Clause] = {}
    for part in parts:
        said = " ".join(_COURTESY.sub(" ", part).split()).strip(_EDGES)
        if any(word.lower() not in STOP_WORDS for word in split_words(said)):
            found.setdefault(said, Clause(said, is_statement(part)))
    return tuple(found.values())


def _parts(sentence: str) -> Iterator[str]:
    """A sentence split before each verb that begins another step."""
    start = 0
    for match in further_steps(sentence):
        yield sentence[start : match.start()]
        start = match.end()
    yield sentence[start:]


def _sentences(text: str) -> Iterator[str]:
    # A run of blanks would be tried from each of its places.
    text = _BLANKS.sub(" ", text)
    start = 0
    for match in _SENTENCE_END.finditer(text):
        sentence = text[start : match.start()]
        if not _ABBREVIATION.search(sentence):
            yield sentence
            start = match.end()
    yield text[start:]


# A request to delete is not served by a tool that lists, however much the two have in common. A verb in
# several groups (“save”: make or copy) agrees with either.
_GROUPS = word_lines("verb_groups")


# What people say for an action without its verb.
_SAID = (
    (
        r"\bmoney\s+back\b|\breimburse|\bpay\w*\s+(?:\w+\s+){1,5}back\b|\bgiv\w+\s+\w+\s+(?:their|his|her)\s+money\b",
        "refund",
    ),
    (
        r"\b(?:get|got)\s+rid\s+of\b|\bthrow\w*\s+(?:\w+\s+){0,3}(?:away|out)\b"
        r"|\btak\w+\s+(?:\w+\s+){0,5}(?:down|out|off)\b|\bcan\s+go\b|\bshut\w*\s+(?:\w+\s+){0,3}down\b",
        "delete",
    ),
    (
        r"\b(?:call|called)\s+off\b|\bno\s+longer\s+(?:want|need|us)"
        r"|(?:\bnot|n[’']t|\bno(?:body|\s+one))\s+(?:want|need|us)\w*\b.*\bany\s?(?:more|longer)\b",
        "cancel",
    ),
    (r"\blet\s+\w+(?:\s+\w+)?\s+in\b|\block\w*\s+out\b", "unlock"),
)


@lru_cache(maxsize=1)
def _by_stem() -> dict[str, int]:
    bits: dict[str, int] = {}
    for number, group in enumerate(_GROUPS):
        for verb in group.split():
            bits[stem(verb)] = bits.get(stem(verb), 0) | 1 << number
    return bits


def actions(words: Iterable[str]) -> int:
    """The groups of all verbs among the words, one bit each."""
    found = 0
    for word in words:
        found |= _by_stem().get(stem(word.lower()), 0)
    return found


@lru_cache(maxsize=65_536)
def offered(tool_name: str) -> int:
    """The groups of all verbs in a tool's name."""
    return actions(split_words(tool_name))


def asked_action(text: str) -> int:
    """The groups of the first verb of a text; 0 if it has none."""
    bits = [actions([word]) for word in split_words(text)]
    return next(filter(None, bits), 0)


# What asks for the opposite, however much it names what was done.
_UNDO = re.compile(r"\b(?:un(?:do|delete|archive)|revert|restor|recover)", re.IGNORECASE)


def asks_for(text: str, tool_name: str, verb: str) -> bool:
    """Whether a text names, or paraphrases, what a tool does by its verb.

    The name's other words are what it is done to, and ask for nothing: whoever mentions an order does not ask
    to refund one.
    """
    wanted, group = stem(verb), actions([verb])
    words, said = _done_by(text)
    asked = {word for word, done in words.items() if word == wanted or done & group}
    does = bool(said & group) or wanted in asked or not asked.issubset(_stems(tool_name) if asked else ())
    return does and not _UNDO.search(text)


@lru_cache(maxsize=65_536)
def _stems(tool_name: str) -> frozenset[str]:
    return frozenset(stem(word.lower()) for word in split_words(tool_name))


@lru_cache(maxsize=256)
def _done_by(text: str) -> tuple[Mapping[str, int], int]:
    """The groups of verbs of each stem of a text, and those that it says without their verb."""
    words = {stem(word.lower()): actions([word]) for word in split_words(text)}
    return words, actions(verb for pattern, verb in _SAID if re.search(pattern, text, re.IGNORECASE))


MAX_STEPS = 8
# From so many steps on their mean ranks as well as the meaning of the whole text, of which a model reads only
# the beginning and which takes longest to embed.
MANY_STEPS = 5


class ParsedQuery(Struct, frozen=True):
    """`wordings` are the query as it is and, if it has literals, without them.

    `clauses` are those of both that ask for something, or all where none does; `steps`, at least two and at
    most MAX_STEPS, are those of the last wording. A query of one step has none.
    """

    wordings: tuple[str, ...]
    clauses: tuple[Clause, ...]
    steps: tuple[str, ...] = ()


@lru_cache(maxsize=256)
def parse(query: str) -> ParsedQuery:
    """Read the first MAX_QUERY_LENGTH characters of a query."""
    query = query[:MAX_QUERY_LENGTH]
    without = typed(query)
    has_literals = bool(without) and without != " ".join(query.split())
    wordings = (query, without) if has_literals else (query,)
    said = tuple(dict.fromkeys(clause for wording in wordings for clause in clauses(wording)))
    asking = tuple(clause for clause in said if not clause.is_statement)
    asked = steps(wordings[-1])
    several = tuple(_at_most(MAX_STEPS, asked)) if len(asked) > 1 else ()
    return ParsedQuery(wordings, asking or said or (Clause(query),), several)


def many_steps(text: str) -> tuple[str, ...]:
    """The steps of a text of many, whose meanings make up its own; none of any other text."""
    found = parse(text).steps
    return found if len(found) >= MANY_STEPS else ()


def _at_most(most: int, steps: Sequence[str]) -> Sequence[str]:
    """The steps, the shortest neighbors joined until there are few enough."""
    joined = list(steps)
    while len(joined) > most:
        pairs = range(len(joined) - 1)
        first = min(pairs, key=lambda i: len(joined[i]) + len(joined[i + 1]))
        joined[first : first + 2] = [f"{joined[first]}; {joined[first + 1]}"]
    return joined
