"""Published recordings of agents: read, and played as `toolsight bench runs` plays sessions.

    python -m docs.benchmark.recordings FOLDER --tools FILE --profile toolsight --profile static

takes what that command takes. docs/papers/recorded-runs.md describes the files of each format.
"""

import ast
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from docs.benchmark.recorded_chat import (
    ChatMessage,
    Conversation,
    add_chat,
    arguments_of,
    read_chat,
    text_of,
)
from inspector.cli.root import main
from inspector.config.file import load_lines, load_object
from inspector.config.problem import Foreign, validated
from inspector.core.error import ConfigError
from inspector.features.lab.runs.recording import FORMATS, Reader, Recordings, read_runs
from inspector.mcp.recorded_link import RecordedCall, RecordedMessage, RecordedRun, RecordedStep

# MCPMark's recordings: `messages.json` with the items of OpenAI's Responses API, beside `meta.json`.
#
# The folder says which server was used: `SERVICE/IMPLEMENTATION/run-N/TASK/messages.json`.

_FILE, _META = "messages.json", "meta.json"
_ATTEMPT = re.compile(r"run-\d+")


class _Item(Foreign):
    type: str = ""
    role: str = ""
    content: Any = None
    name: str = ""
    arguments: Any = None
    call_id: str = ""
    output: Any = None


class _Outcome(Foreign):
    success: bool | None = None


class _Usage(Foreign):
    input_tokens: int | None = Field(default=None, ge=0)
    output_tokens: int | None = Field(default=None, ge=0)


class _Meta(Foreign):
    model_name: str = ""
    execution_result: _Outcome = Field(default_factory=_Outcome)
    token_usage: _Usage = Field(default_factory=_Usage)


def _read_mcpmark(path: Path, data: object, run_id: str) -> list[RecordedRun] | None:
    """The run in the file, or None if it is no such recording. Raises ConfigError."""
    if path.name != _FILE or not isinstance(data, list):
        return None
    meta = _Meta()
    beside = path.with_name(_META)
    if beside.is_file():
        meta = validated(_Meta, load_object(beside), str(beside))
    service, server = _where(path)
    messages = _messages(data, str(path), server)
    run = RecordedRun(
        id=run_id,
        task=f"{service}/{path.parent.name}",
        messages=messages,
        solved=meta.execution_result.success,
        input_tokens=meta.token_usage.input_tokens,
        output_tokens=meta.token_usage.output_tokens,
        model=meta.model_name,
    )
    return [run] if messages else []


def _where(path: Path) -> tuple[str, str]:
    """The service and the server that the folders name; empty where they do not."""
    above = [folder.name for folder in path.parents]
    if len(above) > 3 and _ATTEMPT.fullmatch(above[1]):
        return above[3], f"{above[3]}-{above[2]}"
    return "", ""


def _messages(data: list[object], place: str, server: str) -> tuple[RecordedMessage, ...]:
    """Consecutive items of the model are one model call: a result or the user comes between two."""
    conversation, replying = Conversation(), False

    def call(on: Conversation, call_id: str, name: str, arguments: dict[str, Any]) -> bool:
        on.call(call_id, RecordedCall(name, arguments, server=server))
        return True

    for number, raw in enumerate(data):
        where = f"{place}: [{number}]"
        item = validated(_Item, raw, where)
        if item.type == "function_call_output":
            conversation.result(item.call_id, text_of(item.output))
            replying = False
        elif item.type in ("function_call", "message") and item.role != "user":
            if not replying:
                conversation.reply()
            replying = True
            if item.type == "message":
                conversation.say(text_of(item.content))
            else:
                call(conversation, item.call_id, item.name, arguments_of(item.arguments))
        elif item.role:
            add_chat(conversation, validated(ChatMessage, raw, where), call)
            replying = False
    return conversation.messages()


# LiveMCPBench's recordings: a list of tasks with chat messages, and a judge's reward or a person's label if
# there is one.
#
# Its agents have two tools: `route` searches for tools, and `execute-tool` calls one by server and name.

_SEARCH, _CALL, _SOLVED = "route", "execute-tool", "success"


class _Task(Foreign):
    task_id: str = Field(description="Every task needs an id.")
    messages: list[Any]
    reward: float | None = None
    task_success: str | None = None

    @property
    def solved(self) -> bool | None:
        """What a person said, else a judge; None if neither did."""
        if self.task_success is not None:
            return self.task_success == _SOLVED
        return None if self.reward is None else self.reward > 0


