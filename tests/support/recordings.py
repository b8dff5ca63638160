"""Small recordings in each format that Toolsight reads, in our own words, and the tools that they use."""

import json
import shutil
from pathlib import Path
from typing import Any

from inspector.core.tool import Annotations, Tool

SPENT = 1234
READS = Annotations(read_only=True)
LIBRARY = (
    Tool("library", "find_book", "Find a book by title or author.", annotations=READS),
    Tool("library", "lend_book", "Lend a book to a reader."),
    Tool("garden", "water_plants", "Water the plants in a bed."),
    Tool("garden", "soil_report", "Report the moisture of the soil in a bed.", annotations=READS),
)


def write(path: Path, value: object) -> Path:
    """Write a value as JSON, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def write_lines(path: Path, *values: object) -> Path:
    """Write one value a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(value)}\n" for value in values))
    return path


def _copied(name: str, folder: Path) -> Path:
    return shutil.copytree(Path(__file__).with_name("recorded") / name, folder, dirs_exist_ok=True)


def mcpmark(folder: Path) -> Path:
    """A run that reads two things at once, then lends a book; its task is `library/lend`."""
    return _copied("mcpmark", folder)


def toolathlon(folder: Path) -> Path:
    """A run of the task `water-beds` that failed, with a tool that nobody defines."""
    return _copied("toolathlon", folder)


def livemcpbench(folder: Path) -> Path:
    """A run that searches by itself, in words of its own, and then lends a book."""
    return _copied("livemcpbench", folder)


def bfcl(folder: Path) -> Path:
    """Two messages with the calls that are right for them."""
    return _copied("bfcl", folder)


def definitions(path: Path) -> Path:
    """The tools by server, each as an answer to tools/list."""
    servers: dict[str, Any] = {}
    for tool in LIBRARY:
        entry = {"name": tool.name, "description": tool.description, "inputSchema": {"type": "object"}}
        if tool.annotations.read_only:
            entry["annotations"] = {"readOnlyHint": True}
        servers.setdefault(tool.server, {"tools": []})["tools"].append(entry)
    return write(path, servers)
