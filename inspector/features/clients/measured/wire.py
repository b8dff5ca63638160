"""The four APIs that a client may speak to a model: its requests, read.

Anthropic's Messages, OpenAI's Chat Completions and Responses, and Gemini's generateContent.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from inspector.schema.json_value import JsonObject, as_object, compact

Api = Literal["messages", "chat", "responses", "gemini"]
_APIS: Mapping[str, Api] = {
    "/messages": "messages",
    "/chat/completions": "chat",
    "/responses": "responses",
    ":generateContent": "gemini",
    ":streamGenerateContent": "gemini",
}
Way = Literal["tool", "search", "code", "through", "listed", "hosted"]
"""What a tool is: an ordinary one, a search, one that runs code, one that calls others, one that only such a
tool can call, or one that the model's provider carries out."""
CALL_ID = "call_n"
"""How the ids of our calls begin; their number follows. Some replace those that are call_ and a number."""


class SentTool(Struct, frozen=True):
    """A tool as the model gets it. `at` is its place in the body; a `deferred` one is not to be read yet."""

    name: str
    at: str
    namespace: str = ""
    description: str = ""
    parameters: JsonObject | None = None
    deferred: bool = False
    way: Way = "tool"

    @property
    def full_name(self) -> str:
        """Its name with its namespace, if it has one."""
        return f"{self.namespace}__{self.name}" if self.namespace else self.name


class SentText(Struct, frozen=True):
    """A text in front of the model, who says it and its place in the body."""

    role: str
    text: str
    at: str


class Outcome(Struct, frozen=True):
    """What came of a call: its parts as they were sent, and the tools that a search found.

    `beside` are the texts of a user's message right after it, where some put what is no text.
    """

    call: str
    parts: tuple[Any, ...]
    found: tuple[SentTool, ...]
    at: str
    failed: bool = False
    beside: str = ""

    @property
    def text(self) -> str:
        """All its texts."""
        texts = (part if isinstance(part, str) else part.get("text", "") for part in self.parts)
        return "\n".join(filter(None, texts))

    @property
    def kinds(self) -> tuple[str, ...]:
        """The types of its parts."""
        kinds = ("text" if isinstance(part, str) else str(part.get("type", "")) for part in self.parts)
        return tuple(dict.fromkeys(kinds))


