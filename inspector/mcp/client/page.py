"""A page of a tool list without those that cannot be used: the SDK would reject all of it for one."""

from collections.abc import Mapping, Sequence
from typing import Any

from mcp_types import ListToolsResult, Tool
from mcp_types.methods import validate_server_result
from pydantic import BaseModel, ValidationError

from inspector.mcp.client.repair import TOO_DEEP
from inspector.mcp.client.translate import size_text
from inspector.schema.json_value import compact

LIST = "tools/list"
SKIPPED = "toolsight/skipped"
"""Where `_meta` names the tools that were left out, each with the reason."""
MAX_DEFINITION = 1_000_000
"""Characters of one tool's definition as JSON: some 250,000 tokens."""
_SHOWN_ERRORS = 2
_Skipped = list[list[str]]


def with_valid_tools(page: Mapping[str, Any], protocol: str, *, is_large: bool = True) -> dict[str, Any]:
    """A page without the tools that the SDK would reject; `_meta` names those, with the reasons.

    So it does the tools that are too large, which only a page that `is_large` may have. A page that is
    invalid apart from its tools stays unchanged, so that the SDK reports it.
    """
    whole = dict(page)
    tools = page.get("tools")
    if not isinstance(tools, list) or _flaw({**whole, "tools": []}, protocol):
        return whole
    giants, skipped = _giants(tools) if is_large else {}, _Skipped()
    good = [tool for number, tool in enumerate(tools) if number not in giants]
    if _flaw({**whole, "tools": good}, protocol) or _model_flaw(ListToolsResult, {**whole, "tools": good}):
        good, skipped = _sorted_out(whole, good, protocol)
    meta = page.get("_meta")
    skipped += giants.values()
    return {**whole, "tools": good, "_meta": {**(meta if isinstance(meta, dict) else {}), SKIPPED: skipped}}


def _giants(tools: Sequence[Any]) -> dict[int, list[str]]:
    """By their place, the tools that are too large to be of any use, with their sizes."""
    sizes = ((place, tool, len(compact(tool))) for place, tool in enumerate(tools))
    return {
        place: [
            _name(tool, place + 1),
            f"its definition has {size_text(size)}; Toolsight reads at most {size_text(MAX_DEFINITION)}",
        ]
        for place, tool, size in sizes
        if size > MAX_DEFINITION
    }


def _sorted_out(page: Mapping[str, Any], tools: Sequence[Any], protocol: str) -> tuple[list[Any], _Skipped]:
    """The valid tools of a page, and the names of the others with what is wrong."""
    good: list[Any] = []
    skipped = _Skipped()
    for number, tool in enumerate(tools, start=1):
        flaw = _nesting(tool) or _flaw({**page, "tools": [tool]}, protocol) or _model_flaw(Tool, tool)
        if flaw:
            skipped.append([_name(tool, number), flaw])
        else:
            good.append(tool)
    return good, skipped


def _nesting(tool: object) -> str:
    is_cut = isinstance(tool, dict) and TOO_DEEP in tool
    return "its definition is nested too deeply for Toolsight" if is_cut else ""


def _name(tool: object, number: int) -> str:
    """What a tool of any shape is called; `number` is its place in the page."""
    name = tool.get("name") if isinstance(tool, dict) else None
    return name if isinstance(name, str) and name else f"tool {number}"


def _flaw(page: Mapping[str, Any], protocol: str) -> str:
    try:
        validate_server_result(LIST, protocol, page)
    except ValidationError as error:
        return flaw_text(error)
    except (KeyError, ValueError):
        return ""
    return ""


def _model_flaw(model: type[BaseModel], value: object) -> str:
    try:
        model.model_validate(value, by_name=False)
    except ValidationError as error:
        return flaw_text(error)
    return ""


def flaw_text(error: ValidationError) -> str:
    """What pydantic found wrong and where, in one short line."""
    flaws = error.errors(include_url=False, include_context=False, include_input=False)
    texts = []
    for flaw in flaws[:_SHOWN_ERRORS]:
        where = ".".join(str(step) for step in flaw["loc"]).removeprefix("tools.0").lstrip(".")
        texts.append(f"{where}: {flaw['msg']}" if where else flaw["msg"])
    more = len(flaws) - len(texts)
    return "; ".join(texts) + (f"; and {more} more" if more > 0 else "")
