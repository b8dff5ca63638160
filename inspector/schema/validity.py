"""What is wrong with a JSON Schema itself, by its place.

By the meta-schemas of JSON Schema 2020-12 (https://json-schema.org/draft/2020-12/schema) and of draft-07,
which counts where `$schema` names it or an older one; and what no meta-schema sees: references that lead
nowhere, required names that nothing declares, values that their own schema refuses, and patterns whose form
is wrong. That a pattern takes what it is meant to, or ever ends, is not looked at: none is run.
Schemas are untrusted: no shape raises an error, and the work is bounded.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache, reduce
from itertools import islice
from typing import Literal

from msgspec import Struct

from inspector.schema.fit import Fitting, Misfit
from inspector.schema.json_value import JsonObject, as_object, shown, step
from inspector.schema.reading import DEEPEST, TYPES, TooLarge, Work
from inspector.schema.schema import pointed

_TOKEN = re.compile(
    r"(?P<set>\[(?:\\.|[^\]\\])*\])|(?P<open>\((?:\?(?:[:=!]|<[=!]|<(?:[^\W\d]|\$)[\w$]*>))?)|(?P<close>\))"
    r"|(?P<often>(?:[*+?]|\{(\d+)(?:,(\d*))?\})\??)|(?P<edge>[|^$]|\\[bB])|(?P<escape>\\.)|(?P<one>[^\\\[])",
    re.DOTALL,
)
# What may stand after a \ with the flag u.
_ESCAPE = (
    r"\\(?:[dDsSwWfnrtv0-9^$\\.*+?()\[\]{}|/]|k(?=<)|c[A-Za-z]|x[\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|u\{[\dA-Fa-f]+\}"
    r"|[pP]\{[\w=]+\})"
)
_WITH_U = re.compile(_ESCAPE)
_MEMBER = re.compile(rf"{_ESCAPE}|\\.|.", re.DOTALL)
_CLASS = re.compile(r"\\[dDsSwWpP]")
_AHEAD, _BEHIND = ("(?=", "(?!"), ("(?<=", "(?<!")
# A longer one is not looked at.
_LONGEST = 2_000


@lru_cache(1_000)
def pattern_flaw(text: str, *, unicode: bool = False) -> str:
    """What is wrong with a pattern, "" if nothing is found; `unicode` is the flag u."""
    opened: list[str] = []
    place, can_repeat = 0, False
    while place < len(text) <= _LONGEST:
        found = _TOKEN.match(text, place)
        if found is None:
            return "a [ is not closed" if text[place] == "[" else "nothing follows a \\"
        kind, said = found.lastgroup, found[0]
        if kind == "open" and said == "(" and text.startswith("?", found.end()):
            return f"no group begins with {text[place : place + 3]}"
        if kind == "close" and not opened:
            return "a ) closes nothing"
        if kind == "often" and not can_repeat:
            return f"{said} has nothing to repeat"
        if flaw := _inner_flaw(found) or (unicode and _flaw_with_u(text, found)):
            return flaw
        begun = opened.pop() if kind == "close" else ""
        opened += [said] if kind == "open" else []
        no_repeats = (*_BEHIND, *_AHEAD) if unicode else _BEHIND
        can_repeat = kind in ("set", "one", "escape") or (kind == "close" and begun not in no_repeats)
        whole = _WITH_U.match(text, place) if unicode and kind == "escape" else None
        place = (whole or found).end()
    return "a ( is not closed" if opened else ""


def _inner_flaw(found: re.Match[str]) -> str:
    """What is wrong inside of a set, or with how often something is repeated."""
    if found["often"] and found[6] and int(found[6]) < int(found[5]):
        return f"{found[0]} is out of order"
    for first, last in _ranges(found["set"] or ""):
        if len(first) == len(last) == 1 and first > last and last.isascii():
            return f"{first}-{last} is out of order"
    return ""


def _flaw_with_u(text: str, found: re.Match[str]) -> str:
    """What is wrong with a part of a pattern only with the flag u."""
    if found["one"] and found[0] in "{}]":
        return f"{found[0]} needs a \\ before it"
    if found["escape"] and _WITH_U.match(text, found.start()) is None:
        return f"{found[0]} means nothing"
    for part in _MEMBER.findall(found["set"] or ""):
        if part[0] == "\\" and part not in ("\\-", "\\b") and not _WITH_U.fullmatch(part):
            return f"{part} means nothing"
    for first, last in _ranges(found["set"] or ""):
        if _CLASS.match(first) or _CLASS.match(last):
            return f"{first}-{last} is no range"
    return ""


def _ranges(members: str) -> list[tuple[str, str]]:
    """The ranges of a set."""
    parts = _MEMBER.findall(members[1:-1].removeprefix("^"))
    found, place = [], 0
    while place + 2 < len(parts):
        is_range = parts[place + 1] == "-"
        found += [(parts[place], parts[place + 2])] if is_range else []
        place += 3 if is_range else 1
    return found


FaultKind = Literal["keyword", "root", "reference", "required", "value", "pattern", "size"]
"""A keyword that the meta-schema refuses, a root of the wrong type, a reference, a required name, a value
such as a default, a pattern; `size` is a schema of which only the beginning was read."""


class SchemaFault(Struct, frozen=True):
    """Something wrong at a place of a schema, "" for the schema itself; `says` is a sentence with the place.

    One that `is_hint` leaves a schema that is valid and can be met, though hardly as its author meant it.
    """

    place: str
    says: str
    kind: FaultKind
    is_hint: bool = False


MOST_FAULTS = 50
_MOST_WORK = 50_000
_ANY_RESULT_SINCE = "2026-07-28"


def faults(schema: object, era: str, *, is_output: bool = False) -> tuple[SchemaFault, ...]:
    """What is wrong with the schema of a tool's arguments, or of its result; the first MOST_FAULTS.

    `era` is the connection's, or its protocol version: from 2026-07-28 on a result may be of any type, before
    only an object (outputSchema in the schema.ts of both).
    """
    any_type = is_output and era[:1].isdigit() and era >= _ANY_RESULT_SINCE
    return tuple(islice(_found(schema, any_type=any_type), MOST_FAULTS))


def _found(schema: object, *, any_type: bool) -> Iterator[SchemaFault]:
    if not isinstance(schema, Mapping):
        yield SchemaFault("", f"the schema is {shown(schema)}, not an object", "root")
        return
    if not any_type and "type" not in schema:
        yield SchemaFault("type", 'type is missing, which has to be "object"', "root")
    elif not any_type and schema["type"] != "object":
        yield SchemaFault("type", f'type is {shown(schema["type"])}, not "object"', "root")
    try:
        yield from _Check(schema).found()
    except TooLarge:
        yield SchemaFault("", "the schema is too large: only its beginning was read", "size", is_hint=True)


_TEXT, _FLAG, _NUMBER, _ARRAY = ({"type": kind} for kind in ("string", "boolean", "number", "array"))
_COUNT = {"type": "integer", "minimum": 0}
_NAMES = {"type": "array", "items": _TEXT, "uniqueItems": True}
_TYPE = {"type": "string", "enum": sorted(TYPES)}
_SCHEMA, _BY_NAME, _SCHEMAS = "schema", "schemas by name", "a list of schemas"
_KEYWORDS: dict[str, JsonObject | str] = {
    "type": {"anyOf": [_TYPE, {"type": "array", "items": _TYPE, "minItems": 1, "uniqueItems": True}]},
    "multipleOf": {"type": "number", "exclusiveMinimum": 0},
    "required": _NAMES,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _NUMBER),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties"), _COUNT),
    "maxProperties": _COUNT,
    **dict.fromkeys(("enum", "examples"), _ARRAY),
    **dict.fromkeys(("uniqueItems", "readOnly"), _FLAG),
    **dict.fromkeys(("title", "description", "format", "pattern", "$comment", "$id", "$schema"), _TEXT),
    **dict.fromkeys(("$ref", "contentEncoding", "contentMediaType"), _TEXT),
    **dict.fromkeys(("items", "contains", "additionalProperties", "propertyNames", "not"), _SCHEMA),
    **dict.fromkeys(("if", "then", "else"), _SCHEMA),
    **dict.fromkeys(("properties", "patternProperties", "definitions", "dependencies"), _BY_NAME),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), _SCHEMAS),
}
_SINCE_2019: dict[str, JsonObject | str] = {
    "dependentRequired": {"type": "object", "additionalProperties": _NAMES},
    **dict.fromkeys(("minContains", "maxContains"), _COUNT),
    **dict.fromkeys(("deprecated", "writeOnly"), _FLAG),
    **dict.fromkeys(("$anchor", "$dynamicRef", "$dynamicAnchor"), _TEXT),
    **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties", "contentSchema"), _SCHEMA),
    **dict.fromkeys(("$defs", "dependentSchemas"), _BY_NAME),
    "prefixItems": _SCHEMAS,
}
_ALL = {**_KEYWORDS, **_SINCE_2019}
# What a keyword mostly is, by its type in Python, is right at once.
_MOSTLY: dict[str, type] = {"string": str, "boolean": bool, "number": int, "array": list}
_PLAIN = {
    key: _MOSTLY[wanted["type"]]
    for key, wanted in _ALL.items()
    if not isinstance(wanted, str) and len(wanted) == 1 and wanted.get("type") in _MOSTLY
}
_OLDER = ("draft-03", "draft-04", "draft-06", "draft-07")
# What stands below these says more of the same value: another part may declare the names that it requires.
_IN_PLACE = frozenset(("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"))
_DECLARING = frozenset((*_IN_PLACE, "$ref", "$dynamicRef", "dependencies", "patternProperties"))
_VALUES = frozenset(("default", "const", "enum", "examples"))
_Below = tuple[tuple[str | int, ...], object]
_Part = tuple[str, object, bool, int]
"""A place, what stands there, whether it says more of the same value as what is around it, and how deep."""


def _is_beside(key: str, schema: object) -> bool:
    """Whether a schema below a keyword says more of the same value; a definition without properties may."""
    is_part = key in ("$defs", "definitions") and isinstance(schema, Mapping) and "properties" not in schema
    return is_part or key in _IN_PLACE


class _Check:
    """One schema: each part is read once, and after them what references lead to."""

    def __init__(self, root: JsonObject) -> None:
        said = root.get("$schema")
        draft = said if isinstance(said, str) else ""
        is_older = any(older in draft for older in _OLDER)
        self._has_tuples = is_older or "2019-09" in draft
        self._keywords = _KEYWORDS if is_older else _ALL
        self._flags = ("exclusiveMinimum", "exclusiveMaximum") if "draft-04" in draft else ()
        self._root = root
        self._work = Work(_MOST_WORK)
        self._fitting = Fitting(root, self._work)
        self._waiting: list[_Part] = [("", root, False, 0)]
        self._seen: set[int] = set()
        self._references: list[tuple[str, str]] = []
        # Names that references may use in place of a path; with them, a path may start elsewhere.
        self._has_names = False

    def found(self) -> Iterator[SchemaFault]:
        """What is wrong, in the order of the schema, and last its references. Raises TooLarge."""
        read = 0
        while self._waiting or read < len(self._references):
            if not self._waiting:
                yield from self._reference(*self._references[read])
                read += 1
                continue
            place, part, is_in_place, depth = self._waiting.pop()
            self._work.spend(1)
            if isinstance(part, Mapping):
                if id(part) not in self._seen:
                    self._seen.add(id(part))
                    yield from self._part(place, part, depth)
                    yield from self._patterns(place, part)
                    yield from self._required(place, part, is_in_place=is_in_place)
                    yield from self._values(place, part)
            elif not isinstance(part, bool):
                yield SchemaFault(place, f"{place} is {shown(part)}, not a schema", "keyword")

    def _part(self, place: str, part: JsonObject, depth: int) -> Iterator[SchemaFault]:
        """The keywords of a part by the meta-schema; the parts below it are noted."""
        if depth > DEEPEST:
            raise TooLarge
        self._work.spend(len(part))
        below: list[_Part] = []
        for key, value in part.items():
            wanted = self._keywords.get(key)
            is_plain = type(value) is _PLAIN.get(key) or (key in self._flags and isinstance(value, bool))
            if wanted is None or is_plain or (key == "type" and isinstance(value, str) and value in TYPES):
                continue
            at = step(place, key)
            if not isinstance(wanted, str):
                flaw = self._fitting.misfit(value, wanted, at)
                yield from () if flaw is None else (SchemaFault(*flaw, "keyword"),)
            elif (inner := self._below(key, wanted, value)) is None:
                yield SchemaFault(at, f"{at} is {shown(value)}, not {wanted}", "keyword")
            else:
                below += ((reduce(step, way, at), one, _is_beside(key, one), depth + 1) for way, one in inner)
        self._waiting += reversed(below)
        if isinstance(reference := part.get("$ref"), str):
            self._references.append((step(place, "$ref"), reference))
        self._has_names |= "$anchor" in part or (place != "" and isinstance(part.get("$id"), str))

    def _below(self, key: str, wanted: str, value: object) -> list[_Below] | None:
        """The schemas that a keyword holds, each with the keys that lead there; None if it holds none."""
        is_list = wanted == _SCHEMAS or (key == "items" and self._has_tuples)
        if isinstance(value, list) and value and is_list:
            return [((number,), one) for number, one in enumerate(value)]
        if isinstance(value, Mapping) and wanted == _BY_NAME:
            named = (pair for pair in value.items() if key != "dependencies" or not isinstance(pair[1], list))
            return [((name,), one) for name, one in named]
        return [((), value)] if wanted == _SCHEMA else None

    def _reference(self, place: str, reference: str) -> Iterator[SchemaFault]:
        """What is wrong with a reference; what it leads to is noted."""
        own = self._root.get("$id")
        if isinstance(own, str) and own:
            reference = reference.removeprefix(own.rstrip("#"))
        if self._has_names:
            return
        if reference and not reference.startswith("#"):
            told = "is in another document, which is not fetched"
            yield SchemaFault(place, f"{place}: {shown(reference)} {told}", "reference")
        elif (found := pointed(reference, self._root)) is None:
            yield SchemaFault(place, f"{place}: {shown(reference)} does not exist", "reference")
        elif self._is_circle(found[1], reference):
            yield SchemaFault(place, f"{place}: {shown(reference)} leads back to itself", "reference")
        else:
            self._waiting.append((reduce(step, found[0], ""), found[1], True, 0))

    def _is_circle(self, target: object, *passed: str) -> bool:
        """Whether nothing but references follows one another without an end."""
        seen = set(passed)
        while isinstance(target, Mapping) and isinstance(reference := target.get("$ref"), str):
            self._work.spend(1)
            if reference in seen:
                return True
            seen.add(reference)
            found = pointed(reference, self._root) if reference.startswith("#") else None
            target = None if found is None else found[1]
        return False

    def _patterns(self, place: str, part: JsonObject) -> Iterator[SchemaFault]:
        """The patterns that do not compile, and as a hint those that do only without the flag u."""
        if "pattern" not in part and "patternProperties" not in part:
            return
        named = part.get("patternProperties")
        patterns = [(step(place, "pattern"), part.get("pattern"))]
        patterns += [(step(step(place, "patternProperties"), one), one) for one in as_object(named)]
        for at, text in patterns:
            if isinstance(text, str):
                self._work.read(text)
                flaw, with_u = pattern_flaw(text), pattern_flaw(text, unicode=True)
                if flaw or with_u:
                    told = "does not compile" if flaw else "compiles only without the flag u"
                    yield SchemaFault(at, f"{at} {told}: {flaw or with_u}", "pattern", is_hint=not flaw)

    def _required(self, place: str, part: JsonObject, *, is_in_place: bool) -> Iterator[SchemaFault]:
        """The required names that no property has: an error if none may be added, else a hint."""
        given, declared = part.get("required"), part.get("properties")
        others = part.get("additionalProperties", True)
        if not isinstance(given, list) or "patternProperties" in part:
            return
        is_elsewhere = is_in_place or isinstance(others, Mapping) or not _DECLARING.isdisjoint(part)
        if others is not False and is_elsewhere:
            return
        for number, name in enumerate(given):
            self._work.spend(1)
            if isinstance(name, str) and not (isinstance(declared, Mapping) and name in declared):
                at = step(step(place, "required"), number)
                told = "a property that does not exist" + (" and may not be added" if others is False else "")
                is_hint = others is not False
                yield SchemaFault(at, f"{at} is {shown(name)}, {told}", "required", is_hint=is_hint)

    def _values(self, place: str, part: JsonObject) -> Iterator[SchemaFault]:
        """The values in a schema that it refuses itself; where none is left, nothing can be given."""
        if _VALUES.isdisjoint(part):
            return
        rest = {key: value for key, value in part.items() if key not in ("enum", "const")}
        const = [part["const"]] if "const" in part else []
        yield from (SchemaFault(*one, "value") for one in self._misfits(const, rest, step(place, "const")))
        at, hints = step(place, "enum"), list[Misfit]()
        if isinstance(enum := part.get("enum"), list):
            hints = self._misfits(enum, rest, at, is_list=True)
            if len(hints) == len(enum):
                why = f"as {hints[0][1]}" if hints else "as it is empty"
                yield SchemaFault(at, f"{at}: nothing can be given, {why}", "value")
                hints = []
        hints += self._misfits(part.get("examples"), part, step(place, "examples"), is_list=True)
        default = [part["default"]] if "default" in part else []
        hints += self._misfits(default, part, step(place, "default"))
        yield from (SchemaFault(*one, "value", is_hint=True) for one in hints)

    def _misfits(
        self, values: object, schema: JsonObject, place: str, *, is_list: bool = False
    ) -> list[Misfit]:
        """Which of these values do not fit; of a list, each has a place of its own."""
        some = enumerate(values if isinstance(values, list) else ())
        tried = (self._fitting.misfit(one, schema, step(place, at) if is_list else place) for at, one in some)
        return [found for found in tried if found is not None]
