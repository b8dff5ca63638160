"""What a server declares of a tool: its hash, and what differs between two declarations."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import SequenceMatcher
from itertools import zip_longest

from inspector.core.tool import Annotations, Tool
from inspector.schema.json_value import JsonObject, canonical, compact

# A longer line is cut to its first difference with so much text before it and after it.
_BEFORE, _AFTER = 40, 300
# More pieces of prose than this are not aligned, because aligning takes time quadratic in their number.
_ALIGNED = 400
_PLAIN = re.compile(r"[\w$-]+")
_PIECES = re.compile(r"(?<=[.!?])\s+|\n+")


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as listed, and the hash of its definition; `tool` is None if the stream holds it already."""

    name: str
    hash: str
    tool: Tool | None = None


@dataclass(frozen=True, slots=True)
class DefinitionChange:
    """What differs in one part of a definition: lines that are `gone` and lines that are `new`, in pairs.

    Each pair replaces the first with the second; an empty text means that there is none.
    """

    part: str
    lines: tuple[tuple[str, str], ...]


def definition_hash(tool: Tool) -> str:
    """SHA-256 of everything that the server declares of the tool, the same for any order of keys."""
    declared = {field.name: getattr(tool, field.name) for field in fields(tool)}
    declared["annotations"] = _annotations(tool.annotations)
    if not tool.tags:
        del declared["tags"]
    return hashlib.sha256(canonical(declared).encode()).hexdigest()


def definition_changes(before: Tool, after: Tool) -> tuple[DefinitionChange, ...]:
    """What differs between two definitions of a tool, in words a person can read; () if nothing does.

    Prose is compared by sentence, schemas by the path of each value. Takes time linear in the size of the
    schemas.
    """
    parts = (
        ("title", _prose(before.title, after.title)),
        ("description", _prose(before.description, after.description)),
        ("parameters", _values(before.input_schema, after.input_schema)),
        ("result", _values(before.output_schema, after.output_schema)),
        ("annotations", _values(_annotations(before.annotations), _annotations(after.annotations))),
        ("tags", _values({"tags": before.tags}, {"tags": after.tags})),
    )
    changes = (DefinitionChange(part, tuple(_cut(*pair) for pair in lines)) for part, lines in parts)
    return tuple(change for change in changes if change.lines)


def _annotations(annotations: Annotations) -> JsonObject:
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
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if not old and not new:
        yield before, after
    elif len(old) + len(new) > _ALIGNED:
        yield from zip_longest(old, new, fillvalue="")
    else:
        for kind, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if kind != "equal":
                yield from zip_longest(old[i1:i2], new[j1:j2], fillvalue="")


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many items both begin with."""
    pairs = zip(old, new, strict=False)
    return next((i for i, (one, other) in enumerate(pairs) if one != other), min(len(old), len(new)))


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
    start = max(_first_difference(gone, new) - _BEFORE, 0) if gone and new else 0
    return _shown(gone, start), _shown(new, start)


def _first_difference(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((i for i, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))


def _shown(text: str, start: int) -> str:
    end = start + _BEFORE + _AFTER
    rest = f"… (+{len(text) - end:,} characters)" if len(text) > end else ""
    return f"{'…' if start and text else ''}{text[start:end]}{rest}"
