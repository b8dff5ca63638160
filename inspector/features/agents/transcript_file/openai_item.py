"""The items of OpenAI's responses that Codex keeps: messages, calls, their results, searches for tools."""

import re
from collections.abc import Iterator
from typing import Any

from inspector.core.message import ToolCall
from inspector.features.agents.transcript import AgentTool, Searched, Tally, ToolsOffered
from inspector.features.agents.transcript_file.record_reader import (
    LEFT_OUT,
    NOT_ASKED,
    OpenAnswer,
    RecordReader,
    agent_tool,
    arguments,
    count,
    definition_of,
    in_namespace,
    mappings,
    said,
    text,
    texts,
)
from inspector.schema.json_value import JsonObject, as_object

_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "shell_call", "tool_search_call")
_NOT_READ = LEFT_OUT["codex"]["parts"]
_INJECTED = (
    *("<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md instructions"),
    *("<turn_aborted>", "<skill>", "<subagent_notification>", "<user_shell_command>"),
)


def _call_of(item: dict[str, Any], call_id: str) -> ToolCall:
    kind = text(item.get("type"))
    if kind == "custom_tool_call":
        return ToolCall(call_id, text(item.get("name")), {"input": text(item.get("input"))})
    if kind in ("local_shell_call", "shell_call"):
        return ToolCall(call_id, kind.removesuffix("_call"), as_object(item.get("action")))
    given, error = arguments(item.get("arguments"))
    if kind == "tool_search_call":
        return ToolCall(call_id, "tool_search", given, error)
    tool = in_namespace(text(item.get("namespace")), text(item.get("name")))
    return ToolCall(call_id, tool.sent, given, error)


def defined(tools: object, namespace: str = "") -> Iterator[tuple[AgentTool, bool]]:
    """The tools of a list of definitions, also those in namespaces, and whether each is deferred."""
    for one in mappings(tools):
        kind, name = text(one.get("type")), text(one.get("name"))
        if kind == "namespace":
            yield from defined(one.get("tools"), name)
        elif kind == "custom" and name == _CODE:
            yield from ((tool, False) for tool in _for_code(one))
        elif name and kind in ("function", "custom", ""):
            yield in_namespace(namespace, name, definition_of(one)), one.get("defer_loading") is True


# The tool that runs code of the model. Its description has a part for each tool that the code can call.
_CODE = "exec"
_PART = re.compile(r"^### `([^`\n]+)`(?: \(`([^`\n]+)`\))?$", re.MULTILINE)


def _for_code(one: dict[str, Any]) -> Iterator[AgentTool]:
    head, *parts = _PART.split(text(one.get("description")))
    yield agent_tool(_CODE, definition_of({**one, "description": head.rstrip()}))
    for name, sent, words in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        yield agent_tool(sent or name, definition_of({"name": sent or name, "description": words.strip()}))


class ItemReader(RecordReader):
    """Reads items; an answer ends where results of its calls have come."""

    def __init__(self, tally: Tally) -> None:
        super().__init__(tally)
        self._model = ""
        self._definitions: dict[str, JsonObject | None] = {}
        self._has_results = False
        self._answers = 0
        self._server_search = ""

    def _item(self, item: dict[str, Any], at: float | None) -> None:
        """Add what an item says."""
        kind = text(item.get("type"))
        if kind == "message":
            self._message(item, at)
        elif kind in _CALLS:
            self._called(item, at)
        elif kind == "tool_search_output":
            self._searched(item, at)
        elif kind == "additional_tools":
            self._offer(item.get("tools"), at)
        elif kind in _NOT_READ:
            self.tally.leave_out(kind)
        elif kind.endswith("_call_output"):
            self._output(item, at)
        else:
            self.tally.count_unknown(f"item {kind}")

    def _offer(self, tools: object, at: float | None) -> None:
        """Add the tools of a list of definitions, those that are new or changed."""
        offered: dict[bool, list[AgentTool]] = {False: [], True: []}
        for tool, deferred in defined(tools):
            if tool.sent not in self._definitions or self._definitions[tool.sent] != tool.definition:
                self._definitions[tool.sent] = tool.definition
                offered[deferred].append(tool)
        for deferred, new in offered.items():
            if new:
                self._add(ToolsOffered(tuple(new), deferred=deferred, at=at))

    def _message(self, item: dict[str, Any], at: float | None) -> None:
        role, words = text(item.get("role")), said(item.get("content"))
        if role == "assistant":
            self._answering(item, at).say(words)
        elif role == "user" and words.strip() and not words.lstrip().startswith(_INJECTED):
            self._ask(words, at)
        else:
            self.tally.leave_out(NOT_ASKED)

    def _called(self, item: dict[str, Any], at: float | None) -> None:
        call_id = text(item.get("call_id"))
        if not call_id:
            call_id = self._server_search = text(item.get("id"))
        if self._is_first("call", call_id):
            self._answering(item, at)
            self._call(_call_of(item, call_id))

    def _output(self, item: dict[str, Any], at: float | None) -> None:
        call_id, words = text(item.get("call_id")), said(item.get("output"))
        if item.get("name") == _CODE and not words.startswith("Script "):
            self.tally.leave_out("a note of running code")
        elif self._is_first("result", call_id):
            self._has_results = True
            self._returned(call_id, words, ok=succeeded(words), at=at)

    def _searched(self, item: dict[str, Any], at: float | None) -> None:
        call_id = text(item.get("call_id")) or self._server_search
        if not self._is_first("result", call_id or text(item.get("id"))):
            return
        self._has_results = self._has_results or item.get("execution") != "server"
        call = self._calls.pop(call_id, None)
        given = call.arguments if call else {}
        found = tuple(tool for tool, _ in defined(item.get("tools")))
        self._definitions.update({tool.sent: tool.definition for tool in found})
        query, names, limit = text(given.get("query")), texts(given.get("paths")), count(given.get("limit"))
        status = text(item.get("status"))
        error = status if status in ("failed", "incomplete") else ""
        self._add(Searched(call_id, query, names, found, limit, error=error, at=at))

    def _answering(self, item: dict[str, Any], at: float | None) -> OpenAnswer:
        if self._answer is not None and not self._has_results:
            return self._answer
        self._answers += 1
        self._has_results = False
        return self._open(OpenAnswer(text(item.get("id")) or f"answer {self._answers}", self._model, at))


_FAILED = re.compile(r"Script failed\n|(?:Chunk ID: .*\n)?Wall time: .*\nProcess exited with code [1-9]")


def succeeded(output: str) -> bool:
    """Whether a result of a shell or of code says that it went well; any other result says nothing of it."""
    if _FAILED.match(output):
        return False
    if output.startswith("{") and '"exit_code"' in output:
        given, _ = arguments(output)
        return count(as_object(given.get("metadata")).get("exit_code", 0)) == 0
    first, _, _ = output.partition("\n")
    code = first.removeprefix("Exit code: ")
    return code == first or code.strip() == "0"
