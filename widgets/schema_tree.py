"""`JsonTree`: a JSON value as a tree that expands level by level. `outline`: a JSON Schema in lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar, Literal, cast
from urllib.parse import unquote

from msgspec import Struct
from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from widgets.terminal_text import visible
from widgets.text import MUTED

Role = Literal["key", "type", "value", "note", "warning"]
Sort = Literal["json", "schema", "schemas"]

_ONE = ("items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames")
_MANY = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("patternProperties", "dependentSchemas")
# So many children of a line are shown.
_MOST = 200


class Entry(Struct, frozen=True):
    """A line of the outline: its label, and the value that its children come from.

    Args:
        label: Pieces of safe text, each with its role.
        value: The value the line stands for.
        sort: Whether the value is data, a schema, or a collection of schemas.
        followed: The references that led here; following one of them again is a loop.
        loops: Whether the line repeats a schema above it.
    """

    label: tuple[tuple[str, Role], ...]
    value: object
    sort: Sort = "json"
    followed: frozenset[str] = frozenset()
    loops: bool = False

    @property
    def expandable(self) -> bool:
        """Whether the line may have children."""
        return isinstance(self.value, dict | list) and bool(self.value) and not self.loops


def children(entry: Entry) -> Iterator[Entry]:
    """Yield the lines below one of a JSON value."""
    value = entry.value
    if isinstance(value, dict):
        for name, part in value.items():
            yield _json(str(name), part)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield _json(f"[{index}]", part)


def schemas_in(entry: Entry, root: object) -> Iterator[Entry]:
    """Yield the lines below one of a schema; what is no schema has none."""
    value = entry.value
    if entry.sort == "schema" and isinstance(value, dict):
        yield from _schema_children(entry, value, root)
    elif entry.sort == "schemas" and isinstance(value, dict):
        for name, part in value.items():
            yield _schema(str(name), part, root, entry.followed)
    elif entry.sort == "schemas" and isinstance(value, list):
        for index, part in enumerate(value, 1):
            yield _schema(f"option {index}", part, root, entry.followed)


def _schema_children(entry: Entry, schema: Mapping[str, object], root: object) -> Iterator[Entry]:
    followed = entry.followed
    target, seen = resolve(schema, root)
    if seen:
        followed |= frozenset(seen)
        schema = {**target, **{key: part for key, part in schema.items() if key != "$ref"}}
    named = schema.get("properties")
    required = schema.get("required")
    for name, part in named.items() if isinstance(named, dict) else ():
        yield _schema(str(name), part, root, followed, isinstance(required, list) and name in required)
    for key, part in schema.items():
        if key in _ONE and isinstance(part, dict):
            yield _schema(key, part, root, followed)
        elif (key in _MANY and isinstance(part, list)) or (key in _NAMED and isinstance(part, dict)):
            yield Entry(_json(key, part).label, part, "schemas", followed)


def _schema(
    name: str, schema: object, root: object, followed: frozenset[str], required: bool = False
) -> Entry:
    key: list[tuple[str, Role]] = [(_line(name), "key")]
    if required:
        key.append((" *", "warning"))
    if not isinstance(schema, dict):
        return Entry((*key, (": ", "note"), (_scalar(schema), "value")), schema)
    target, seen = resolve(schema, root)
    loops = any(step in followed for step in seen)
    label = [*key, ("  ", "note"), (type_of({**target, **schema}), "type")]
    if isinstance(reference := schema.get("$ref"), str):
        label.append((f"  → {_line(reference, 80)}", "note"))
        if not target:
            label.append(("  not found in this schema", "warning"))
        elif loops:
            label.append(("  ↻ repeats a schema above", "note"))
    whole = {**target, **schema}
    if isinstance(choices := whole.get("enum"), list):
        label.append((f"  {_choices(choices)}", "value"))
    if "default" in whole:
        label.append((f"  = {_scalar(whole['default'], 60)}", "value"))
    if isinstance(description := schema.get("description", target.get("description")), str):
        label.append((f"  {_line(description, 200)}", "note"))
    return Entry(tuple(label), schema, "schema", followed, loops)


def _json(name: str, value: object) -> Entry:
    key: tuple[str, Role] = (_line(name), "key")
    if isinstance(value, dict):
        return Entry((key, (f"  {{{len(value)}}}", "note")), value)
    if isinstance(value, list):
        return Entry((key, (f"  [{len(value)}]", "note")), value)
    return Entry((key, (": ", "note"), (_scalar(value), "value")), value)


def resolve(schema: Mapping[str, object], root: object) -> tuple[dict[str, object], list[str]]:
    """Follow `$ref` inside the document; return its target and the references on the way."""
    seen: list[str] = []
    current: object = schema
    while isinstance(current, dict) and isinstance(reference := current.get("$ref"), str):
        if reference in seen:
            return {}, seen
        seen.append(reference)
        current = _pointed_at(reference, root)
    return (cast("dict[str, object]", current) if seen and isinstance(current, dict) else {}), seen


def _pointed_at(reference: str, root: object) -> object:
    if reference == "#":
        return root
    if not reference.startswith("#/"):
        return None
    current = root
    for step in reference[2:].split("/"):
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(current, dict):
            current = current.get(name)
        elif isinstance(current, list) and name.isascii() and name.isdigit() and len(name) < 9:
            current = current[int(name)] if int(name) < len(current) else None
        else:
            return None
    return current


def type_of(schema: Mapping[str, object]) -> str:
    """Return the type of a schema in a few words."""
    kind = schema.get("type")
    if isinstance(kind, str):
        items = schema.get("items")
        inner = items.get("type", items.get("$ref")) if isinstance(items, dict) else None
        return (
            f"array of {_line(inner.rpartition('/')[2], 40)}"
            if kind == "array" and isinstance(inner, str)
            else _line(kind, 40)
        )
    if isinstance(kind, list):
        return " | ".join(_line(str(part), 40) for part in kind[:8])
    if "enum" in schema or "const" in schema:
        return "enum" if "enum" in schema else "const"
    many = next((key for key in ("anyOf", "oneOf", "allOf") if isinstance(schema.get(key), list)), None)
    if many is None:
        return "object" if "properties" in schema else "any"
    parts = cast("Sequence[object]", schema[many])
    kinds = [str(part.get("type", "…")) for part in parts[:6] if isinstance(part, dict)]
    return (" & " if many == "allOf" else " | ").join(
        _line(kind, 40) for kind in dict.fromkeys(kinds)
    ) or "any"


def _line(text: str, limit: int = 300) -> str:
    return visible(text, limit=limit, newlines=False)


def _choices(choices: Sequence[object]) -> str:
    more = " | …" if len(choices) > 6 else ""
    return " | ".join(_scalar(choice, 40) for choice in choices[:6]) + more


def _scalar(value: object, limit: int = 300) -> str:
    try:
        return _line(json.dumps(value, ensure_ascii=False), limit)
    except (TypeError, ValueError):
        return _line(f"a {type(value).__name__} that JSON cannot represent")


_STYLES: Mapping[Role, str] = {
    "key": "bold",
    "type": "$text-accent",
    "value": "$text-success",
    "note": MUTED,
    "warning": "bold $text-warning",
}
_DEEPEST, _MOST_LINES = 4, 80


def outline(schema: object) -> Iterator[Content]:
    """Yield the parameters of a schema in lines to read, inner ones below theirs; keywords have none."""
    waiting = [(0, one) for one in _read(Entry((), schema, "schema"), schema)]
    for _ in range(_MOST_LINES):
        if not waiting:
            return
        level, entry = waiting.pop()
        pieces = ((piece, _STYLES[role]) for piece, role in entry.label)
        yield Content.assemble("  " * level, *pieces)
        if entry.expandable and level < _DEEPEST:
            waiting += [(level + 1, one) for one in _read(entry, schema)]
    if waiting:
        yield Content.styled("…", _STYLES["note"])


def _read(entry: Entry, root: object) -> list[Entry]:
    """The lines below one that are of parameters, the last one first."""
    lines = islice(schemas_in(entry, root), _MOST)
    return [one for one in lines if one.sort != "json"][::-1]


class JsonTree(Tree[Entry]):
    """Creates lines when their parent is expanded, so large data cost nothing."""

    DEFAULT_CSS = """
    JsonTree {
        background: transparent;
        scrollbar-size: 1 1;
        & > .json-tree--key { text-style: bold; }
        & > .json-tree--value { color: $text-success; }
        & > .json-tree--note { color: $text-muted; }
    }
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"json-tree--key", "json-tree--value", "json-tree--note"}

    BINDINGS: ClassVar[list[BindingType]] = [Binding("y", "copy", "copy", id="tree.copy")]

    value: reactive[object] = reactive(None, always_update=True, init=False)
    """The JSON value."""
    empty: reactive[str] = reactive("", init=False)
    """Shown when the value is empty."""

    class Copied(Message):
        """The JSON of a line is on the clipboard."""

    def __init__(self, value: object = None, *, empty: str, **options: Any) -> None:
        super().__init__(Text(""), **options)
        self.show_root = False
        self.guide_depth = 3
        self.set_reactive(JsonTree.value, value)
        self.set_reactive(JsonTree.empty, empty)

    def on_mount(self) -> None:
        self.watch_value()

    def watch_value(self) -> None:
        self.clear()
        self.root.data = Entry((), self.value)
        self.root.expand()
        if not self._fill(self.root):
            label = (
                self.empty
                if isinstance(self.value, dict | list | None)
                else json.dumps(self.value, default=str)
            )
            self._add(self.root, Entry(((visible(label, newlines=False), "note"),), self.value, loops=True))
        self.cursor_line = 0

    def _fill(self, node: TreeNode[Entry]) -> int:
        """Add the first children of a node; return how many."""
        if node.data is None:
            return 0
        entries = children(node.data)
        chosen = list(islice(entries, _MOST))
        for entry in chosen:
            self._add(node, entry)
        if left := sum(1 for _ in entries):
            self._add(node, Entry(((f"… {left:,} more; y copies all", "note"),), node.data.value, loops=True))
        return len(chosen)

    def _add(self, node: TreeNode[Entry], entry: Entry) -> None:
        text = Text("".join(piece for piece, _ in entry.label) or " ")
        opens = entry.expandable and next(children(entry), None) is not None
        node.add(text, entry, allow_expand=opens)

    def render_label(self, node: TreeNode[Entry], base_style: Style, style: Style) -> Text:
        """Draw a line, each piece in the style of its role."""
        entry = node.data
        text = Text("")
        if node.allow_expand:
            text.append("▾ " if node.is_expanded else "▸ ", base_style + style)
        for piece, role in entry.label if entry else ():
            text.append(piece, style + self._role_style(role))
        return text

    def _role_style(self, role: str) -> Style:
        whole = self.get_component_rich_style(f"json-tree--{role}")
        return Style(color=whole.color, bold=whole.bold or None)

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[Entry]) -> None:
        """Create a node's children when it is first expanded."""
        node = event.node
        if not node.children:
            self._fill(node)

    def action_copy(self) -> None:
        """Copy the JSON of the line under the cursor."""
        node = self.cursor_node
        if node is not None and node.data is not None:
            self.app.copy_to_clipboard(json.dumps(node.data.value, indent=2, default=str))
            self.post_message(self.Copied())
