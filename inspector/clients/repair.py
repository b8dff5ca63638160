"""A tool's schema rewritten so that no chosen client refuses it, and what that changes for its arguments.

Each step is one small rewriting, made only where something is refused. Whether arguments are taken as before
is not believed of the steps: the schemas are compared, and what cannot be compared counts as changed.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from msgspec import Struct

from inspector.clients.refusal import Condition, Refusal, refusals
from inspector.schema.fit import Fitting
from inspector.schema.json_value import JsonObject, as_object, compact
from inspector.schema.narrowing import Kind, Narrowing, narrowings
from inspector.schema.reading import DEEPEST, TYPES, WORDS, TooLarge, Work, changed, names, size, type_of
from inspector.schema.schema import resolve
from inspector.schema.validity import SchemaFault, faults

Node = dict[str, Any]
Accepts = Literal["same", "fewer", "more", "other"]
_ROUNDS, _LARGEST = 8, 20_000
_MISNAMED = {"int": "integer", "float": "number", "str": "string", "bool": "boolean", "list": "array"}
_ANYTHING: Node = {"anyOf": [{"type": one} for one in ("string", "number", "boolean")]}
_SAYS_WHAT = frozenset(("type", "anyOf", "oneOf", "allOf", "$ref", "enum", "const"))
_IS_SCHEMA = _SAYS_WHAT | {"properties", "not", "if", "items"}
# What only values of one type are held against.
_NUMBER = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_OF_TYPE: Mapping[str, tuple[str, ...]] = {
    "number": _NUMBER,
    "integer": _NUMBER,
    "string": ("minLength", "maxLength", "pattern", "format"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"),
    "object": ("properties", "required", "additionalProperties", "patternProperties", "propertyNames"),
}
_MAY: Mapping[Kind, str] = {
    "removed": "be given",
    "required": "be left out",
    "type": "be of the type",
    "values": "have the values",
    "limit": "be beyond the limit",
    "form": "have another form:",
    "closed": "have other names",
    "unknown": "take others: it cannot be compared",
}


class Repair(Struct, frozen=True):
    """The new schema, its steps in words, and whether it `accepts` the same arguments as the old one.

    If it does not, `lines` say where; what no step mends is `left`.
    """

    schema: JsonObject
    steps: tuple[str, ...]
    accepts: Accepts
    lines: tuple[str, ...]
    left: tuple[Refusal | SchemaFault, ...]


def repair(schema: JsonObject, conditions: Sequence[Condition]) -> Repair | None:
    """A schema that meets the conditions and is valid; None if it does already, or is too large."""
    if size(schema, _LARGEST) > _LARGEST or not _unmet(schema, conditions):
        return None
    steps = Counter[str]()
    try:
        # A schema that is not valid says nothing: it is compared as it is meant.
        meant = _Writing(schema, (), (_unwrapped, _meant), steps).done()
        new = _Writing(meant, conditions, _STEPS, steps).done()
    except (TooLarge, RecursionError):
        return None
    lost, gained = narrowings(meant, new), narrowings(new, meant)
    accepts: Accepts = ("other" if gained else "fewer") if lost else "more" if gained else "same"
    lines = (*(_line(one, "no longer") for one in lost), *(_line(one, "now") for one in gained))
    told = (f"{what} ({times:,} times)" if times > 1 else what for what, times in steps.items())
    return Repair(new, tuple(told), accepts, lines, _unmet(new, conditions))


def _unmet(schema: JsonObject, conditions: Sequence[Condition]) -> tuple[Refusal | SchemaFault, ...]:
    wrong = (one for one in faults(schema, "") if not one.is_hint)
    return (*(one for one in refusals(conditions, schema) if one.effect == "refused"), *wrong)


def _line(one: Narrowing, when: str) -> str:
    before = one.detail.partition(" → ")[0]
    told = {"type": before, "values": one.detail, "limit": before.partition(" ")[0]}.get(one.kind, "")
    told = before.partition(" ")[0] if one.kind == "form" else told
    return f"{one.path or 'the arguments'} may {when} {_MAY[one.kind]} {told}".rstrip()


@dataclass
class _Writing:
    """One schema as it is rewritten. `unmet` are the conditions that it does not meet yet."""

    root: JsonObject
    conditions: Sequence[Condition]
    order: "Sequence[_Step]"
    steps: Counter[str]
    unmet: Sequence[Condition] = ()
    work: Work = field(default_factory=Work)

    def done(self) -> Node:
        """The schema once no step changes it any more. Raises TooLarge."""
        for _ in range(_ROUNDS):
            unmet = {one.condition for one in refusals(self.conditions, self.root)}
            self.unmet = [one for one in self.conditions if one in unmet]
            new = self._rewritten(dict(self.root), 0)
            if new == self.root:
                break
            self.root = new
        return dict(self.root)

    def _rewritten(self, node: Node, depth: int) -> Node:
        if depth > DEEPEST:
            raise TooLarge
        self.work.spend(len(node) + 1)
        for step in self.order:
            for words, new in step(self, node, depth == 0):
                self.work.read(new)
                self.steps[words] += 1
                node = new
        return changed(node, lambda one: self._rewritten(dict(one), depth + 1))

    def asked(self, kind: str) -> bool:
        return any(one.kind == kind for one in self.unmet)

    def unwanted(self, node: Node, *, top: bool) -> list[str]:
        """The keywords of a schema that may not be there."""
        here = [one for one in self.unmet if top or not one.top]
        without = {key for one in here if one.kind == "without" for key in one.of}
        known = [one.of for one in here if one.kind == "only"]
        return [key for key in node if key in without or any(key not in some for some in known)]


_Step = Callable[[_Writing, Node, bool], Iterator[tuple[str, Node]]]
"""The versions of a schema one after another, each with what was done, and the top known from the rest."""


def _without(node: JsonObject, *keys: str) -> Node:
    return {key: value for key, value in node.items() if key not in keys}


def _unwrapped(_writing: _Writing, node: Node, top: bool) -> Iterator[tuple[str, Node]]:
    """The schema that stands inside of another key."""
    for key, one in node.items() if top and not _IS_SCHEMA & node.keys() else ():
        if as_object(one).get("type") == "object":
            yield f"what is inside of {key} is the schema", dict(one)
            return


def _meant(_writing: _Writing, node: Node, top: bool) -> Iterator[tuple[str, Node]]:
    """A schema as its author meant it: without what is not valid."""
    if top and "type" not in node:
        yield "the type object is said", (node := {"type": "object", **node})
    if empty := [
        key for key, one in node.items() if one is None and key not in ("default", "const", "example")
    ]:
        yield f"{', '.join(empty)}: null is left out", (node := _without(node, *empty))
    properties = as_object(node.get("properties"))
    if said := [name for name, one in properties.items() if isinstance(as_object(one).get("required"), bool)]:
        always = [*names(node.get("required")), *(name for name in said if properties[name]["required"])]
        properties |= {name: _without(properties[name], "required") for name in said}
        node = {**node, "properties": properties, **({"required": always} if always else {})}
        yield "a parameter's own required is said by its object", node
    for name, one in properties.items():
        if not isinstance(one, dict | bool):
            is_type = isinstance(one, str) and one in TYPES and name != "type"
            kept = {**properties, name: {"type": one}} if is_type else _without(properties, name)
            words = f"{name} is a schema" if is_type else f"{name}, which is no schema, is left out"
            yield f"{words} of the parameters", (node := {**node, "properties": kept})
            properties = kept
    for key, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(is_exclusive := node.get(key), bool):
            limit = {key: node[bound]} if is_exclusive and bound in node else {}
            rest = _without(node, key, bound) if is_exclusive else _without(node, key)
            yield f"{key} is a number", (node := {**rest, **limit})
    if isinstance(kind := node.get("type"), str) and kind not in TYPES:
        right = {"type": _MISNAMED[kind]} if kind in _MISNAMED else {}
        yield (
            f"the type {kind} is {right.get('type', 'left out')}",
            (node := {**_without(node, "type"), **right}),
        )
    if isinstance(items := node.get("items"), list):
        yield "items in a list are prefixItems", {**_without(node, "items"), "prefixItems": items}


def _referred(writing: _Writing, node: Node, top: bool) -> Iterator[tuple[str, Node]]:
    """References where they may not be as they are: what they lead to, or alone."""
    if top and writing.asked("only"):
        whole = _inlined(node, writing.root, (), writing.work)
        if whole != node:
            yield "what references lead to stands in their place", (node := whole)
    if "$ref" in node and len(node) > 1 and writing.asked("alone"):
        yield "a reference stands alone", {**_without(node, "$ref"), "anyOf": [{"$ref": node["$ref"]}]}


def _inlined(node: Node, root: JsonObject, path: tuple[str, ...], work: Work) -> Node:
    work.spend(len(node) + 1)
    if isinstance(reference := node.get("$ref"), str):
        target = dict(resolve(node, root))
        if "$ref" in target:
            return node
        if reference in path:
            # What has no end is named, not repeated.
            return {key: target[key] for key in ("type", "description") if key in target}
        return _inlined(target, root, (*path, reference), work)
    return changed(_without(node, "$defs", "definitions"), lambda one: _inlined(dict(one), root, path, work))


def _combined(writing: _Writing, node: Node, top: bool) -> Iterator[tuple[str, Node]]:
    """Parts that hold together, and alternatives, where they may not be: in one schema."""
    unwanted = writing.unwanted(node, top=top)
    if "allOf" in unwanted and isinstance(parts := node["allOf"], list):
        whole: Node | None = _without(node, "allOf")
        for part in parts:
            whole = whole and _together(whole, dict(resolve(as_object(part), writing.root)))
        if whole is not None:
            yield "the parts of allOf are one schema", (node := whole)
    for key in ("oneOf", "anyOf"):
        options = [dict(resolve(as_object(one), writing.root)) for one in node.get(key) or ()]
        if key in unwanted and options and top:
            yield f"the alternatives of {key} are one object", (node := _merged(_without(node, key), options))
        elif key in unwanted and key == "oneOf" and "anyOf" not in node:
            yield "oneOf is anyOf", (node := {**_without(node, key), "anyOf": node[key]})


def _together(one: Node, other: Node) -> Node | None:
    """One schema for what both ask; None if they ask different things of the same."""
    whole = {**other, **one}
    for key in (one.keys() & other.keys()) - WORDS:
        if key == "required":
            whole[key] = list(dict.fromkeys((*names(one[key]), *names(other[key]))))
        elif key == "properties":
            same = one[key].keys() & other[key].keys()
            if any(one[key][name] != other[key][name] for name in same):
                return None
            whole[key] = {**other[key], **one[key]}
        elif one[key] != other[key]:
            return None
    is_closed = "additionalProperties" in whole and one.get("properties") != other.get("properties")
    return None if is_closed else whole


def _merged(node: Node, options: Sequence[Node]) -> Node:
    """An object with the parameters of all alternatives; those are required that all of them require."""
    own = as_object(node.get("properties"))
    found: dict[str, list[Any]] = {}
    for option in options:
        for name, one in as_object(option.get("properties")).items():
            if name not in own and one not in found.setdefault(name, []):
                found[name].append(one)
    always = [
        one
        for one in names(options[0].get("required"))
        if all(one in names(o.get("required")) for o in options)
    ]
    required = list(dict.fromkeys((*names(node.get("required")), *always)))
    is_closed = all(one.get("additionalProperties") is False for one in options)
    return {
        **({"additionalProperties": False} if is_closed else {}),
        **node,
        "type": "object",
        "properties": {**own, **{name: _either(some) for name, some in found.items()}},
        **({"required": required} if required else {}),
    }


def _either(some: Sequence[Any]) -> Any:
    """One schema for any of some; of those that only name values, the values."""
    if len(some) == 1:
        return some[0]
    values = [[one["const"]] if "const" in as_object(one) else as_object(one).get("enum") for one in some]
    if all(isinstance(one, list) for one in values):
        every = {compact(value): value for one in values for value in one or ()}
        return {**_without(some[0], "const"), "enum": list(every.values())}
    return {"anyOf": list(some)}


def _valued(writing: _Writing, node: Node, top: bool) -> Iterator[tuple[str, Node]]:
    """Values and types in the form that is asked for."""
    if "const" in writing.unwanted(node, top=top) and not top:
        yield "const is an enum of one", (node := {**_without(node, "const"), "enum": [node["const"]]})
    if isinstance(values := node.get("enum"), list) and "anyOf" not in node and writing.asked("texts"):
        fit = [one for one in values if Fitting(writing.root, writing.work).misfit(one, node, "") is None]
        if (
            said := {**_without(node, "enum", "type"), **_alternatives(list(_of_values(fit)))}
        ) != node and fit:
            yield "values are told by their types", (node := said)
    if isinstance(types := node.get("type"), list) and writing.asked("one-type"):
        bound = {key for keys in _OF_TYPE.values() for key in keys}
        each = [
            {"type": one, **{key: node[key] for key in _OF_TYPE.get(one, ()) if key in node}} for one in types
        ]
        yield (
            "types in a list are alternatives",
            (node := {**_without(node, "type", *bound), **_alternatives(each)}),
        )
    if not _SAYS_WHAT & node.keys() and writing.asked("typed"):
        kind = next((kind for kind in ("object", "array") if node.keys() & set(_OF_TYPE[kind])), "")
        words = f"what has no type is {kind or 'a text, a number or a Boolean'}"
        yield words, {**({"type": kind} if kind else _ANYTHING), **node}


def _alternatives(options: Sequence[Node]) -> Node:
    return options[0] if len(options) == 1 else {"anyOf": list(options)}


def _of_values(values: Sequence[Any]) -> Iterator[Node]:
    """Schemas that take these values and name none but texts with something in them."""
    by_type: dict[str, list[Any]] = {}
    for value in values:
        by_type.setdefault("empty" if value == "" else type_of(value), []).append(value)
    for kind, some in by_type.items():
        if kind == "empty":
            yield {"type": "string", "maxLength": 0}
        else:
            limits = {"minimum": min(some), "maximum": max(some)} if kind in ("integer", "number") else {}
            yield {"type": kind, **({"enum": some} if kind == "string" else limits)}


def _bounded(writing: _Writing, node: Node, top: bool) -> Iterator[tuple[str, Node]]:
    """Limits and items in the form that is asked for."""
    unwanted = writing.unwanted(node, top=top)
    for key, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if key in unwanted and isinstance(limit := node[key], int | float):
            is_low, other = bound == "minimum", node.get(bound)
            if node.get("type") == "integer":
                limit = math.floor(limit) + 1 if is_low else math.ceil(limit) - 1
            if isinstance(other, int | float):
                limit = max(limit, other) if is_low else min(limit, other)
            yield f"{key} is {bound}", (node := {**_without(node, key), bound: limit})
    first = node.get("prefixItems")
    if isinstance(first, list) and "prefixItems" in unwanted:
        any_of = _either([one for at, one in enumerate(first) if one not in first[:at]] or [{}])
        yield "items are any of prefixItems", (node := {**_without(node, "prefixItems"), "items": any_of})
    is_array = "array" in str(node.get("type"))
    if is_array and not isinstance(node.get("items"), dict) and writing.asked("items"):
        most = {"maxItems": len(first or ())} if node.get("items") is False else {}
        yield "an array has items", (node := {**node, **most, "items": {}})
    known = [one.of for one in writing.unmet if one.kind == "formats"]
    if "format" in node and any(node["format"] not in of for of in known):
        yield f"the format {node['format']} is left out", _without(node, "format")


def _declared(writing: _Writing, node: Node, _top: bool) -> Iterator[tuple[str, Node]]:
    """Objects whose parameters are declared, required, and all that there are."""
    properties = as_object(node.get("properties"))
    flags: Node = {name: {} for name, one in properties.items() if one is True and writing.asked("schemas")}
    if flags:
        yield (
            "true is an empty schema",
            (node := {**node, "properties": (properties := {**properties, **flags})}),
        )
    missing: Node = {name: {} for name in names(node.get("required")) if name not in properties}
    if missing and (writing.asked("declared") or writing.asked("closed")):
        properties = {**properties, **missing}
        yield "a required parameter is declared", (node := {**node, "properties": properties})
    free = [name for name in properties if name not in names(node.get("required"))]
    if free and writing.asked("required"):
        is_flat = all(one.kind != "one-type" for one in writing.conditions)
        nullable = {
            name: _or_null(one, is_flat=is_flat) if name in free else one for name, one in properties.items()
        }
        node = {**node, "properties": nullable, "required": list(properties)}
        yield "a parameter that may be left out is required, and may be null", node
    is_object = "object" in str(node.get("type")) or "properties" in node
    if is_object and node.get("additionalProperties") is not False and writing.asked("closed"):
        yield "additionalProperties: false is said", {**node, "additionalProperties": False}


def _or_null(schema: Any, *, is_flat: bool) -> Any:
    if not isinstance(schema, dict) or "null" in str((schema.get("type"), schema.get("anyOf"))):
        return schema
    if is_flat and isinstance(kind := schema.get("type"), str) and not {"enum", "const"} & schema.keys():
        return {**schema, "type": [kind, "null"]}
    words = {key: value for key, value in schema.items() if key in WORDS}
    return {**words, "anyOf": [_without(schema, *words), {"type": "null"}]}


def _dropped(writing: _Writing, node: Node, top: bool) -> Iterator[tuple[str, Node]]:
    """A schema without the keywords that may not be there, and that nothing else says."""
    if unwanted := writing.unwanted(node, top=top):
        yield f"{', '.join(unwanted)} left out", _without(node, *unwanted)


_STEPS: tuple[_Step, ...] = (_referred, _combined, _valued, _bounded, _declared, _dropped)
