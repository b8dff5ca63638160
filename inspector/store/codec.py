"""Encodes events as JSON text and decodes them.

The text is always ASCII and strict JSON: lone surrogates and NUL are escaped, and numbers that JSON lacks
(infinities, NaN) are tagged, so that SQLite's own JSON functions can read every row.
"""

import json
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from msgspec import convert, field, json as fast_json, to_builtins
from msgspec.structs import astuple

from inspector.core.events import EVENT_TYPES, Event, SearchPerformed
from inspector.core.ranking import Hit, Part, Score, SearchReport

_T = TypeVar("_T")
_NUMBER_TAG = "$number"
# By kind, fields that older versions stored under another name: old name to new.
_RENAMED = {"request": {"turn": "call"}, "response": {"turn": "call"}}


class UnreadableEvent(Exception):
    """A stored event that this version cannot read: its kind is unknown or its payload does not fit."""


def encode(value: object) -> str:
    """Encode a Struct, or several, as one line of JSON; an event without its kind."""
    return encode_value(to_builtins(value, enc_hook=str))


def encode_value(value: object) -> str:
    """Encode any JSON value as one line."""
    try:
        text = _dumps(value)
    except ValueError:
        return _dumps(_tagged(value))
    return _dumps(_tagged(value)) if _NUMBER_TAG in text else text


def decode_value(text: str) -> Any:
    """Decode an encoded value. Raises ValueError or RecursionError for any other text."""
    return json.loads(text, object_hook=_untagged if _NUMBER_TAG in text else None)


class _Score(Score, frozen=True, gc=False):
    parts: tuple[Part, ...] = field(default=(), name="no parts")


class _Hit(Hit, frozen=True, gc=False):
    score: _Score


class _Report(SearchReport, frozen=True, gc=False):
    hits: tuple[_Hit, ...] = ()


class _Search(SearchPerformed, frozen=True):
    report: _Report


def decode(kind: str, payload: str, *, outline: bool = False) -> Event:
    """Decode an event, equal to the one that was encoded. Raises UnreadableEvent.

    The `outline` of a search lacks the parts of its scores, which are most of its text, unless it is one by
    name: they tell whether names alone answered it.

    Fields that a newer version added are ignored; fields that an older one lacked get their defaults, and
    those that it named otherwise are read under their old name.
    """
    if kind not in EVENT_TYPES:
        raise UnreadableEvent(f"the event kind “{kind}” is unknown")
    try:
        if outline and kind == SearchPerformed.kind:
            told = decode_as(payload, _Search)
            if told.report.terms or not told.report.request.tool_names:
                return SearchPerformed(*astuple(told))
        return decode_as(payload, EVENT_TYPES[kind], _RENAMED.get(kind, {}))
    except ValueError as error:
        raise UnreadableEvent(f"a “{kind}” event does not fit this version: {error}") from error


def decode_as(text: str, kind: type[_T], renamed: Mapping[str, str] = MappingProxyType({})) -> _T:
    """Decode what `encode` made; `renamed` has today's names of old fields. Raises ValueError."""
    if _NUMBER_TAG not in text:
        # In one step, in a third of the time. Whatever it refuses is read in two: lone surrogates, deep
        # nesting, fields of older versions.
        try:
            return fast_json.decode(text, type=kind)
        except (ValueError, RecursionError):
            pass
    try:
        return convert(_renamed(decode_value(text), renamed), kind)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if not isinstance(value, dict) or names.keys().isdisjoint(value):
        return value
    return {names.get(name, name): item for name, item in value.items()}


def _dumps(payload: object) -> str:
    return json.dumps(payload, allow_nan=False, separators=(",", ":"), default=str)


def _tagged(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {_NUMBER_TAG: str(value)}
    if isinstance(value, dict):
        inner = {key: _tagged(item) for key, item in value.items()}
        # Data that looks like a tag is wrapped again, so that it is decoded unchanged.
        return {_NUMBER_TAG: [inner[_NUMBER_TAG]]} if inner.keys() == {_NUMBER_TAG} else inner
    if isinstance(value, list | tuple):
        return [_tagged(item) for item in value]
    return value


def _untagged(value: dict[str, Any]) -> Any:
    if value.keys() != {_NUMBER_TAG}:
        return value
    tagged = value[_NUMBER_TAG]
    return {_NUMBER_TAG: tagged[0]} if isinstance(tagged, list) else float(tagged)


def as_column(text: str) -> str:
    """The text as a column can store it: SQLite's text is UTF-8, which has no lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
