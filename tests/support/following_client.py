"""A client that does what the rules of a `Client` say, as its model sees it: they have to be measured."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inspector.clients.client import Client
from inspector.clients.golden import declared_tool
from inspector.clients.seen import SeenTool, cut, see
from inspector.features.clients.measured.answer import answer
from inspector.features.clients.measured.conversation import Conversation
from inspector.features.clients.measured.marks import SERVER, ServerLog
from inspector.features.clients.measured.wire import Api, Call, read
from tests.support.in_process import fixture_module

SEARCH = "tool_search"
Definition = Mapping[str, Any]


@dataclass
class FollowingClient:
    """Speaks one API; `results` is how many characters of a result its model gets."""

    client: Client
    api: Api
    log: Path
    results: int = 10**9
    loaded: dict[str, Definition] = field(default_factory=dict)
    said: list[Mapping[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.module = fixture_module("marked")
        self.module.LOG = str(self.log)
        self.module.note(**self.module.plan())
        self.note("initialize", protocolVersion="2025-06-18", clientInfo={"name": "mine", "version": "1.2"},
                  capabilities={"roots": {}, "elicitation": {}})  # fmt: skip
        servers = self.module.plan()["servers"]
        for server in servers:
            self.note("tools/list", server)
        if not self.client.listing.first_page:
            self.note("tools/list", cursor="1")
        declared = [declared_tool(server, one, 1) for server, tools in servers.items() for one in tools]
        self.seen = [see(self.client, one) for one in declared]

    def note(self, method: str, server: str = SERVER, **params: Any) -> None:
        self.module.LOG = str(self.log)
        self.module.note(server, method=method, params=params)

    @property
    def server_log(self) -> ServerLog:
        return ServerLog(self.log)

    def converse(self) -> Conversation:
        """Go on until the model calls nothing."""
        talk = Conversation(ServerLog(self.log))
        while True:
            heard = read(self.api, self.body())
            wanted, text = talk.reply(heard)
            calls = self.calls_of(answer(heard, len(talk.exchanges), wanted, text))
            if not calls:
                return talk
            self.said += [self.outcome(call) for call in calls]

    # What it sends.

    @property
    def offered(self) -> list[SeenTool]:
        return [seen for seen in self.seen if not seen.refused]

    def definition(self, seen: SeenTool) -> Definition:
        function = seen.definition["function"]
        if self.api == "messages":
            return {
                "name": seen.name,
                "description": function["description"],
                "input_schema": function["parameters"],
            }
        return {**seen.definition} if self.api == "chat" else {"type": "function", **function}

    def body(self) -> Definition:
        before = self.client.listing.before
        bound = (
            [self.definition(seen) for seen in self.offered]
            if before == "definitions"
            else list(self.loaded.values())
        )
        if before != "definitions":
            bound.append(self.search_tool())
        text = self.text()
        if self.api == "responses":
            return {"model": "m", "instructions": text, "tools": bound, "input": self.said or "Go."}
        system = [{"role": "system", "content": text}] if self.api == "chat" and text else []
        messages = [*system, {"role": "user", "content": "Go."}, *self.said]
        return {
            "model": "m",
            "messages": messages,
            "tools": bound,
            "system": text if self.api == "messages" else "",
        }

    def search_tool(self) -> Definition:
        if self.api == "responses":
            return {"type": SEARCH, "execution": "client", "description": "Search."}
        if self.api == "messages":
            return {"name": "ToolSearch", "description": "Search.", "input_schema": {"type": "object"}}
        return {"type": "function", "function": {"name": SEARCH, "parameters": {"type": "object"}}}

    def text(self) -> str:
        rule, listing = self.client.texts, self.client.listing
        whole = self.module.INSTRUCTIONS.partition("\n")[0] if rule.first_line else self.module.INSTRUCTIONS
        parts = [cut(whole, rule.instructions).shown] if listing.instructions else []
        if listing.before == "servers":
            parts.append(f"- {SERVER}")
        if listing.before == "names":
            parts += [seen.name for seen in self.offered]
        return "\n".join(parts)

    # What it does.

    def calls_of(self, whole: Definition) -> list[Call]:
        """The calls in an answer, which it repeats in its next request as clients do."""
        if self.api == "messages":
            self.said.append({"role": "assistant", "content": whole["content"]})
            used = [block for block in whole["content"] if block["type"] == "tool_use"]
            return [Call(block["id"], block["name"], block["input"]) for block in used]
        if self.api == "chat":
            message = whole["choices"][0]["message"]
            self.said.append(message)
            called = [(one["id"], one["function"]) for one in message.get("tool_calls", ())]
            return [Call(id_, one["name"], json.loads(one["arguments"])) for id_, one in called]
        self.said += whole["output"]
        return [
            Call(item["call_id"], item.get("name", SEARCH), _arguments(item["arguments"]))
            for item in whole["output"]
            if item["type"] != "message"
        ]

    def outcome(self, call: Call) -> Definition:
        if call.name in (SEARCH, "ToolSearch"):
            return self.found(call, self.search(str(call.arguments["query"])))
        tool = next(seen.tool for seen in self.seen if seen.name == call.name)
        name = tool.name
        self.note("tools/call", tool.server, name=name, arguments=call.arguments)
        if name == "change_tools" and self.client.follows_changes:
            self.note("tools/list")
        content = self.module.answer_of(name, call.arguments)["content"]
        text = "".join(part.get("text", "") for part in content)
        return self.result(call, text[: self.results])

    def search(self, query: str) -> list[SeenTool]:
        """Tools whose name has a word of the query, or whose description has it whole, by name."""
        hit = [
            seen
            for seen in self.offered
            if any(word in seen.tool.name for word in query.split()) or query in seen.description.shown
        ]
        return sorted(hit, key=lambda seen: seen.name)[: self.client.search.results]

    def found(self, call: Call, tools: Sequence[SeenTool]) -> Definition:
        self.loaded |= {seen.name: self.definition(seen) for seen in tools}
        if self.api == "messages":
            found = [{"type": "tool_reference", "tool_name": seen.name} for seen in tools]
            return {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": call.id, "content": found}],
            }
        if self.api == "responses":
            tools_ = [self.definition(seen) for seen in tools]
            return {"type": "tool_search_output", "call_id": call.id, "tools": tools_}
        return self.result(call, ", ".join(seen.name for seen in tools) or "none")

    def result(self, call: Call, text: str) -> Definition:
        if self.api == "messages":
            return {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": call.id, "content": text}],
            }
        if self.api == "responses":
            return {"type": "function_call_output", "call_id": call.id, "output": text}
        return {"role": "tool", "tool_call_id": call.id, "content": text}


def _arguments(given: Any) -> Any:
    return json.loads(given) if isinstance(given, str) else given
