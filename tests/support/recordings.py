"""Small recordings in each format that Toolsight reads, in our own words, and the tools that they use."""

import json
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


def chat_call(name: str, arguments: object, call_id: str = "c1") -> dict[str, Any]:
    """A call as chat completions have it."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def mcpmark(folder: Path, *, success: bool = True) -> Path:
    """A run that reads two things at once, then lends a book; its task is `library/lend`."""
    run = folder / "library" / "plain" / "run-1" / "lend"
    find = {"type": "function_call", "name": "find_book", "arguments": '{"title": "Emma"}', "call_id": "a"}
    other = {**find, "arguments": '{"title": "Persuasion"}', "call_id": "b"}
    lend = {**find, "name": "lend_book", "call_id": "c"}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]}
    write(
        run / "messages.json",
        [
            {"role": "user", "content": "Lend Emma to Ann."},
            said,
            find,
            other,
            {"type": "function_call_output", "call_id": "a", "output": "shelf 1"},
            {"type": "function_call_output", "call_id": "b", "output": "shelf 2"},
            lend,
            {"type": "function_call_output", "call_id": "c", "output": "Error: lent already"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "No."}]},
        ],
    )
    write(
        run / "meta.json",
        {
            "execution_result": {"success": success},
            "token_usage": {"input_tokens": SPENT, "output_tokens": 50},
        },
    )
    return folder


def toolathlon(folder: Path) -> Path:
    """A run of the task `water-beds` that failed, with a tool that nobody defines."""
    write(
        folder / "some-model_water-beds.json",
        {
            "pass": False,
            "messages": [
                {"role": "user", "content": "Water what is dry."},
                {
                    "role": "assistant",
                    "content": "First the soil.",
                    "tool_calls": [chat_call("garden-soil_report", {"bed": 1})],
                },
                {"role": "tool", "content": "dry", "tool_call_id": "c1"},
                {"role": "assistant", "content": None, "tool_calls": [chat_call("local-nap", {}, "c2")]},
                {"role": "tool", "content": "rested", "tool_call_id": "c2"},
                {
                    "role": "assistant",
                    "content": "Now the water.",
                    "tool_calls": [chat_call("garden-water_plants", {"bed": 1}, "c3")],
                },
                {"role": "tool", "content": "done", "tool_call_id": "c3"},
            ],
        },
    )
    return folder


def livemcpbench(folder: Path) -> Path:
    """A run that searches by itself, in words of its own, and then lends a book."""
    params = {"server_name": "library", "tool_name": "lend_book", "params": {"title": "Emma"}}
    messages = [
        {"role": "system", "content": "You have two tools."},
        {"role": "user", "content": "Ann wants Emma."},
        {
            "role": "assistant",
            "content": "I search.",
            "tool_calls": [chat_call("route", {"query": "lend a book"})],
        },
        {"role": "tool", "content": "lend_book", "tool_call_id": "c1"},
        {"role": "assistant", "content": "", "tool_calls": [chat_call("execute-tool", params, "c2")]},
        {"role": "tool", "content": "lent", "tool_call_id": "c2"},
        {"role": "assistant", "content": "Ann has it."},
    ]
    write(folder / "judged.json", [{"task_id": "t1", "messages": messages, "reward": 1}])
    return folder


def bfcl(folder: Path) -> Path:
    """Two messages with the calls that are right for them."""
    turns = [
        [{"role": "user", "content": "Is bed 1 dry?"}],
        [{"role": "user", "content": "Water it, twice."}],
    ]
    calls = [["soil_report(bed=1)"], ["water_plants(1)", "water_plants(bed=1, litres=2.5)"]]
    write_lines(folder / "tasks.json", {"id": "multi_1", "question": turns})
    write_lines(folder / "possible_answer" / "tasks.json", {"id": "multi_1", "ground_truth": calls})
    return folder


def definitions(path: Path) -> Path:
    """The tools by server, each as an answer to tools/list."""
    servers: dict[str, Any] = {}
    for tool in LIBRARY:
        entry = {"name": tool.name, "description": tool.description, "inputSchema": {"type": "object"}}
        if tool.annotations.read_only:
            entry["annotations"] = {"readOnlyHint": True}
        servers.setdefault(tool.server, {"tools": []})["tools"].append(entry)
    return write(path, servers)
