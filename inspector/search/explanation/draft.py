"""A reworded tool, and a separate index with it in place of the original; no search uses that index."""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace

from inspector.core.error import ToolsightError
from inspector.core.tool import Tool
from inspector.schema.json_value import JsonObject
from inspector.schema.schema import fields, resolve
from inspector.search.document import Key, key_of, texts_by_key
from inspector.search.explanation.standing import position_of
from inspector.search.index import ToolIndex


@dataclass(frozen=True, slots=True)
class ParameterText:
    """The texts of a top-level parameter; `original` is its name on the server."""

    original: str
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class ToolText:
    """The texts of a tool that its author can choose."""

    name: str
    description: str
    parameters: tuple[ParameterText, ...] = ()


def wording_of(tool: Tool) -> ToolText:
    """The tool's current texts."""
    parameters = (ParameterText(f.name, f.name, f.description) for f in fields(tool.input_schema))
    return ToolText(tool.name, tool.description, tuple(parameters))


def reworded(tool: Tool, wording: ToolText) -> Tool:
    """The tool with other texts; equal to the original if the texts are.

    Parameters that the tool does not have are ignored. Raises ToolsightError for an empty name and for two
    parameters with the same name.
    """
    if not wording.name.strip():
        raise ToolsightError("a tool needs a name", hint="Enter one, or restore the server's text.")
    known = {parameter.name: parameter for parameter in wording_of(tool).parameters}
    changed = {p.original: p for p in wording.parameters if p != known.get(p.original, p)}
    texts = {name: p.description for name, p in changed.items() if p.description != known[name].description}
    schema = tool.input_schema
    if changed:
        schema = _schema(schema, {name: p.name for name, p in changed.items()}, texts)
    return replace(tool, name=wording.name, description=wording.description, input_schema=schema)


def _schema(schema: JsonObject, names: Mapping[str, str], texts: Mapping[str, str]) -> JsonObject:
    """The schema with new parameter names and descriptions, both keyed by the old name."""
    resolved = resolve(schema, schema)
    properties: dict[str, object] = {}
    for name, value in resolved["properties"].items():
        new = names.get(name, name)
        if name in names and not new.strip():
            raise ToolsightError(f"the parameter '{name}' needs a name", hint="Enter one.")
        if new in properties:
            raise ToolsightError(f"two parameters are named '{new}'", hint="Rename one of them.")
        properties[new] = _described(value, texts[name]) if name in texts else value
    required = resolved.get("required")
    if isinstance(required, list):
        required = [names.get(name, name) if isinstance(name, str) else name for name in required]
        return {**schema, "properties": properties, "required": required}
    return {**schema, "properties": properties}


def _described(value: object, description: str) -> object:
    own = value if isinstance(value, Mapping) else {}
    others = {key: inner for key, inner in own.items() if key != "description"}
    return {**others, "description": description} if description else others


def draft(index: ToolIndex, edited: Tool, original_id: str) -> ToolIndex:
    """The index with the edited tool in place of the original, embedded if the index is semantic.

    `index` itself does not change, so this may run in a thread while searches and embedding continue. The new
    vectors are not stored. Raises ToolsightError if the original is not in the index or the edited id is
    taken, ModelError if the texts cannot be embedded.
    """
    position = position_of(index, original_id)
    if index.tools[position] == edited:
        return index
    if index.position.get(edited.id, position) != position:
        raise ToolsightError(
            f"a tool '{edited.id}' already exists", hint="Give the edited tool another name."
        )
    tools = (*index.tools[:position], edited, *index.tools[position + 1 :])
    apart = _apart(index)
    changed = apart.updated(tools)
    if apart.semantics is None or not index.is_semantic:
        return changed
    texts = _new_texts(changed, index, edited)
    if texts:
        apart.semantics.embed(texts, keep=False)
    return changed.with_new_vectors()


def _apart(index: ToolIndex) -> ToolIndex:
    """The same index with its own vocabulary and new vectors, since both grow as tools are read."""
    apart = copy(index)
    apart.vocabulary = dict(index.vocabulary)
    if index.semantics is not None:
        apart.semantics = copy(index.semantics)
        # Gives the copy its own mapping of new vectors.
        apart.semantics.settle(index.vectors)
        # Vectors added since the index was built would count as an effect of the edit.
        apart.semantics.settle(apart.semantics.table(index.keys()))
    return apart


def _new_texts(changed: ToolIndex, index: ToolIndex, edited: Tool) -> Mapping[Key, str]:
    """The texts the edit added; texts missing before stay missing, or they would count as an effect."""
    texts = dict(texts_by_key([edited], lined=index.lined))
    texts |= {key_of(text): text for text in changed.server_texts.values()}
    known = set(index.keys())
    return {key: text for key, text in texts.items() if key not in known}
