"""A tool's definition as a TypeScript declaration, for models that call tools from a script.

    /** Lists orders. */ declare function shop__list_orders(input: { status?: "paid" }): Promise<unknown>;

Definitions come from servers: whatever is no JSON Schema becomes `unknown`, and no text ends its comment.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite

from inspector.core.text import one_line
from inspector.core.tool import Tool
from inspector.schema.json_value import JsonObject, as_list, as_object, compact
from inspector.schema.schema import pointed

# Deeper than any published schema; what is nested deeper is `unknown`.
_DEEPEST = 32
_SIMPLE = {
    "string": "string",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "null": "null",
}
_UNKNOWN = "unknown"
_ANY_OBJECT = f"Record<string, {_UNKNOWN}>"
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_NO_LETTER = re.compile(r"[^A-Za-z0-9_]")


def function_name(wire_name: str) -> str:
    """The name of a tool as an identifier: what no identifier has becomes an underscore."""
    name = _NO_LETTER.sub("_", wire_name)
    return f"_{name}" if name[:1].isdigit() else name


def declaration(tool: Tool) -> str:
    """The declaration of a tool; the types that its schemas define come before it, a line each."""
    name = function_name(tool.wire_name)
    given, returned = _Types(name, tool.input_schema), _Types(f"{name}_result", tool.output_schema or {})
    takes, returns = given.text(tool.input_schema), returned.text(tool.output_schema or True)
    takes = "{}" if takes == _ANY_OBJECT else takes
    function = f"{_comment(tool.said)}declare function {name}(input: {takes}): Promise<{returns}>;"
    return "\n".join((*given.named(), *returned.named(), function))


def _comment(text: str) -> str:
    said = text.strip().replace("*/", "*\\/")
    return f"/** {said} */ " if said else ""


class _Types:
    """The types of one schema; what a reference leads to is a named type, which may be recursive."""

    def __init__(self, prefix: str, root: JsonObject) -> None:
        self._prefix = prefix
        self._root = root
        self._names: dict[str, str] = {}
        self._open: list[tuple[str, object]] = []

    def named(self) -> Iterator[str]:
        """The definitions of the named types that the texts so far use, and of those that these use."""
        while self._open:
            name, schema = self._open.pop(0)
            yield f"type {name} = {self.text(schema)};"

    def text(self, schema: object, depth: int = 0) -> str:
        """The type of a schema."""
        if schema is False:
            return "never"
        if not isinstance(schema, Mapping) or depth > _DEEPEST:
            return _UNKNOWN
        if isinstance(schema.get("$ref"), str):
            return self._reference(schema["$ref"])
        options = schema.get("anyOf") or schema.get("oneOf")
        parts = [self._own(schema, depth)] if self._says_itself(schema) else []
        if isinstance(options, list):
            parts.append(_union(self.text(option, depth + 1) for option in options))
        parts += [self.text(part, depth + 1) for part in as_list(schema.get("allOf"))]
        known = [part for part in dict.fromkeys(parts) if part != _UNKNOWN] or [_UNKNOWN]
        text = known[0] if len(known) == 1 else " & ".join(map(_grouped, known))
        return _union((text, "null")) if schema.get("nullable") is True else text

    @staticmethod
    def _says_itself(schema: JsonObject) -> bool:
        return any(key in schema for key in ("const", "enum", "type", "properties", "additionalProperties"))

    def _reference(self, pointer: str) -> str:
        if pointer not in self._names:
            found = pointed(pointer, self._root)
            if found is None or not isinstance(found[1], Mapping | bool):
                return _UNKNOWN
            last = function_name(pointer.rpartition("/")[2]).strip("_") or "self"
            name, taken = f"{self._prefix}_{last}", set(self._names.values())
            while name in taken:
                name = f"{name}_"
            self._names[pointer] = name
            self._open.append((name, found[1]))
        return self._names[pointer]

    def _own(self, schema: JsonObject, depth: int) -> str:
        """The type that a schema says without those that it combines."""
        if "const" in schema:
            return _literal(schema["const"])
        if isinstance(schema.get("enum"), list):
            return _union(map(_literal, schema["enum"]))
        given = schema.get("type", "object")
        kinds = given if isinstance(given, list) else [given]
        return _union(self._of_kind(kind, schema, depth) for kind in kinds)

    def _of_kind(self, kind: object, schema: JsonObject, depth: int) -> str:
        if kind == "object":
            return self._object(schema, depth)
        if kind != "array":
            return _SIMPLE.get(kind, _UNKNOWN) if isinstance(kind, str) else _UNKNOWN
        items = schema.get("prefixItems", schema.get("items"))
        if isinstance(items, list):
            return f"[{', '.join(self.text(item, depth + 1) for item in items)}]"
        item = self.text(items, depth + 1)
        return f"{item}[]" if _IDENTIFIER.fullmatch(item) else f"Array<{item}>"

    def _object(self, schema: JsonObject, depth: int) -> str:
        required = [name for name in as_list(schema.get("required")) if isinstance(name, str)]
        members = [
            self._member(str(name), one, name in required, depth)
            for name, one in as_object(schema.get("properties")).items()
        ]
        more = schema.get("additionalProperties")
        known = f"{{ {'; '.join(members)} }}" if members else ""
        if isinstance(more, Mapping):
            other = f"Record<string, {self.text(more, depth + 1)}>"
            return f"{known} & {other}" if known else other
        return known or ("{}" if more is False else _ANY_OBJECT)

    def _member(self, name: str, schema: object, required: bool, depth: int) -> str:
        key = name if _IDENTIFIER.fullmatch(name) else compact(name)
        about = as_object(schema).get("description")
        said = _comment(one_line(about)) if isinstance(about, str) else ""
        return f"{said}{key}{'' if required else '?'}: {self.text(schema, depth + 1)}"


def _union(options: Iterable[str]) -> str:
    parts = list(dict.fromkeys(options)) or ["never"]
    if _UNKNOWN in parts:
        return _UNKNOWN
    return parts[0] if len(parts) == 1 else " | ".join(map(_grouped, parts))


def _grouped(part: str) -> str:
    """A part in brackets if it is a union or an intersection itself."""
    return f"({part})" if " | " in part or " & " in part else part


def _literal(value: object) -> str:
    """A JSON value as the type of that value alone; JSON is TypeScript, but for numbers that are none."""
    if isinstance(value, float) and not isfinite(value):
        return "number"
    return compact(value)
