"""A tool's definition as registries store it: JSON in ASCII, which every database takes."""

from functools import cache
from typing import TYPE_CHECKING

from inspector.core.error import StoreError
from inspector.core.tool import Tool
from inspector.store.codec import decode_value, encode_value

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_HINT = "Import the tools again into another database."


def definition_of(tool: Tool) -> str:
    """The definition to be stored."""
    return encode_value(_adapter().dump_python(tool, warnings=False))


def tool_in(definition: str) -> Tool:
    """The tool of a definition as stored. Raises StoreError if it is damaged, or another program's."""
    try:
        return _adapter().validate_python(decode_value(definition))
    except (ValueError, RecursionError) as error:
        raise StoreError(f"a tool in the registry cannot be read: {error}", hint=_HINT) from error


@cache
def _adapter() -> "TypeAdapter[Tool]":
    from pydantic import TypeAdapter

    return TypeAdapter(Tool)
