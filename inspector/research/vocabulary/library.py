"""Reads the vocabularies from the JSON files beside this module; each is read and checked once, on use."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar, get_type_hints

from inspector.research.vocabulary.word import Action, Domain, Entity, Parameters, Speech

Made = TypeVar("Made")
_LISTS = tuple[str, ...]
# Empty phrases, so that many requests begin and end without one.
_PLAIN = ("",) * 8


@cache
def domain(server: str) -> Domain:
    """A server's vocabulary. Raises ValueError if its file names an unknown action or parameter."""
    entry = _read(server)
    entities = tuple(_made(Entity, one, f"{server}: entity") for one in entry.pop("entities"))
    made = _made(Domain, {**entry, "entities": entities}, server)
    named = {name for entity in entities for name in entity.actions}.union(made.usual)
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
    text = (files(__package__) / f"{name}.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def _made(kind: type[Made], entry: Mapping[str, Any], place: str) -> Made:
    """The entry as the dataclass, with lists as tuples. Raises ValueError for anything that does not fit."""
    hints = get_type_hints(kind)
    for name, value in entry.items():
        if not _fits(value, hints.get(name)):
            raise ValueError(f"{place}: {name} cannot be {value!r:.80}")
    try:
        return kind(
            **{key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
        )
    except TypeError as error:
        raise ValueError(f"{place}: {error}") from error


def _fits(value: object, hint: Any) -> bool:
    if hint == _LISTS:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return isinstance(value, hint) if hint in (str, bool) else hint is not None
