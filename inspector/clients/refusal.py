"""What an API or a client refuses of a tool's schema: its conditions, and where they are not met."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

from msgspec import Struct

from inspector.schema.json_value import JsonObject, as_list, as_object, compact, read_object, shown
from inspector.schema.reading import Part, TooLarge, Work, names, parts, types_of
from inspector.schema.validity import FaultKind, SchemaFault, faults

Effect = Literal["refused", "ignored", "changed"]
# So many are told of one schema, and so many names in one sentence.
_MOST, _MOST_NAMED = 50, 5
_SAYS_WHAT = frozenset({"type", "anyOf", "oneOf", "allOf", "$ref", "enum", "const"})


class Condition(Struct, frozen=True, forbid_unknown_fields=True):
    """What a schema has to be, or the tool is `refused`; or what is `ignored` or `changed` of it.

    `kind` says what is asked for, everywhere or only at the `top`: an `object`; to be `without` the keywords
    `of`, or to have those `only`; to be valid by the `draft` that `of` names; arrays with `items`; `names` of
    parameters that fit the pattern `of`; objects that are `closed`; parameters that are all `required`;
    required ones that are `declared`; types with `one-type` each; values that are `texts`; `schemas` that are
    objects; those that are `typed`; `formats` of those; references that stand `alone` but for keywords `of`,
    or that are `resolved`; at `most` so many `properties`, `levels`, `values` of enums, and `letters` in all
    their names and values. `source` is a public address, looked up or published on `date`. A refusal costs
    the tool, or all of its `server`.
    """

    kind: str
    source: str
    date: str
    of: tuple[str, ...] = ()
    most: int = 0
    top: bool = False
    effect: Effect = "refused"
    costs: Literal["tool", "server"] = "tool"

    def __post_init__(self) -> None:
        if self.kind not in {*_EVERYWHERE, *_FAULTS, *_SIZES}:
            raise ValueError(f"no condition '{self.kind}'")


class Refusal(Struct, frozen=True):
    """Where a schema does not meet a condition, "" for all of it; `says` is a sentence with the place."""

    place: str
    says: str
    condition: Condition

    @property
    def effect(self) -> Effect:
        return self.condition.effect

    @property
    def source(self) -> str:
        return self.condition.source


def refusals(conditions: Sequence[Condition], schema: object) -> tuple[Refusal, ...]:
    """Where a schema does not meet the conditions, those that refuse it first. Does not raise.

    A schema too large to be looked through is looked at as far as that goes.
    """
    found: dict[Refusal, None] = {}
    if not conditions:
        return ()
    try:
        for one in _found(conditions, schema):
            found[one] = None
            if len(found) == _MOST:
                break
    except (TooLarge, RecursionError):
        pass
    return tuple(sorted(found, key=lambda one: one.effect != "refused"))


def _found(conditions: Sequence[Condition], schema: object) -> Iterator[Refusal]:
    every = list(parts(schema, Work()))
    schemas = [part for part in every if isinstance(part.value, Mapping)]
    for condition in conditions:
        kind = condition.kind
        if check := _EVERYWHERE.get(kind):
            for part in every[:1] if condition.top else every:
                if isinstance(part.value, Mapping) is not (kind == "schemas"):
                    for says in check(condition, part.value):
                        yield Refusal(part.place, f"{part.place or 'its schema'} {says}", condition)
        elif kind in _FAULTS:
            if isinstance(schema, Mapping):
                yield from _faulty(condition, schema)
        elif (size := _SIZES[kind](schemas)) > condition.most:
            told = kind if kind != "letters" else "characters in names and values"
            yield Refusal(
                "", f"its schema has {size:,} {told}, of which {condition.most:,} are allowed", condition
            )


def _faulty(condition: Condition, schema: JsonObject) -> Iterator[Refusal]:
    """What is not valid; at the top that is a keyword of the whole, or a parameter that is no schema."""
    for fault in _faults(_FAULTS[condition.kind], compact(schema), *condition.of):
        if not condition.top or fault.place.count(".") <= fault.place.startswith("properties."):
            yield Refusal(fault.place, fault.says, condition)


# What is asked of each schema by itself.


def _object(_condition: Condition, schema: JsonObject) -> Iterator[str]:
    if schema.get("type") != "object":
        yield f"has the type {shown(schema['type'])}, not object" if "type" in schema else "has no type"


def _without(condition: Condition, schema: JsonObject) -> Iterator[str]:
    if found := [key for key in condition.of if key in schema]:
        yield f"has {', '.join(found)}{' at the top level' if condition.top else ''}"


def _only(condition: Condition, schema: JsonObject) -> Iterator[str]:
    if others := [str(key) for key in schema if key not in condition.of]:
        yield f"has {_listed(others)}, which the API does not know"


def _items(_condition: Condition, schema: JsonObject) -> Iterator[str]:
    if "array" in _said(schema) and not isinstance(schema.get("items"), Mapping | list):
        yield "is an array without items"


def _names(condition: Condition, schema: JsonObject) -> Iterator[str]:
    for name in as_object(schema.get("properties")):
        if not re.search(condition.of[0], name):
            yield f"has the parameter {shown(name)}, which does not fit {condition.of[0]}"


def _closed(_condition: Condition, schema: JsonObject) -> Iterator[str]:
    is_object = "object" in _said(schema) or "properties" in schema
    if is_object and schema.get("additionalProperties") is not False:
        yield "is an object without additionalProperties: false"


def _required(_condition: Condition, schema: JsonObject) -> Iterator[str]:
    free = [name for name in as_object(schema.get("properties")) if name not in names(schema.get("required"))]
    if free:
        yield f"has {_listed(free)} without requiring {'it' if len(free) == 1 else 'them'}"


def _declared(_condition: Condition, schema: JsonObject) -> Iterator[str]:
    known = as_object(schema.get("properties"))
    if missing := [name for name in names(schema.get("required")) if name not in known]:
        yield f"requires {_listed(missing)}, which it does not declare"


def _one_type(_condition: Condition, schema: JsonObject) -> Iterator[str]:
    if isinstance(schema.get("type"), list):
        yield "has a list of types"


def _texts(_condition: Condition, schema: JsonObject) -> Iterator[str]:
    if values := as_list(schema.get("enum")):
        if others := [one for one in values if not isinstance(one, str) or not one]:
            yield f"has the value {shown(others[0])} in its enum, where only texts may be, and no empty ones"
        elif "string" not in _said(schema):
            yield "has an enum without the type string"


def _schemas(_condition: Condition, value: object) -> Iterator[str]:
    yield f"is {shown(value)}, not an object"


def _typed(_condition: Condition, schema: JsonObject) -> Iterator[str]:
    if not _SAYS_WHAT.intersection(schema):
        yield "has no type"


def _formats(condition: Condition, schema: JsonObject) -> Iterator[str]:
    if "format" in schema and schema["format"] not in condition.of:
        yield f"has the format {shown(schema['format'])}"


def _alone(condition: Condition, schema: JsonObject) -> Iterator[str]:
    beside = [str(key) for key in schema if key != "$ref" and key not in condition.of]
    if "$ref" in schema and beside:
        yield f"has {_listed(beside)} beside $ref"


_OF_ONE = (
    *(_object, _without, _only, _items, _names, _closed, _required),
    *(_declared, _one_type, _texts, _schemas, _typed, _formats, _alone),
)
_EVERYWHERE: Mapping[str, Callable[[Condition, Any], Iterator[str]]] = {
    check.__name__.strip("_").replace("_", "-"): check for check in _OF_ONE
}


# What is asked of all of it together.


def _letters(schema: JsonObject) -> int:
    declared, defined = (as_object(schema.get(key)) for key in ("properties", "$defs"))
    named = (*declared, *defined, *as_list(schema.get("enum")), schema.get("const"))
    return sum(len(one) for one in named if isinstance(one, str))


_SIZES: Mapping[str, Callable[[Sequence[Part]], int]] = {
    "properties": lambda every: sum(len(as_object(part.value.get("properties"))) for part in every),
    "levels": lambda every: max((part.level for part in every), default=0),
    "values": lambda every: sum(len(as_list(part.value.get("enum"))) for part in every),
    "letters": lambda every: sum(_letters(part.value) for part in every),
}
_FAULTS: Mapping[str, FaultKind] = {"draft": "keyword", "resolved": "reference"}


@lru_cache(maxsize=512)
def _faults(kind: FaultKind, text: str, draft: str = "") -> tuple[SchemaFault, ...]:
    """What is wrong with a schema, by a draft whichever it names itself; several clients ask for the same."""
    schema = {**read_object(text), "$schema": draft}
    return tuple(one for one in faults(schema, "") if one.kind == kind and not one.is_hint)


def _said(schema: JsonObject) -> frozenset[str]:
    """The types that it says by name."""
    return types_of({"type": schema["type"]}) if "type" in schema else frozenset()


def _listed(some: Sequence[str]) -> str:
    more = len(some) - _MOST_NAMED
    return ", ".join(map(shown, some[:_MOST_NAMED])) + (f" and {more:,} more" if more > 0 else "")
