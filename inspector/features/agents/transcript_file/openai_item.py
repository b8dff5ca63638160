"""The items that Codex and the Responses API share: messages, calls, their results, searches for tools."""

import re
from collections.abc import Iterator
from typing import Any

from inspector.core.message import ToolCall, Usage
from inspector.features.agents.transcript import (
    AgentTool,
    Asked,
    Begun,
    Entry,
    Searched,
    ServerTrouble,
    Tally,
    ToolsOffered,
)
from inspector.features.agents.transcript_file.field import (
    agent_tool,
    arguments,
    count,
    definition_of,
    in_namespace,
    items,
    mappings,
    moment,
    said,
    text,
    texts,
)
from inspector.features.agents.transcript_file.flow import COPY, Answer, Flow, FlowReader, PartReader
from inspector.schema.json_value import JsonObject, as_object, canonical

SEARCH = "tool_search"
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "shell_call", "tool_search_call")


def usage_of(record: dict[str, Any]) -> Usage:
    """The usage; its input includes what was cached. Codex has flat keys, the Responses API nested ones."""
    read, thought = (
        as_object(record.get("input_tokens_details")),
        as_object(record.get("output_tokens_details")),
    )
    return Usage(
        count(record.get("input_tokens")),
        count(record.get("output_tokens")),
        count(record.get("cached_input_tokens", read.get("cached_tokens"))),
        count(record.get("cache_write_input_tokens", read.get("cache_write_tokens"))),
        None,
        count(record.get("reasoning_output_tokens", thought.get("reasoning_tokens"))),
    )


def is_call(kind: str) -> bool:
    """Whether an item of this type is a call whose result is another item."""
    return kind in _CALLS


def call_of(item: dict[str, Any], call_id: str) -> ToolCall:
    """The call in an item."""
    kind = text(item.get("type"))
    if kind == "tool_search_call":
        given, error = arguments(item.get("arguments"))
        return ToolCall(call_id, SEARCH, given, error)
    if kind == "custom_tool_call":
        return ToolCall(call_id, text(item.get("name")), {"input": text(item.get("input"))})
    if kind in ("local_shell_call", "shell_call"):
        return ToolCall(call_id, kind.removesuffix("_call"), as_object(item.get("action")))
    given, error = arguments(item.get("arguments"))
    tool = in_namespace(text(item.get("namespace")), text(item.get("name")))
    return ToolCall(call_id, tool.sent, given, error)


def defined(tools: object, namespace: str = "") -> Iterator[tuple[AgentTool, bool]]:
    """The tools of a list of definitions, also those in namespaces, and whether each is deferred.

    What an MCP server of the provider's side offers is told by another item.
    """
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


_NOT_READ = frozenset(
    {"reasoning", "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"}
    | {"computer_call", "computer_call_output", "mcp_approval_request", "mcp_approval_response", "compaction"}
    | {"compaction_summary", "context_compaction", "ghost_snapshot", "agent_message", "program"}
    | {"program_output", "configuration_update", "apply_patch_call", "apply_patch_call_output"}
)
_INJECTED = (
    *("<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md instructions"),
    *("<turn_aborted>", "<skill>", "<subagent_notification>", "<user_shell_command>"),
)


