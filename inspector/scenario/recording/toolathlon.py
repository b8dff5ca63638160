"""Toolathlon's recordings: `MODEL_TASK.json`, an object of chat messages and whether the run passed.

Calls name their tool as `SERVER-TOOL`.
"""

from pathlib import Path
from typing import Any

from pydantic import Field

from inspector.config.problem import Foreign, validated
from inspector.mcp.recorded_link import RecordedRun
from inspector.scenario.recording.conversation import read_chat

NAME = "Toolathlon"


class _Trajectory(Foreign):
    messages: list[Any]
    passed: bool | None = Field(default=None, alias="pass")


def read(path: Path, data: object, run_id: str) -> list[RecordedRun] | None:
    """The run in the file, or None if it is no such recording. Raises ConfigError."""
    if not (isinstance(data, dict) and "messages" in data):
        return None
    trajectory = validated(_Trajectory, data, str(path))
    messages = read_chat(trajectory.messages, str(path))
    task = path.stem.partition("_")[2] or path.stem
    model = path.stem.partition("_")[0] if "_" in path.stem else ""
    return [RecordedRun(run_id, task, messages, trajectory.passed, model=model)] if messages else []
