"""A definition as it is declared beside it as a client's model gets it, line by line."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal

from msgspec import Struct

from inspector.clients.seen import SeenTool
from inspector.schema.json_value import compact

_NONE: Final = object()
# Levels below this are not indented any further.
_DEEPEST = 12


class Line(Struct, frozen=True):
    """A line of both: equal, changed (`~`), or on one side alone (`-` declared, `+` sent)."""

    sign: Literal["", "~", "-", "+"]
    declared: str
    sent: str


_BLANK = Line("", "", "")


def definition_lines(seen: SeenTool) -> Iterator[Line]:
    """Name, description and parameters of a tool; a description is broken where it is cut."""
    tool, text = seen.tool, seen.description
    yield Line("" if tool.name == seen.name else "~", tool.name, seen.name)
    yield _BLANK
    yield from (Line("+", "", one) for one in text.lead.split("\n") if one)
    yield from (Line("", one, one) for one in text.text[: text.kept].split("\n"))
    if text.lost:
        yield Line("+", "", text.mark)
        yield from (Line("-", one, "") for one in text.lost.split("\n"))
    yield from (Line("+", "", one) for one in text.end.split("\n") if one)
    yield _BLANK
    yield from compared(tool.input_schema, seen.parameters)


def compared(declared: object, sent: object) -> Iterator[Line]:
    """The lines of two schemas, in the order of the first; without recursion, as schemas may be deep."""
    waiting = _inner(0, declared, sent)[::-1]
    while waiting:
        level, label, old, new = waiting.pop()
        if _NONE not in (old, new) and _is_open(old) != _is_open(new):
            waiting += [(level, label, _NONE, new), (level, label, old, _NONE)]
        elif _is_open(old) or _is_open(new):
            yield _line(level, f"{label}:", f"{label}:", old, new)
            waiting += _inner(level + 1, old, new)[::-1]
        else:
            yield _line(level, f"{label}: {compact(old)}", f"{label}: {compact(new)}", old, new)


def signed(lines: Iterable[Line]) -> Iterator[str]:
    """The lines below each other, behind their signs: a changed one as it was, then as it is."""
    for line in lines:
        if not line.sign:
            yield f"  {line.sent}".rstrip()
        else:
            yield from (f"{sign} {text}" for sign, text in (("-", line.declared), ("+", line.sent)) if text)


def _line(level: int, declared: str, sent: str, old: object, new: object) -> Line:
    indent = "  " * min(level, _DEEPEST)
    if old is _NONE:
        return Line("+", "", indent + sent)
    if new is _NONE:
        return Line("-", indent + declared, "")
    return Line("" if declared == sent else "~", indent + declared, indent + sent)


_Pair = tuple[int, str, object, object]


def _inner(level: int, old: object, new: object) -> list[_Pair]:
    """What is within an object, by its keys, or within an array, by its places."""
    before, after = _items(old), _items(new)
    labels = dict.fromkeys((*before, *after))
    return [(level, label, before.get(label, _NONE), after.get(label, _NONE)) for label in labels]


def _items(value: object) -> dict[str, object]:
    if isinstance(value, Mapping):
        return {_label(str(key)): item for key, item in value.items()}
    if isinstance(value, list | tuple):
        return {f"[{place}]": item for place, item in enumerate(value)}
    return {}


def _label(key: str) -> str:
    """A key, in quotes if it could be taken for something else."""
    return key if key.replace("$", "_").replace("-", "_").isidentifier() else compact(key)


def _is_open(value: object) -> str:
    """Whether a value takes lines of its own, and those of what: an array of plain values takes none."""
    if isinstance(value, Mapping):
        return "object" if value else ""
    if not isinstance(value, list | tuple):
        return ""
    return "array" if any(isinstance(one, Mapping | list | tuple) for one in value) else ""
