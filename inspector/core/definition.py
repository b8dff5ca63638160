"""What a server declares of a tool: its hash, what differs between two declarations, and what that breaks."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.report import Diff, cut
from inspector.core.text import common_start
from inspector.core.tool import DEFINING_FIELDS, Annotations, Tool
from inspector.schema.json_value import JsonObject, canonical, compact
from inspector.schema.narrowing import Kind, Narrowing, narrowings
from inspector.schema.schema import defaults

# A longer line is cut to its first difference with so much text before it and after it.
_BEFORE, _AFTER = 40, 300
# More pieces of prose than this are not aligned, because aligning takes time quadratic in their number.
_ALIGNED = 400
_PLAIN = re.compile(r"[\w$-]+")
_PIECES = re.compile(r"(?<=[.!?])\s+|\n+")


class ToolDefinition(Struct, frozen=True):
    """A tool as listed, and the hash of its definition; `tool` is None if the stream holds it already."""

    name: str
    hash: str
    tool: Tool | None = None


class DefinitionChange(Struct, frozen=True):
    """What differs in one part of a definition: lines that are `gone` and lines that are `new`, in pairs.

    Each pair replaces the first with the second; an empty text means that there is none.
    """

    part: str
    lines: tuple[tuple[str, str], ...]


# So many lines of what differs are shown, each in so many characters.
_SHOWN, _LONGEST_SHOWN = 60, 400


def shown_changes(changes: Sequence[DefinitionChange]) -> Iterator[Diff]:
    """Each part that differs, its lines that are gone after a - and its new lines after a +."""
    room = _SHOWN
    for change in changes:
        signed = ((sign, text) for pair in change.lines[:room] for sign, text in zip("-+", pair, strict=True))
        lines = [f"{sign} {cut(text, _LONGEST_SHOWN)}" for sign, text in signed if text]
        if len(change.lines) > room:
            lines.append(f"… and {len(change.lines) - room:,} more differences")
        yield Diff(change.part, tuple(lines))
        room = max(room - len(change.lines), 0)


def definition_hash(tool: Tool) -> str:
    """SHA-256 of everything that the server declares of the tool, the same for any order of keys."""
    declared = {name: getattr(tool, name) for name in DEFINING_FIELDS}
    declared["annotations"] = declared_annotations(tool.annotations)
    # What came later counts only if it is declared, so that older hashes stay.
    for name in ("tags", "meta", "task_support"):
        if not declared[name]:
            del declared[name]
    return hashlib.sha256(canonical(declared).encode()).hexdigest()


def declared(tool: Tool) -> dict[str, Any]:
    """The definition as its server lists it, by MCP's keys, without large values that no client acts by."""
    claims = tool.beside.get("annotations")
    has_title = tool.title and not (isinstance(claims, Mapping) and claims.get("title") == tool.title)
    parts = {
        "name": tool.name,
        "title": tool.title if has_title else None,
        "description": tool.description or None,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": declared_annotations(tool.annotations) or None,
        "_meta": tool.meta or None,
        "execution": {"taskSupport": tool.task_support} if tool.task_support else None,
    }
    return {**{key: value for key, value in parts.items() if value is not None}, **tool.beside}


_LARGEST_BESIDE = 2_000


def with_beside(tool: Tool, raw: JsonObject) -> Tool:
    """The tool with what it was listed with beside what is read of it."""
    known = declared(tool)
    claims = raw.get("annotations")
    if isinstance(claims, Mapping) and "title" in claims:
        del known["title"]
    others = {key: value for key, value in raw.items() if key not in known or known[key] != value}
    return replace(tool, beside={k: v for k, v in others.items() if len(compact(v)) <= _LARGEST_BESIDE})


def definition_changes(before: Tool, after: Tool) -> tuple[DefinitionChange, ...]:
    """What differs between two definitions of a tool, in words a person can read; () if nothing does.

    Prose is compared by sentence, schemas by the path of each value. Takes time linear in the size of the
    schemas.
    """
    claims = tuple(declared_annotations(one.annotations) for one in (before, after))
    parts = (
        ("title", _prose(before.title, after.title)),
        ("description", _prose(before.description, after.description)),
        ("parameters", _values(before.input_schema, after.input_schema)),
        ("result", _values(before.output_schema, after.output_schema)),
        ("annotations", _values(*claims)),
        ("tags", _values({"tags": before.tags}, {"tags": after.tags})),
        ("_meta", _values(before.meta or None, after.meta or None)),
        ("tasks", _values({"taskSupport": before.task_support}, {"taskSupport": after.task_support})),
    )
    changes = (DefinitionChange(part, tuple(_cut(*pair) for pair in lines)) for part, lines in parts)
    return tuple(change for change in changes if change.lines)