def _read_livemcpbench(path: Path, data: object, run_id: str) -> list[RecordedRun] | None:
    """The runs in the file, or None if it is no such recording. Raises ConfigError."""
    if not (isinstance(data, list) and data and isinstance(data[0], dict) and "messages" in data[0]):
        return None
    runs = []
    for number, value in enumerate(data):
        place = f"{path}: [{number}]"
        task = validated(_Task, value, place)
        messages = read_chat(task.messages, place, _special)
        if messages:
            runs.append(RecordedRun(f"{run_id}#{number}", task.task_id, messages, task.solved))
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


# Toolathlon's recordings: `MODEL_TASK.json`, an object of chat messages and whether the run passed.
#
# Calls name their tool as `SERVER-TOOL`.


class _Trajectory(Foreign):
    messages: list[Any]
    passed: bool | None = Field(default=None, alias="pass")


def _read_toolathlon(path: Path, data: object, run_id: str) -> list[RecordedRun] | None:
    """The run in the file, or None if it is no such recording. Raises ConfigError."""
    if not (isinstance(data, dict) and "messages" in data):
        return None
    trajectory = validated(_Trajectory, data, str(path))
    messages = read_chat(trajectory.messages, str(path))
    task = path.stem.partition("_")[2] or path.stem
    model = path.stem.partition("_")[0] if "_" in path.stem else ""
    return [RecordedRun(run_id, task, messages, trajectory.passed, model=model)] if messages else []


# The multi-turn tasks of the Berkeley Function Calling Leaderboard (BFCL).
#
# These are no runs: what the user says is given, and for each message the calls that are right, one a model
# call. Nothing says what the agent thought or what the calls returned. `NAME.json` has the questions, one
# JSON object a line, and `possible_answer/NAME.json` the calls, written as Python.

_ANSWERS = "possible_answer"
_CALLS_HINT = "Each possible answer needs one list of calls for each message in its question."


class _Said(Foreign):
    content: Any = None


class _Question(Foreign):
    id: str
    question: list[list[_Said]]


class _Answer(Foreign):
    id: str
    ground_truth: list[list[str]] = Field(description=_CALLS_HINT)


def _read_bfcl(path: Path, data: object, run_id: str) -> list[RecordedRun] | None:
    """The tasks in the file, or None if it has none or no answers beside it. Raises ConfigError."""
    # One line is one object, which is also a whole file of JSON.
    lines = data if isinstance(data, list) else [data]
    first = lines[0] if lines else None
    if not (isinstance(first, dict) and isinstance(first.get("question"), list) and "id" in first):
        return None
    beside = path.parent / _ANSWERS / path.name
    if not beside.is_file():
        return None
    answers = {}
    for place, value in load_lines(beside):
        if _is_multi_turn(value):
            answer = validated(_Answer, value, place)
            answers[answer.id] = (place, answer)
    runs = []
    for number, value in enumerate(lines):
        question = validated(_Question, value, f"{path}:{number + 1}")
        if question.id in answers:
            runs.append(_bfcl_run(question, *answers[question.id], run_id))
    return runs


def _is_multi_turn(value: dict[str, Any]) -> bool:
    truth = value.get("ground_truth")
    return isinstance(truth, list) and all(isinstance(calls, list) for calls in truth)


def _bfcl_run(question: _Question, place: str, answer: _Answer, run_id: str) -> RecordedRun:
    if len(question.question) != len(answer.ground_truth):
        raise ConfigError(f"{place}: {question.id} has a different number of messages", hint=_CALLS_HINT)
    messages = []
    for turns, calls in zip(question.question, answer.ground_truth, strict=True):
        text = "\n\n".join(text_of(turn.content) for turn in turns)
        steps = (*(RecordedStep(calls=(_written_call(call, place),)) for call in calls), RecordedStep())
        messages.append(RecordedMessage(text, steps))
    return RecordedRun(f"{run_id}#{question.id}", question.id, tuple(messages), solved=True)


def _written_call(text: str, place: str) -> RecordedCall:
    """Read a call such as `mv(source='a')`; nothing is executed."""
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
            raise ValueError("no call")
        arguments = {str(number): ast.literal_eval(value) for number, value in enumerate(call.args)}
        named = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ConfigError(
            f"{place}: {text!r:.80} is not a call",
            hint="Write a call as name(argument=value), with literal values.",
        ) from error
    return RecordedCall(call.func.id, {**arguments, **named})


PUBLISHED: Mapping[str, Reader] = {
    "MCPMark": _read_mcpmark,
    "LiveMCPBench": _read_livemcpbench,
    "Toolathlon": _read_toolathlon,
    "BFCL multi-turn": _read_bfcl,
}


def read_published(folder: Path) -> Recordings:
    """The runs of a folder, in these formats too. Raises ConfigError."""
    return read_runs(folder, readers={**PUBLISHED, **FORMATS})


if __name__ == "__main__":
    FORMATS.update(PUBLISHED)
    main(["bench", "runs", *sys.argv[1:]])
