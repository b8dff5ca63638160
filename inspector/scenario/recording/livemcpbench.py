"""LiveMCPBench's recordings: a list of tasks with chat messages, and a judge's reward if it was judged.

Its agents have two tools: `route` searches for tools, and `execute-tool` calls one by server and name.
"""

from pathlib import Path
from typing import Any

from pydantic import Field

from inspector.config.problem import Foreign, validated
from inspector.mcp.recorded_link import RecordedCall, RecordedRun
from inspector.scenario.recording.conversation import Conversation, arguments_of, read_chat

NAME = "LiveMCPBench"
_SEARCH, _CALL = "route", "execute-tool"


class _Task(Foreign):
    task_id: str = Field(description="Every task needs an id.")
    messages: list[Any]
    reward: float | None = None


def read(path: Path, data: object, run_id: str) -> list[RecordedRun] | None:
    """The runs in the file, or None if it is no such recording. Raises ConfigError."""
    if not (isinstance(data, list) and data and isinstance(data[0], dict) and "messages" in data[0]):
        return None
    runs = []
    for number, value in enumerate(data):
        place = f"{path}: [{number}]"
        task = validated(_Task, value, place)
        messages = read_chat(task.messages, place, _special)
        solved = None if task.reward is None else task.reward > 0
        if messages:
            runs.append(RecordedRun(f"{run_id}#{number}", task.task_id, messages, solved))
    return runs


def _special(conversation: Conversation, call_id: str, name: str, arguments: dict[str, Any]) -> bool:
    if name == _SEARCH:
        conversation.search(str(arguments.get("query", "")))
        return True
    if name != _CALL:
        return False
    tool, server = str(arguments.get("tool_name", "")), str(arguments.get("server_name", ""))
    conversation.call(call_id, RecordedCall(tool, arguments_of(arguments.get("params")), server=server))
    return True
