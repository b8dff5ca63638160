"""Calls that a person saved with a name, and the results that they had."""

import json
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from inspector.config.file import read_bytes, unusable
from inspector.core.error import ConfigError
from inspector.core.message import ToolResult
from inspector.core.redaction import write
from inspector.core.text import did_you_mean
from inspector.schema.json_value import JsonObject

SAVED_CALLS: Final = "toolsight-calls.json"
"""The file in the current folder."""


class SavedCall(Struct, frozen=True):
    """A tool's id, the arguments, and the result that the call had when it was saved."""

    tool: str
    arguments: JsonObject
    result: ToolResult


def saved_calls(path: Path) -> dict[str, SavedCall]:
    """The saved calls by name; none without a file. Raises ConfigError."""
    if not path.exists():
        return {}
    data = read_bytes(path, "saved calls")
    try:
        calls: dict[str, Any] = json.loads(data)["calls"]
        return {name: _call(entry) for name, entry in calls.items()}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(
            f"{path} does not hold saved calls", hint="Save a call with --save NAME."
        ) from error


def _call(entry: dict[str, Any]) -> SavedCall:
    result = entry["result"]
    kept = ToolResult(
        str(result["text"]), bool(result["is_error"]), result["structured"], tuple(result["kinds"])
    )
    kept = replace(kept, whole=int(result.get("whole", 0)))
    return SavedCall(str(entry["tool"]), dict(entry["arguments"]), kept)


def saved_call(path: Path, name: str) -> SavedCall:
    """The call with that name. Raises ConfigError."""
    known = saved_calls(path)
    if name not in known:
        hint = did_you_mean("Saved calls", name, list(known)) or "Save a call with --save NAME."
        raise ConfigError(f"{path} has no call '{name}'", hint=hint)
    return known[name]


def save_call(path: Path, name: str, call: SavedCall) -> None:
    """Add a call to the file, or replace the one of that name. Secrets are left out. Raises ConfigError."""
    calls = {**saved_calls(path), name: call}
    data = {"calls": {one: _entry(calls[one]) for one in sorted(calls)}}
    try:
        write(path, f"{json.dumps(data, indent=2, ensure_ascii=False)}\n")
    except OSError as error:
        raise unusable(path, error, "written") from error


def _entry(call: SavedCall) -> dict[str, Any]:
    """The call without what is attached to its result."""
    entry: dict[str, Any] = to_builtins(call)
    del entry["result"]["attachments"]
    return entry