def declared_annotations(annotations: Annotations) -> JsonObject:
    """The annotations that the server makes, by their names in MCP."""
    return {
        name: value
        for name, value in (
            ("readOnlyHint", annotations.read_only),
            ("destructiveHint", annotations.destructive),
            ("idempotentHint", annotations.idempotent),
            ("openWorldHint", annotations.open_world),
        )
        if value is not None
    }


def _prose(before: str, after: str) -> Iterator[tuple[str, str]]:
    """The sentences and lines that differ; white space between them does not count."""
    if before == after:
        return
    old, new = _PIECES.split(before.strip()), _PIECES.split(after.strip())
    start = common_start(old, new)
    end = common_start(old[start:][::-1], new[start:][::-1])
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if not old and not new:
        yield before, after
    elif len(old) + len(new) > _ALIGNED:
        yield from zip_longest(old, new, fillvalue="")
    else:
        for kind, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if kind != "equal":
                yield from zip_longest(old[i1:i2], new[j1:j2], fillvalue="")


def _values(before: JsonObject | None, after: JsonObject | None) -> Iterator[tuple[str, str]]:
    """The values that differ, each with its path; None has no values."""
    old, new = dict(_paths(before)), dict(_paths(after))
    for path in dict.fromkeys((*old, *new)):
        if old.get(path) != new.get(path):
            yield _line(path, old.get(path)), _line(path, new.get(path))


def _line(path: str, value: str | None) -> str:
    return "" if value is None else f"{path}: {value}"


def _paths(value: JsonObject | None) -> Iterator[tuple[str, str]]:
    """Each value within the object as JSON, by its path; without recursion, as schemas may be deep."""
    waiting: list[tuple[str, object]] = [] if value is None else [("", value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, Mapping) and item:
            waiting += [(f"{path}{_step(key, path)}", item[key]) for key in sorted(item, reverse=True)]
        elif isinstance(item, list | tuple) and item:
            waiting += [(f"{path}[{number}]", item[number]) for number in reversed(range(len(item)))]
        else:
            yield path or "(all)", compact(item)


def _step(key: object, path: str) -> str:
    """A key as a step of a path, quoted if it could be taken for something else."""
    name = str(key)
    return f"{'.' if path else ''}{name if _PLAIN.fullmatch(name) else compact(name)}"


def _cut(gone: str, new: str) -> tuple[str, str]:
    """Both lines, cut so that their first difference is seen however long they are."""
    if max(len(gone), len(new)) <= _BEFORE + _AFTER:
        return gone, new
    start = max(common_start(gone, new) - _BEFORE, 0) if gone and new else 0
    return _shown(gone, start), _shown(new, start)


def _shown(text: str, start: int) -> str:
    end = start + _BEFORE + _AFTER
    rest = f"… (+{len(text) - end:,} characters)" if len(text) > end else ""
    return f"{'…' if start and text else ''}{text[start:end]}{rest}"


Verdict = Literal["same", "words", "compatible", "breaking"]
# More reasons than this are counted, not told.
MOST_REASONS = 20
_Found = tuple[Narrowing, ...]
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
_WIDER: dict[Kind, str] = {"removed": "is new and optional", "required": "is no longer required"}
_WIDER_ELSE = "takes more"
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
_MORE_CERTAIN: dict[Kind, str] = {"removed": "is returned too", "required": "is always returned now"}
_MORE_CERTAIN_ELSE = "is told more exactly"


class SchemaChange(Struct, frozen=True):
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
    if after.task_support == "required" != before.task_support:
        yield "it runs only as a task"
    yield from _claims(before.annotations, after.annotations)


def _harmless(before: Tool, after: Tool, lost: _Found, gained: _Found) -> Iterator[str]:
    paths = {one.path for one in lost}
    for one in (one for one in gained if one.path not in paths):
        yield _said("parameter", one, _WIDER.get(one.kind, _WIDER_ELSE))
    old, new = before.output_schema, after.output_schema
    if old is not None and new is not None:
        less = {one.path for one in narrowings(new, old, of_result=True)}
        for one in narrowings(old, new, of_result=True):
            if one.path not in less:
                yield _said("result field", one, _MORE_CERTAIN.get(one.kind, _MORE_CERTAIN_ELSE))
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
    return (
        before.annotations != after.annotations
        or before.task_support != after.task_support
        or (before.output_schema is None) is not (after.output_schema is None)
    )


def _words(before: Tool, after: Tool) -> Iterator[str]:
    if before.title != after.title:
        yield "its title"
    if before.description != after.description:
        yield "its description"
    if before.tags != after.tags:
        yield "its tags"
    if before.meta != after.meta:
        yield "what it tells clients in _meta"
    if (before.input_schema, before.output_schema) != (after.input_schema, after.output_schema):
        yield "the words or the order in its schema"
