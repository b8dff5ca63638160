"""Bodies as providers received them, read back into the chat-completions format in which tokens are counted.

Marks and other fields that never become input are left out; a reference becomes the definition that it names,
as the provider expands it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from inspector.core.tool import function_definition
from inspector.schema.json_value import compact
from inspector.tokens.manifest import SEARCH_TOOLS, text_with

Body = Mapping[str, Any]
Entry = dict[str, Any]


def chat_text(messages: Sequence[Entry], tools: Sequence[Entry]) -> str:
    """The compact body."""
    return compact({"messages": list(messages)} | ({"tools": list(tools)} if tools else {}))


def read_messages_api(body: Body) -> str:
    """A body of Anthropic's Messages API."""
    entries = [(tool, _anthropic_entry(tool)) for tool in body.get("tools", ())]
    known = {entry["function"]["name"]: entry for _, entry in entries}
    said = [{"role": "system", "content": block["text"]} for block in body.get("system", ())]
    for message in body["messages"]:
        blocks = message["content"]
        blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
        said += [_assistant(blocks)] if message["role"] == "assistant" else _user(blocks, known)
    return chat_text(said, [entry for tool, entry in entries if not tool.get("defer_loading")])


def marks_of(body: Body) -> list[tuple[str, Any]]:
    """Where the body of the Messages API has `cache_control`, in the order in which Claude reads it."""
    places = [(f"tools[{i}]", tool) for i, tool in enumerate(body.get("tools", ()))]
    places += [("system", block) for block in body.get("system", ())]
    for index, message in enumerate(body["messages"]):
        blocks = message["content"] if isinstance(message["content"], list) else []
        places += [(f"messages[{index}].{number}", block) for number, block in enumerate(blocks)]
    return [(place, block["cache_control"]) for place, block in places if "cache_control" in block]


def read_responses_api(body: Body) -> str:
    """A body of OpenAI's Responses API."""
    said: list[Entry] = (
        [{"role": "system", "content": body["instructions"]}] if "instructions" in body else []
    )
    for item in body["input"]:
        _add_item(said, item)
    tools = [_function(t, SEARCH_TOOLS if t["type"] == "tool_search" else t["name"]) for t in body["tools"]]
    return chat_text(said, tools)


def _anthropic_entry(tool: Body) -> Entry:
    return function_definition(tool["name"], tool["description"], tool["input_schema"])


def _assistant(blocks: Iterable[Body]) -> Entry:
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    calls = [_call(b["id"], b["name"], compact(b["input"])) for b in blocks if b["type"] == "tool_use"]
    content = {"content": text} if text or not calls else {}
    return {"role": "assistant", **content, **({"tool_calls": calls} if calls else {})}


def _call(call_id: str, name: str, arguments: str) -> Entry:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _user(blocks: Iterable[Body], known: Mapping[str, Entry]) -> list[Entry]:
    said: list[Entry] = []
    loaded: list[tuple[Entry, list[Entry]]] = []
    for block in blocks:
        if block["type"] == "text" and loaded:
            result, definitions = loaded.pop()
            result["content"] = text_with(block["text"], definitions)
        elif block["type"] == "text":
            said.append({"role": "user", "content": block["text"]})
        else:
            content = block["content"]
            said.append({"role": "tool", "tool_call_id": block["tool_use_id"], "content": content})
            if isinstance(content, list):
                assert {part["type"] for part in content} == {"tool_reference"}
                definitions = [known[part["tool_name"]] for part in content]
                said[-1]["content"] = text_with("", definitions)
                loaded.append((said[-1], definitions))
    return said


def _add_item(said: list[Entry], item: Body) -> None:
    match item.get("type", "message"):
        case "tool_search_call":
            _join_call(said, _call(item["call_id"], SEARCH_TOOLS, compact(item["arguments"])))
        case "function_call":
            _join_call(said, _call(item["call_id"], item["name"], item["arguments"]))
        case "function_call_output":
            said.append({"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]})
        case "tool_search_output":
            definitions = [_function(tool, tool["name"]) for tool in item["tools"]]
            said.append(
                {"role": "tool", "tool_call_id": item["call_id"], "content": text_with("", definitions)}
            )
        case _ if item["role"] == "developer":
            brought = said[-1]["content"]
            said[-1]["content"] = f"{item['content']}\n\n{brought}" if brought else item["content"]
        case _:
            said.append({"role": item["role"], "content": item["content"]})


def _join_call(said: list[Entry], call: Entry) -> None:
    """Add a call to the assistant's message that it belongs to."""
    if said and said[-1]["role"] == "assistant":
        said[-1].setdefault("tool_calls", []).append(call)
    else:
        said.append({"role": "assistant", "tool_calls": [call]})


def _function(tool: Body, name: str) -> Entry:
    return function_definition(name, tool["description"], tool["parameters"])
