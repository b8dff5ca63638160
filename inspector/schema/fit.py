"""Whether a value fits a schema, by the keywords that need no pattern: quick, bounded, and told by place."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import ge, gt, le, lt
from typing import Any

from inspector.schema.json_value import JsonObject, as_list, as_object, canonical, shown, step
from inspector.schema.reading import DEEPEST, TYPES, UNIONS, Work, names, type_of
from inspector.schema.schema import resolve

Misfit = tuple[str, str]
"""The place of a value, and a sentence on what it is and what it is not."""
_MOST_NAMED = 7
_NUMBERS, _TEXTS, _ARRAYS = ("integer", "number"), ("string",), ("array",)
_LIMITS: tuple[tuple[str, tuple[str, ...], Callable[[Any, Any], bool], str], ...] = (
    ("minimum", _NUMBERS, ge, "{} or more"),
    ("maximum", _NUMBERS, le, "{} or less"),
    ("exclusiveMinimum", _NUMBERS, gt, "more than {}"),
    ("exclusiveMaximum", _NUMBERS, lt, "less than {}"),
    ("minLength", _TEXTS, ge, "{} or more characters"),
    ("maxLength", _TEXTS, le, "{} or fewer characters"),
    ("minItems", _ARRAYS, ge, "{} or more items"),
    ("maxItems", _ARRAYS, le, "{} or fewer items"),
)
_LIMITED = frozenset(limit[0] for limit in _LIMITS)


class Fitting:
    """Fits values to the parts of one schema, its `root`. Raises TooLarge when the `work` is done."""

    def __init__(self, root: JsonObject, work: Work) -> None:
        self._root = root
        self._work = work

    def misfit(self, value: object, schema: object, place: str, depth: int = 0) -> Misfit | None:
        """The first thing that is wrong with a value; None if nothing is.

        Patterns, formats and what depends on other parts are not looked at. `nullable` takes null (OpenAPI).
        """
        self._work.spend(1)
        if schema is False:
            return place, f"{place} is {shown(value)}, where its schema takes nothing"
        if not isinstance(schema, Mapping) or depth > DEEPEST:
            return None
        if "$ref" in schema:
            schema = resolve(schema, self._root)
        if value is None and schema.get("nullable") is True:
            return None
        wanted = next(self._unmet(value, schema), "")
        if wanted:
            return place, f"{place} is {shown(value)}, not {wanted}"
        return next(self._inner(value, schema, place, depth + 1), None)

    def _unmet(self, value: object, schema: JsonObject) -> Iterator[str]:
        """What a value is not."""
        if not _is_of(value, types := _types(schema)):
            yield " or ".join(map(_with_article, types))
            return
        choices = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(choices, list) and not self._is_among(value, choices):
            more = " …" if len(choices) > _MOST_NAMED else ""
            yield f"one of {', '.join(map(shown, choices[:_MOST_NAMED]))}{more}"
        kind = type_of(value) if not _LIMITED.isdisjoint(schema) else ""
        for key, kinds, holds, words in _LIMITS:
            if kind in kinds and type_of(limit := schema.get(key)) in _NUMBERS:
                measured = value if kinds is _NUMBERS else len(value)  # type: ignore[arg-type]
                if not holds(measured, limit):
                    yield words.format(shown(limit))
        if schema.get("uniqueItems") is True and isinstance(value, list):
            self._work.read(value)
            if len(set(map(canonical, value))) < len(value):
                yield "an array of different items"

    def _is_among(self, value: object, choices: Sequence[object]) -> bool:
        """Whether a value is one of these; 1 and 1.0 are the same, 1 and true are not."""
        if isinstance(value, str):
            return value in choices
        self._work.read(value, choices)
        if type_of(value) in _NUMBERS:
            return any(value == one for one in choices if type_of(one) in _NUMBERS)
        return canonical(value) in map(canonical, choices)

    def _inner(self, value: object, schema: JsonObject, place: str, depth: int) -> Iterator[Misfit]:
        """What is wrong with the parts of a value, or by the parts of its schema."""
        if isinstance(value, list) and isinstance(schema.get("items"), Mapping | bool):
            start = len(before) if isinstance(before := schema.get("prefixItems"), list) else 0
            for number, one in enumerate(value[start:], start):
                yield from self._if_any(one, schema["items"], step(place, number), depth)
        if isinstance(value, Mapping):
            declared = as_object(schema.get("properties"))
            for name in names(schema.get("required")):
                if name not in value:
                    yield place, f"{place} has no {name}, which its schema requires"
            for name, one in value.items():
                others = True if "patternProperties" in schema else schema.get("additionalProperties", True)
                yield from self._if_any(one, declared.get(name, others), step(place, name), depth)
        for part in as_list(schema.get("allOf")):
            yield from self._if_any(value, part, place, depth)
        for key in UNIONS:
            yield from self._union(value, as_list(schema.get(key)), place, depth)

    def _if_any(self, value: object, schema: object, place: str, depth: int) -> Iterator[Misfit]:
        if (found := self.misfit(value, schema, place, depth)) is not None:
            yield found

    def _union(self, value: object, options: Sequence[Any], place: str, depth: int) -> Iterator[Misfit]:
        """That no alternative takes a value, by the one for its type if there is one alone."""
        tried = [self.misfit(value, option, place, depth) for option in options]
        if not tried or None in tried:
            return
        opened = [resolve(option, self._root) if isinstance(option, Mapping) else {} for option in options]
        near = [one for one, option in zip(tried, opened, strict=True) if _is_of(value, _types(option))]
        types = dict.fromkeys(name for option in opened for name in _types(option))
        if len(near) == 1 and near[0] is not None:
            yield near[0]
        else:
            every = " or ".join(map(_with_article, types))
            wanted = "what any of its alternatives takes" if near or not types else every
            yield place, f"{place} is {shown(value)}, not {wanted}"


def _types(schema: JsonObject) -> list[str]:
    """The types that a schema names, [] if it names none that there are."""
    said = schema.get("type")
    return [one for one in ([said] if isinstance(said, str) else names(said)) if one in TYPES]


def _is_of(value: object, types: Sequence[str]) -> bool:
    kind = type_of(value)
    return not types or kind in types or (kind == "integer" and "number" in types)


def _with_article(kind: str) -> str:
    return kind if kind == "null" else f"{'an' if kind[:1] in 'aio' else 'a'} {kind}"
