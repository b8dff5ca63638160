"""The parts of a vocabulary: things, what is done with them, and where."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from inspector.schema.json_value import JsonObject


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing that tools work on.

    `said` is what people call it in requests, `about` what a description says about it, `objects` how people
    refer to one of them, `fields` what can be set, `actions` what is done with it, most common first.
    """

    name: str
    said: tuple[str, ...]
    about: str
    objects: tuple[str, ...]
    fields: tuple[str, ...]
    actions: tuple[str, ...]

    @property
    def plural(self) -> str:
        return plural(self.name)


@dataclass(frozen=True, slots=True)
class Action:
    """Something that is done with an entity.

    `name` is the tool's name, with {one} or {many}; `sentences` open its description, and `notes` may follow;
    `queries` are how people ask for it; `parameters` are always present. An action that `writes` needs a
    scope.
    """

    name: str
    sentences: tuple[str, ...]
    queries: tuple[str, ...]
    parameters: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    writes: bool = False
    sets_fields: bool = False


@dataclass(frozen=True, slots=True)
class Domain:
    """A server's vocabulary. `scope` is what its things belong to, `where` how people say so.

    `located` are the parameters that say where, `usual` the actions that every entity also has.
    """

    server: str
    scope: str
    where: tuple[str, ...]
    located: tuple[str, ...]
    entities: tuple[Entity, ...]
    usual: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Parameters:
    """The schemas of parameters, by name.

    `located` say where, `known` belong to actions; `reading` and `writing` tools may have the others.
    """

    located: Mapping[str, JsonObject]
    known: Mapping[str, JsonObject]
    reading: Mapping[str, JsonObject]
    writing: Mapping[str, JsonObject]


@dataclass(frozen=True, slots=True)
class Speech:
    """What surrounds a request, what it is about, and turns that need no tool (`small_talk`)."""

    openings: tuple[str, ...]
    closings: tuple[str, ...]
    joints: tuple[str, ...]
    topics: tuple[str, ...]
    people: tuple[str, ...]
    times: tuple[str, ...]
    small_talk: tuple[str, ...]


def with_article(sentence: str) -> str:
    """The sentence with `an` instead of `a` before a vowel sound."""
    return _BEFORE_VOWEL.sub(r"\1n", sentence)


_BEFORE_VOWEL = re.compile(r"\b([Aa])(?= [aeio](?!ne\b)| u(?!s|ni|r))")


def plural(noun: str) -> str:
    """The English plural of a noun, formed on its last word before a preposition."""
    head = _AFTER_HEAD.split(noun, maxsplit=1)[0]
    rest = noun[len(head) :]
    for ending, replacement in _ENDINGS.items():
        if head.endswith(ending):
            return head.removesuffix(ending) + replacement + rest
    return f"{head}s{rest}"


_AFTER_HEAD = re.compile(
    r" (?=(?:of|for|in|on|to|under|up|with|below|beside|inside|somebody|called|that|from|per)\b)"
)
_ENDINGS: Mapping[str, str] = {
    "series": "series",
    "ay": "ays",
    "ey": "eys",
    "y": "ies",
    "ch": "ches",
    "sh": "shes",
    "ss": "sses",
    "us": "uses",
    "as": "ases",
    "x": "xes",
    "person": "people",
    "s": "s",
}
