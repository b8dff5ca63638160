"""What a tool's author could add to its description so that a query finds it: words of the query alone."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import combinations, groupby

from inspector.search.query.literal import typed
from inspector.search.vocabulary import STOP_WORDS, split_words, terms

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


def as_written(query: str, sought: Iterable[str]) -> tuple[str, ...]:
    """Terms as the query has them, not stemmed; a term that it does not have stays as it is."""
    written: dict[str, str] = {}
    for word in split_words(query):
        written.setdefault(terms(word)[0], word.lower())
    return tuple(written.get(term, term) for term in sought)


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


def first(text: str, description: str) -> str:
    """The description with a sentence before it."""
    return f"{text} {description.lstrip()}".rstrip()


def last(text: str, description: str) -> str:
    """The description with a sentence after it, which a sentence without an end gets first."""
    own = description.rstrip()
    if not own:
        return text
    return f"{own} {text}" if own[-1] in '.!?:;"”)' else f"{own}. {text}"
