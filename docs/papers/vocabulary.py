"""The words of generated catalogs and tasks: things, what is done with them, and where.

They are in JSON files, one a server and four shared ones; each is read and checked once, on use.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from inspector.schema.json_value import JsonObject

# Empty phrases, so that many requests begin and end without one.
_PLAIN = ("",) * 8


class _Part(BaseModel, frozen=True, extra="forbid"):
    """A part of a vocabulary file."""


class Entity(_Part):
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


class Action(_Part):
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


class Domain(_Part):
    """A server's vocabulary. `scope` is what its things belong to, `where` how people say so.

    `located` are the parameters that say where, `usual` the actions that every entity also has.
    """

    server: str
    scope: str
    where: tuple[str, ...]
    located: tuple[str, ...]
    entities: tuple[Entity, ...]
    usual: tuple[str, ...]


class Parameters(_Part):
    """The schemas of parameters, by name.

    `located` say where, `known` belong to actions; `reading` and `writing` tools may have the others.
    """

    located: Mapping[str, JsonObject]
    known: Mapping[str, JsonObject]
    reading: Mapping[str, JsonObject]
    writing: Mapping[str, JsonObject]


class Speech(_Part):
    """What surrounds a request, what it is about, and turns that need no tool (`small_talk`)."""

    openings: tuple[str, ...]
    closings: tuple[str, ...]
    joints: tuple[str, ...]
    topics: tuple[str, ...]
    people: tuple[str, ...]
    times: tuple[str, ...]
    small_talk: tuple[str, ...]


_Made = TypeVar("_Made", bound=_Part)


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


@cache
def domain(server: str) -> Domain:
    """A server's vocabulary. Raises ValueError if its file names an unknown action or parameter."""
    entry = _read(server)
    made = _made(Domain, entry, server)
    named = {name for entity in made.entities for name in entity.actions}.union(made.usual)
    unknown = sorted(named - actions().keys()) + sorted(set(made.located) - parameters().located.keys())
    if unknown:
        raise ValueError(f"{server}: no such action or parameter: {', '.join(unknown)}")
    return made


@cache
def actions() -> Mapping[str, Action]:
    """What can be done with things, by name. Requests use other words than the tool's own text."""
    return {name: _made(Action, entry, f"action {name}") for name, entry in _read("action").items()}


@cache
def parameters() -> Parameters:
    """Parameters that tools of every kind have, with their descriptions."""
    entry = _read("parameter")
    common = entry.pop("any")
    optional = {name: {**common, **entry[name]} for name in ("reading", "writing")}
    return _made(Parameters, {**entry, **optional}, "parameter")


@cache
def speech() -> Speech:
    """How people phrase requests."""
    entry = _read("speech")
    around = {name: [*_PLAIN, *entry[name]] for name in ("openings", "closings")}
    return _made(Speech, {**entry, **around}, "speech")


def _read(name: str) -> dict[str, Any]:
    text = (files("docs.papers") / "words" / f"{name}.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def _made(kind: type[_Made], entry: Mapping[str, Any], place: str) -> _Made:
    """The entry as that part. Raises ValueError for anything that does not fit."""
    try:
        return kind.model_validate(entry)
    except ValidationError as error:
        raise ValueError(f"{place}: {error}") from error
