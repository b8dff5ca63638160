"""The multi-turn tasks of the Berkeley Function Calling Leaderboard (BFCL).

These are no runs: what the user says is given, and for each message the calls that are right, one a model
call. Nothing says what the agent thought or what the calls returned. `NAME.json` has the questions, one JSON
object a line, and `possible_answer/NAME.json` the calls, written as Python.
"""

import ast
from pathlib import Path
from typing import Any

from pydantic import Field

from inspector.config.file import load_lines
from inspector.config.problem import Foreign, validated
from inspector.core.error import ConfigError
from inspector.mcp.recorded_link import RecordedCall, RecordedMessage, RecordedRun, RecordedStep
from inspector.scenario.recording.conversation import text_of

NAME = "BFCL multi-turn"
_ANSWERS = "possible_answer"
_HINT = "Each possible answer needs one list of calls for each message in its question."


class _Turn(Foreign):
    content: Any = None


class _Question(Foreign):
    id: str
    question: list[list[_Turn]]


class _Answer(Foreign):
    id: str
    ground_truth: list[list[str]] = Field(description=_HINT)


def read(path: Path, data: object, run_id: str) -> list[RecordedRun] | None:
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
            runs.append(_run(question, *answers[question.id], run_id))
    return runs


def _is_multi_turn(value: dict[str, Any]) -> bool:
    truth = value.get("ground_truth")
    return isinstance(truth, list) and all(isinstance(calls, list) for calls in truth)


def _run(question: _Question, place: str, answer: _Answer, run_id: str) -> RecordedRun:
    if len(question.question) != len(answer.ground_truth):
        raise ConfigError(f"{place}: {question.id} has a different number of messages", hint=_HINT)
    messages = []
    for turns, calls in zip(question.question, answer.ground_truth, strict=True):
        text = "\n\n".join(text_of(turn.content) for turn in turns)
        steps = (*(RecordedStep(calls=(_call(call, place),)) for call in calls), RecordedStep())
        messages.append(RecordedMessage(text, steps))
    return RecordedRun(f"{run_id}#{question.id}", question.id, tuple(messages), solved=True)


def _call(text: str, place: str) -> RecordedCall:
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
