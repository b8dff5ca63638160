"""What a change of a tool's definition means for whoever calls it: compatible, breaking, or words only."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from inspector.core.tool import Annotations, Tool
from inspector.schema.json_value import JsonObject
from inspector.schema.narrowing import Kind, Narrowing, narrowings
from inspector.schema.schema import defaults

Verdict = Literal["same", "words", "compatible", "breaking"]
# More reasons than this are counted, not told.
MOST_REASONS = 20
_Found = tuple[Narrowing, ...]
_NO_SCHEMA: JsonObject = {"type": "object"}
# What became narrower for a caller, in words that follow the parameter's name.
_NARROWER: dict[Kind, str] = {
    "removed": "is gone",
    "required": "is now required",
    "type": "has another type",
    "values": "no longer takes every value",
    "limit": "has a tighter limit",
    "form": "wants another form",
    "closed": "takes no other names any more",
    "unknown": "changed in a way that cannot be compared",
}
_WIDER: dict[Kind, str] = {
    "removed": "is new and optional",
    "required": "is no longer required",
    "type": "takes more types",
    "values": "takes more values",
    "limit": "has a wider limit",
    "form": "no longer wants a form",
    "closed": "takes other names too",
    "unknown": "changed",
}
# The same of a result, for whoever reads it.
_LESS_CERTAIN: dict[Kind, str] = {
    "removed": "is no longer returned",
    "required": "is not always returned any more",
    "type": "comes in another type",
    "values": "comes with other values",
    "limit": "may be beyond its limit",
    "form": "comes in another form",
    "closed": "may have other fields",
    "unknown": "changed in a way that cannot be compared",
}
_MORE_CERTAIN: dict[Kind, str] = {
    "removed": "is returned too",
    "required": "is always returned now",
    "type": "comes in fewer types",
    "values": "comes with fewer values",
    "limit": "keeps to a tighter limit",
    "form": "has a form now",
    "closed": "has no other fields any more",
    "unknown": "changed",
}


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """A verdict over a change and what speaks for it, in words; the breaking reasons come first.

    `breaking` of the reasons are breaking.
    """

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    breaking: int = 0


def schema_change(before: Tool, after: Tool) -> SchemaChange:
    """What the change from one definition of a tool to another means for its callers.

    A change that cannot be compared counts as breaking.
    """
    lost = narrowings(before.input_schema, after.input_schema)
    gained = narrowings(after.input_schema, before.input_schema)
    breaking = tuple(dict.fromkeys(_breaking(before, after, lost, gained)))
    harmless = tuple(dict.fromkeys(_harmless(before, after, lost, gained)))
    if breaking:
        verdict: Verdict = "breaking"
    elif harmless or _is_beyond_words(before, after):
        verdict = "compatible"
    else:
        verdict = "same" if before == after else "words"
    reasons = breaking + harmless + (tuple(_words(before, after)) if verdict == "words" else ())
    told = reasons[:MOST_REASONS]
    if len(reasons) > len(told):
        told = (*told, f"and {len(reasons) - len(told):,} more")
    return SchemaChange(verdict, told, min(len(breaking), MOST_REASONS))


def judged(before: Tool, after: Tool) -> SchemaChange:
    """What a change means; one that is too deep or of no shape to be compared is breaking, not an error."""
    try:
        return schema_change(before, after)
    except (ValueError, RecursionError):
        return SchemaChange("breaking", ("it cannot be compared",), 1)


def _breaking(before: Tool, after: Tool, lost: _Found, gained: _Found) -> Iterator[str]:
    new = {one.path for one in gained if one.kind == "removed"}
    for one in lost:
        is_new = one.kind == "required" and one.path in new
        yield _said(
            "parameter", one, "is new and required" if is_new else _NARROWER[one.kind], with_detail=True
        )
    if before.output_schema is not None and after.output_schema is not None:
        for one in narrowings(after.output_schema, before.output_schema, of_result=True):
            yield _said("result field", one, _LESS_CERTAIN[one.kind])
    elif before.output_schema is not None:
        yield "the result is no longer described"
    yield from _claims(before.annotations, after.annotations)


def _harmless(before: Tool, after: Tool, lost: _Found, gained: _Found) -> Iterator[str]:
    paths = {one.path for one in lost}
    yield from (_said("parameter", one, _WIDER[one.kind]) for one in gained if one.path not in paths)
    old, new = before.output_schema, after.output_schema
    if old is not None and new is not None:
        less = {one.path for one in narrowings(new, old, of_result=True)}
        for one in narrowings(old, new, of_result=True):
            if one.path not in less:
                yield _said("result field", one, _MORE_CERTAIN[one.kind])
    elif new is not None:
        yield "the result is described now"
    yield from _other_claims(before.annotations, after.annotations)
    yield from _defaults(before, after)


def _said(what: str, one: Narrowing, words: str, *, with_detail: bool = False) -> str:
    whole = "the result" if what == "result field" else "the object of parameters"
    detail = f" ({one.detail})" if one.detail and with_detail else ""
    return f"{f'{what} {one.path}' if one.path else whole} {words}{detail}"


def _claims(before: Annotations, after: Annotations) -> Iterator[str]:
    """What a server no longer promises. Unless it says so, a tool changes something and may destroy."""
    if before.read_only and not after.read_only:
        yield "it no longer says that it only reads"
    if not after.read_only and _destroys(after) and not _destroys(before):
        yield "it may destroy something now"
    if before.idempotent and not after.idempotent:
        yield "it no longer says that it can be repeated safely"


def _other_claims(before: Annotations, after: Annotations) -> Iterator[str]:
    if after.read_only and not before.read_only:
        yield "it says that it only reads"
    if not after.read_only and _destroys(before) and not _destroys(after):
        yield "it says that it destroys nothing"
    if after.idempotent and not before.idempotent:
        yield "it says that it can be repeated safely"
    if before.open_world is not after.open_world:
        yield "it says something else about reaching the outside world"


def _destroys(claims: Annotations) -> bool:
    return not claims.read_only and claims.destructive is not False


def _defaults(before: Tool, after: Tool) -> Iterator[str]:
    old = defaults(before.input_schema)
    for name, value in defaults(after.input_schema).items():
        if name in old and old[name] != value:
            yield f"parameter {name} has another default"


def _is_beyond_words(before: Tool, after: Tool) -> bool:
    """Whether something differs that is not prose, though nothing was found that it means."""
    return before.annotations != after.annotations or (before.output_schema is None) is not (
        after.output_schema is None
    )


def _words(before: Tool, after: Tool) -> Iterator[str]:
    if before.title != after.title:
        yield "its title"
    if before.description != after.description:
        yield "its description"
    if before.tags != after.tags:
        yield "its tags"
    if (before.input_schema, before.output_schema) != (after.input_schema, after.output_schema):
        yield "the words or the order in its schema"
