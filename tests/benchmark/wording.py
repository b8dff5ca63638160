"""One request in several wordings, which must not change whether it can be served."""

import random
from collections.abc import Callable, Mapping, Sequence

# About as many words of small talk around a request as a chatty message has.
AROUND = 95


def as_it_is(query: str, _talk: Sequence[str]) -> str:
    return query


def polite(query: str, _talk: Sequence[str]) -> str:
    plain = query.rstrip(".?! ")
    plain = plain[:1].lower() + plain[1:] if not plain[:2].isupper() else plain
    return f"could you please {plain} for me, thanks a lot, it is urgent"


def courteous(query: str, _talk: Sequence[str]) -> str:
    return (
        f"Hello there! I hope you are doing well. {query.rstrip('.?! ')}, if you don't mind. "
        "Many thanks in advance and have a great day!"
    )


def long(query: str, talk: Sequence[str]) -> str:
    """The request somewhere inside small talk, the same for the same request."""
    source = random.Random(query)
    sentences: list[str] = []
    while sum(len(sentence.split()) for sentence in sentences) < AROUND:
        sentences.append(_sentence(source.choice(talk)))
    sentences.insert(source.randint(0, len(sentences)), _sentence(query))
    return " ".join(sentences)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


WORDINGS: Mapping[str, Callable[[str, Sequence[str]], str]] = {
    "as it is": as_it_is,
    "polite": polite,
    "courteous": courteous,
    "in small talk": long,
}
