"""MCPMark's recordings: `messages.json` with the items of OpenAI's Responses API, beside `meta.json`.

The folder says which server was used: `SERVICE/IMPLEMENTATION/run-N/TASK/messages.json`.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import Field

from inspector.config.file import load_object
from inspector.config.problem import Foreign, validated
from inspector.mcp.recorded_link import RecordedCall, RecordedMessage, RecordedRun, RecordedStep
from inspector.scenario.recording.conversation import (
    ChatMessage,
    Conversation,
    add_chat,
    arguments_of,
    text_of,
)

NAME = "MCPMark"
_FILE, _META = "messages.json", "meta.json"
_RUN = re.compile(r"run-\d+")


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


def read(path: Path, data: object, run_id: str) -> list[RecordedRun] | None:
    """The run in the file, or None if it is no such recording. Raises ConfigError."""
    if path.name != _FILE or not isinstance(data, list):
        return None
    meta = _Meta()
    beside = path.with_name(_META)
    if beside.is_file():
        meta = validated(_Meta, load_object(beside), str(beside))
    service, server = _where(path)
    messages = tuple(_of_server(message, server) for message in _messages(data, str(path)))
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
    if len(above) > 3 and _RUN.fullmatch(above[1]):
        return above[3], f"{above[3]}-{above[2]}"
    return "", ""


def _messages(data: list[object], place: str) -> tuple[RecordedMessage, ...]:
    """Consecutive items of the model are one model call: a result or the user comes between two."""
    conversation, replying = Conversation(), False
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
            _add(conversation, item)
        elif item.role:
            add_chat(conversation, validated(ChatMessage, raw, where))
            replying = False
    return conversation.messages()


def _add(conversation: Conversation, item: _Item) -> None:
    if item.type == "message":
        conversation.say(text_of(item.content))
    else:
        conversation.call(item.call_id, RecordedCall(item.name, arguments_of(item.arguments)))


def _of_server(message: RecordedMessage, server: str) -> RecordedMessage:
    def placed(step: RecordedStep) -> RecordedStep:
        return replace(step, calls=tuple(replace(call, server=server) for call in step.calls))

    return replace(message, steps=tuple(map(placed, message.steps)))