class Items(PartReader):
    """Reads items into a flow.

    Outside of `begin_answer` and `end_answer`, an answer ends where results of its calls have come.
    """

    def __init__(self, flow: Flow) -> None:
        super().__init__(flow)
        self.model = ""
        self._definitions: dict[str, JsonObject | None] = {}
        self._whole = False
        self._returned = False
        self._answers = 0
        self._server_search = ""

    def begin_answer(self, answer_id: str, at: float | None) -> Answer:
        """Begin a model call that is known whole: it ends with `end_answer`, whatever comes."""
        self._whole = True
        return self._open(answer_id, at)

    def end_answer(self) -> None:
        """Finish the answer that is open, if any."""
        self._whole = False
        self._flow.close()

    def results_came(self) -> None:
        """Say that a result was read elsewhere: what the model says next is another answer."""
        self._returned = True

    def read(self, item: dict[str, Any], at: float | None) -> bool:
        """Add what an item says to the flow; False if nobody knows its kind."""
        kind = text(item.get("type")) or ("message" if "role" in item else "")
        if kind == "message":
            self._message(item, at)
        elif is_call(kind):
            self._call(item, at)
        elif kind == "tool_search_output":
            self._searched(item, at)
        elif kind.endswith("_call_output"):
            self._output(item, at)
        elif kind == "mcp_call":
            self._mcp_call(item, at)
        elif kind == "mcp_list_tools":
            self._mcp_tools(item, at)
        elif kind == "additional_tools":
            self.offer(item.get("tools"), at)
        elif kind in _NOT_READ:
            self._tally.leave_out(kind)
        else:
            self._tally.count_unknown(f"item {kind}")
            return False
        return True

    def offer(self, tools: object, at: float | None) -> None:
        """Add the tools of a list of definitions, those that are new or changed."""
        bound: list[AgentTool] = []
        deferred: list[AgentTool] = []
        for tool, waits in defined(tools):
            if self._is_new(tool):
                (deferred if waits else bound).append(tool)
        if bound:
            self._flow.add(ToolsOffered(tuple(bound), at=at))
        if deferred:
            self._flow.add(ToolsOffered(tuple(deferred), deferred=True, at=at))

    def _is_new(self, tool: AgentTool) -> bool:
        if tool.sent in self._definitions and self._definitions[tool.sent] == tool.definition:
            return False
        self._definitions[tool.sent] = tool.definition
        return True

    def _message(self, item: dict[str, Any], at: float | None) -> None:
        role, words = text(item.get("role")), said(item.get("content"))
        if role == "assistant":
            self._answering(item, at).say(words)
        elif role == "user" and words.strip() and not words.lstrip().startswith(_INJECTED):
            self._flow.ask(words, at)
        else:
            self._tally.leave_out("not written by the user")

    def _call(self, item: dict[str, Any], at: float | None) -> None:
        call_id = text(item.get("call_id"))
        if not call_id:
            call_id = text(item.get("id"))
            self._server_search = call_id
        if self._is_first("call", call_id):
            self._answering(item, at)
            self._flow.call(call_of(item, call_id))

    def _output(self, item: dict[str, Any], at: float | None) -> None:
        call_id, words = text(item.get("call_id")), said(item.get("output"))
        if item.get("name") == _CODE and not words.startswith("Script "):
            self._tally.leave_out("a note of running code")
        elif self._is_first("result", call_id):
            self._returned = True
            self._flow.returned(call_id, words, ok=succeeded(words), at=at)

    def _searched(self, item: dict[str, Any], at: float | None) -> None:
        by_server = item.get("execution") == "server"
        call_id = text(item.get("call_id")) or self._server_search
        if not self._is_first("result", call_id or text(item.get("id"))):
            return
        self._returned = self._returned or not by_server
        call = self._flow.calls.pop(call_id, None)
        given = call.arguments if call else {}
        found = tuple(tool for tool, _ in defined(item.get("tools")))
        for tool in found:
            self._definitions[tool.sent] = tool.definition
        query, names, limit = text(given.get("query")), texts(given.get("paths")), count(given.get("limit"))
        failed = text(item.get("status")) in ("failed", "incomplete")
        error = text(item.get("status")) if failed else ""
        self._flow.add(Searched(call_id, query, names, found, limit, error=error, at=at))

    def _mcp_call(self, item: dict[str, Any], at: float | None) -> None:
        """A call that the provider made itself: with its result."""
        call_id = text(item.get("id"))
        if not self._is_first("call", call_id):
            return
        self._answering(item, at)
        tool = in_namespace(text(item.get("server_label")), text(item.get("name")))
        given, broken = arguments(item.get("arguments"))
        self._flow.call(ToolCall(call_id, tool.sent, given, broken))
        error = item.get("error")
        words = _error_text(error) if error else said(item.get("output"))
        ok = not error and item.get("status") not in ("failed", "incomplete")
        self._flow.returned(call_id, words, ok=ok, tool=tool, at=at)

    def _mcp_tools(self, item: dict[str, Any], at: float | None) -> None:
        server = text(item.get("server_label"))
        if item.get("error"):
            self._flow.add(ServerTrouble(server, _error_text(item["error"]), at=at))
            return
        tools = (
            in_namespace(server, text(one.get("name")), definition_of(one))
            for one in mappings(item.get("tools"))
        )
        new = tuple(tool for tool in tools if tool.name and self._is_new(tool))
        if new:
            self._flow.add(ToolsOffered(new, at=at))

    def _answering(self, item: dict[str, Any], at: float | None) -> Answer:
        answer = self._flow.answer
        if answer is None or (self._returned and not self._whole):
            answer = self._open(text(item.get("id")), at)
        return answer

    def _open(self, answer_id: str, at: float | None) -> Answer:
        self._answers += 1
        self._returned = False
        answer = Answer(answer_id or f"answer {self._answers}", self.model, at)
        self._flow.open(answer)
        return answer


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