class Heard(Struct, frozen=True):
    """One request to the model: its tools, its texts, what came of earlier calls, and its `last` message.

    `wants` is the schema of the JSON that it wants in place of a text; if it `must_call`, it takes no text.
    """

    api: Api
    model: str
    streamed: bool
    tools: tuple[SentTool, ...] = ()
    texts: tuple[SentText, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    last: str = ""
    wants: JsonObject | None = None
    must_call: bool = False


class Call(Struct, frozen=True):
    """A call that the model wants; of a `custom` tool the text is the argument `code`."""

    id: str
    name: str
    arguments: JsonObject
    namespace: str = ""
    way: Way = "tool"
    is_custom: bool = False


def api_of(path: str) -> Api | None:
    """The API by the end of an address; None for any other."""
    return next((api for end, api in _APIS.items() if path.endswith(end)), None)


def read(api: Api, body: JsonObject, path: str = "") -> Heard:
    """A request to an address, in which Gemini says more. Raises ValueError for what is none."""
    try:
        parts: list[Any] = list(_PARTS[api](body))
        said = body[_SAID[api]]
    except (AttributeError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"not a request of this API: {error!r}") from error
    model = str(body.get("model", "")) or re.sub(r".*/models/|:\w+$", "", path)
    streamed = body.get("stream") is True or path.endswith(":streamGenerateContent")
    last = compact(said[-1:]) if isinstance(said, list) else str(said)
    tools = tuple(one for one in parts if isinstance(one, SentTool))
    texts = tuple(one for one in parts if isinstance(one, SentText))
    outcomes = tuple(one for one in parts if isinstance(one, Outcome))
    choice = body.get("tool_choice")
    must_call = choice == "required" or as_object(choice).get("type") == "any"
    return Heard(api, model, streamed, tools, texts, outcomes, last, _wanted(body), must_call)


def _wanted(body: JsonObject) -> JsonObject | None:
    """The schema of the answer, as Gemini's API and Chat Completions have it."""
    gemini = as_object(body.get("generationConfig"))
    chat = as_object(as_object(body.get("response_format")).get("json_schema")).get("schema")
    found = gemini.get("responseJsonSchema", gemini.get("responseSchema", chat))
    return found if isinstance(found, dict) else None


_SAID: Mapping[Api, str] = {
    "messages": "messages",
    "chat": "messages",
    "responses": "input",
    "gemini": "contents",
}


_Parts = Iterator[SentTool | SentText | Outcome]
_SEARCHES = re.compile(r"(?i)(.*[_.])?(tool_?search|search_?tools?|search_tool_functions)")


def _tool(
    name: str, at: str, about: Any, schema: Any, deferred: object = False, namespace: str = ""
) -> SentTool:
    """A tool that the client carries out; what it is for says its name, or its parameters do."""
    parameters = schema if isinstance(schema, dict) else None
    given = as_object((parameters or {}).get("properties")).keys()
    way: Way = "tool"
    if _SEARCHES.fullmatch(name):
        way = "search"
    elif {"name", "arguments"} <= given and "call" in name:
        way = "through"
    elif "code" in given and len(given) <= _FEW:
        way = "code"
    return SentTool(name, at, namespace, str(about or ""), parameters, deferred is True, way)


_FEW = 3


def _messages(body: JsonObject) -> _Parts:
    for at, tool in _numbered(body.get("tools"), "tools"):
        hosted = "type" in tool and tool["type"] != "custom" and "input_schema" not in tool
        sent = _tool(
            tool["name"], at, tool.get("description"), tool.get("input_schema"), tool.get("defer_loading")
        )
        yield replace(sent, way="hosted") if hosted else sent
    system = body.get("system", [])
    yield from _texts("system", system, "system")
    for at, message in _numbered(body["messages"], "messages"):
        yield from _texts(message["role"], message["content"], f"{at}.content")
        for inner, block in _numbered(message["content"], f"{at}.content"):
            if block.get("type") == "tool_result":
                parts = block.get("content", "")
                references = [one for _, one in _numbered(parts, "") if one.get("type") == "tool_reference"]
                found = tuple(SentTool(one["tool_name"], inner) for one in references)
                failed = block.get("is_error") is True
                yield Outcome(block["tool_use_id"], _as_parts(parts), found, inner, failed)


_TOLD = re.compile(rf"""["']({CALL_ID}\d+)["']""")


def _chat(body: JsonObject) -> _Parts:
    for at, tool in _numbered(body.get("tools"), "tools"):
        if (function := tool.get("function")) is not None:
            where = f"{at}.function"
            yield _tool(function["name"], where, function.get("description"), function.get("parameters"))
    waiting: Outcome | None = None
    told: tuple[str, ...] = ()
    for at, message in _numbered(body["messages"], "messages"):
        content = message.get("content") or ""
        if message["role"] != "tool":
            shown = [*_texts(message["role"], content, f"{at}.content")]
            yield from shown
            if message["role"] == "user":
                yield from (Outcome(call, _as_parts(content), (), at) for call in told)
            # Some tell the model of calls in texts: then what the user says next came of them.
            told = tuple(call for one in shown for call in _TOLD.findall(one.text) if one.role == "assistant")
        if waiting is not None:
            # What is no text cannot stand in a result, and comes in the next message of the user.
            given = [one for _, one in _numbered(content, "")] if message["role"] == "user" else []
            more = [one for one in given if "text" not in one]
            texts = "\n".join(str(one["text"]) for one in given if "text" in one)
            yield replace(waiting, parts=(*waiting.parts, *more), beside=texts)
            waiting = None
        if message["role"] == "tool":
            waiting = Outcome(message["tool_call_id"], _as_parts(content), (), at)
    if waiting is not None:
        yield waiting


def _responses(body: JsonObject) -> _Parts:
    yield from _function_tools(body.get("tools"), "tools")
    yield from _texts("instructions", body.get("instructions") or "", "instructions")
    given = body["input"]
    yield from _texts("user", given if isinstance(given, str) else "", "input")
    for at, item in _numbered(given, "input"):
        kind = item.get("type", "message")
        if kind == "message":
            yield from _texts(item["role"], item["content"], f"{at}.content")
        elif kind == "additional_tools":
            yield from _function_tools(item["tools"], f"{at}.tools")
        elif kind == "tool_search_output":
            yield Outcome(item["call_id"], (), tuple(_function_tools(item["tools"], f"{at}.tools")), at)
        elif kind.endswith("_call_output"):
            yield Outcome(item["call_id"], _as_parts(item["output"]), (), at)


def _camel(value: Any) -> Any:
    """JSON as Gemini's API takes it: its own keys may be written either way."""
    if isinstance(value, list):
        return [_camel(one) for one in value]
    if not isinstance(value, dict):
        return value
    keys = {re.sub(r"_([a-z])", lambda found: found[1].upper(), key): key for key in value}
    return {key: value[old] if key in _FREE else _camel(value[old]) for key, old in keys.items()}


# What is the client's within it: schemas, arguments and results.
_FREE = frozenset({"parameters", "parametersJsonSchema", "args", "response"})


def _gemini(body: JsonObject) -> _Parts:
    body = _camel(body)
    for at, group in _numbered(body.get("tools"), "tools"):
        for inner, one in _numbered(group.get("functionDeclarations"), f"{at}.functionDeclarations"):
            schema = one.get("parametersJsonSchema", one.get("parameters"))
            yield _tool(one["name"], inner, one.get("description"), schema)
    system = as_object(body.get("systemInstruction"))
    yield from _texts("system", system.get("parts"), "systemInstruction.parts")
    # Some send no id back: then a result is that of the call in the same place.
    numbers = count()
    for at, content in _numbered(body["contents"], "contents"):
        parts = content.get("parts")
        yield from _texts(content.get("role", "user"), parts, f"{at}.parts")
        more = [one["inlineData"] for _, one in _numbered(parts, "") if "inlineData" in one]
        for inner, part in _numbered(parts, f"{at}.parts"):
            if (result := part.get("functionResponse")) is not None:
                number, said = next(numbers), result.get("response", {})
                images = (
                    *more,
                    *(one.get("inlineData", {}) for _, one in _numbered(result.get("parts"), "")),
                )
                media = ({"type": one.get("mimeType", "").partition("/")[0]} for one in images)
                text = said["output"] if isinstance(said.get("output"), str) else compact(said)
                yield Outcome(
                    result.get("id") or f"{CALL_ID}{number}", (text, *media), (), inner, "error" in said
                )


_PARTS = {"messages": _messages, "chat": _chat, "responses": _responses, "gemini": _gemini}


def _function_tools(tools: Any, at: str, namespace: str = "") -> Iterator[SentTool]:
    """The tools of OpenAI's Responses; a namespace has tools of its own, and none where it only stands."""
    for inner, tool in _numbered(tools, at):
        kind, name = tool["type"], tool.get("name", "")
        about = str(tool.get("description") or "")
        if kind == "namespace":
            yield SentTool("", inner, name, about)
            yield from _function_tools(tool["tools"], f"{inner}.tools", name)
        elif kind == "tool_search":
            way: Way = "search" if tool.get("execution") == "client" else "hosted"
            yield SentTool(kind, inner, "", about, tool.get("parameters"), way=way)
        elif kind in ("function", "custom"):
            sent = _tool(name, inner, about, tool.get("parameters"), tool.get("defer_loading"), namespace)
            yield replace(sent, way="code") if kind == "custom" and name == "exec" else sent


def _numbered(items: Any, at: str) -> Iterator[tuple[str, Any]]:
    """The objects of a list, each with its place."""
    for number, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict):
            yield f"{at}[{number}]", item


def _texts(role: str, content: Any, at: str) -> Iterator[SentText]:
    if isinstance(content, str):
        if content:
            yield SentText(role, content, at)
        return
    for inner, part in _numbered(content, at):
        if isinstance(part.get("text"), str):
            yield SentText(role, part["text"], inner)


def _as_parts(content: Any) -> tuple[Any, ...]:
    return tuple(content) if isinstance(content, list) else (str(content),)
