"""A draft as a file: what changed, the texts, or the whole definition, depending on the file's extension."""

import difflib
import re
from collections.abc import Iterator
from pathlib import Path

from inspector.app.pages.find.edit.content import definition_json
from inspector.domain.tool import Tool
from inspector.engine.discovery.explanation.draft import wording_of

ENDINGS = ".patch or .diff saves the changes, .txt the texts, .json the definition."
_PATCHES = (".patch", ".diff")


def suggested(tool: Tool) -> Path:
    """Return the file that is proposed for a draft of the tool."""
    return Path.cwd() / f"{_file_name(tool)}.patch"


def exported(tool: Tool, edited: Tool, path: Path) -> str:
    """Return a draft in the format of the path's extension. Raises ValueError for any other extension."""
    if path.suffix in _PATCHES:
        return patch(tool, edited)
    if path.suffix == ".txt":
        return texts(edited)
    if path.suffix == ".json":
        return f"{definition_json(edited)}\n"
    raise ValueError("the file name must end in .patch, .diff, .txt or .json")


def texts(tool: Tool) -> str:
    """Return the texts of a tool that its author can choose, as they are."""
    return "\n".join(_lines(tool)) + "\n"


def _lines(tool: Tool) -> Iterator[str]:
    wording = wording_of(tool)
    yield f"name: {wording.name}"
    yield ""
    yield from wording.description.split("\n")
    for parameter in wording.parameters:
        yield ""
        yield f"parameter: {parameter.name}"
        yield from parameter.description.split("\n")


def patch(tool: Tool, edited: Tool) -> str:
    """Return what a draft changes of the texts as a unified diff; empty if it changes nothing."""
    name = f"{_file_name(tool)}.txt"
    lines = difflib.unified_diff([*_lines(tool)], [*_lines(edited)], f"a/{name}", f"b/{name}", lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _file_name(tool: Tool) -> str:
    return re.sub(r"[^\w.-]+", "-", tool.id, flags=re.ASCII).strip("-.") or "tool"