def _error_text(error: object) -> str:
    found = as_object(error)
    words = text(error) or text(found.get("message")) or said(found.get("content"))
    code = found.get("code")
    return f"{words} ({code})" if words and isinstance(code, int | str) else words or text(found.get("type"))


# A response names its calls and its usage; without one, an answer ends where results of its calls come.

_LISTED = "mcp_list_tools"
_UNFINISHED = ("in_progress", "queued")


class ResponsesReader(FlowReader):
    """Reads responses and items in the order in which they were made."""

    def __init__(self, tally: Tally) -> None:
        super().__init__(tally)
        self._items = Items(self._flow)

    def read(self, record: dict[str, Any]) -> list[Entry]:
        """The entries that are finished with this record."""
        response = record if isinstance(record.get("output"), list) else as_object(record.get("response"))
        if "output" in response:
            self._response(response, as_object(record.get("request")))
        else:
            self._alone(record)
        return self._flow.take()

    def finish(self) -> list[Entry]:
        """The entries that waited for more."""
        self._items.end_answer()
        return self._flow.finish()

    def _begin(self, begun: Begun) -> None:
        if self._flow.begun is None or not self._flow.begun.session:
            self._flow.begin(begun)

    def _response(self, response: dict[str, Any], request: dict[str, Any]) -> None:
        response_id, status = text(response.get("id")), text(response.get("status"))
        if status in _UNFINISHED:
            self._tally.leave_out("response in progress")
            return
        if not self._is_first("response", response_id):
            return
        at, model = moment(response.get("created_at"), self._tally), text(response.get("model"))
        conversation = response.get("conversation")
        session = text(as_object(conversation).get("id")) or text(conversation) or response_id
        self._begin(Begun("openai-responses", session=session, model=model, at=at))
        self._items.end_answer()
        self._items.model = model
        self._items.offer(response.get("tools") or request.get("tools"), at)
        self._asked(request, at, continues="previous_response_id" in request)
        # Sorted: the lists of servers were there before the model answered.
        output = sorted(mappings(response.get("output")), key=lambda item: item.get("type") != _LISTED)
        answer = None
        for item in output:
            if answer is None and item.get("type") != _LISTED:
                answer = self._items.begin_answer(response_id, at)
            self._item(item, at)
        answer = answer or self._items.begin_answer(response_id, at)
        answer.usage = usage_of(as_object(response.get("usage")))
        reason = text(as_object(response.get("incomplete_details")).get("reason"))
        answer.finish_reason = reason or status
        self._items.end_answer()
        if message := text(as_object(response.get("error")).get("message")):
            self._flow.interrupt(message, at)

    def _asked(self, request: dict[str, Any], at: float | None, *, continues: bool) -> None:
        """What the request adds. Without a response before it, it repeats the whole conversation."""
        given = request.get("input")
        if isinstance(given, str):
            self._flow.add(Asked(given, at))
        for place, item in enumerate(items(given)):
            found = as_object(item)
            mine = found.get("role") == "user" or text(found.get("type")).endswith("_output")
            if not mine:
                self._tally.leave_out(COPY)
            elif continues or self._seen.add("input", place, canonical(found)):
                self._items.read(found, at)

    def _alone(self, item: dict[str, Any]) -> None:
        begun = self._flow.begun
        self._begin(Begun("openai-responses"))
        if not self._item(item, None) and begun is None:
            self._flow.begun = None

    def _item(self, item: dict[str, Any], at: float | None) -> bool:
        item_id = text(item.get("id"))
        return not self._is_first("item", item_id) or self._items.read(item, at)
