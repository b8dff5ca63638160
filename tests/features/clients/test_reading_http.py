"""What a client does over HTTP is read from what it asked for: a client that begins anew, and another."""

import http.client
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from inspector.features.clients.measured.conversation import Conversation
from inspector.features.clients.measured.marks import HTTP, ServerLog
from inspector.features.clients.measured.reading_http import read_http
from inspector.features.clients.measured.wire import Heard, Outcome, SentTool
from tests.support.in_process import fixture_module

pytestmark = pytest.mark.slow


@dataclass
class Client:
    """Speaks to the servers; one that `begins_anew` does so after a lost session, and follows redirects."""

    port: int
    begins_anew: bool
    sessions: dict[str, str] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)

    def post(self, server: str, message: dict[str, Any]) -> tuple[int, str, http.client.HTTPMessage]:
        link = http.client.HTTPConnection("127.0.0.1", self.port)
        headers = {"Content-Type": "application/json", "mcp-session-id": self.sessions.get(server, "")}
        link.request("POST", self.paths.get(server, f"/{server}"), json.dumps(message), headers)
        answer = link.getresponse()
        return answer.status, answer.read().decode(), answer.headers

    def ask(self, server: str, method: str, **params: Any) -> str:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        status, text, headers = self.post(server, message)
        if status == 307 and self.begins_anew:
            self.paths[server] = headers["Location"]
            return self.ask(server, method, **params)
        if status == 404 and self.begins_anew:
            self.begin(server)
            return self.ask(server, method, **params)
        self.sessions[server] = headers.get("Mcp-Session-Id") or self.sessions.get(server, "")
        return text if status == 200 else f"error {status}: {text}"

    def begin(self, server: str) -> bool:
        about = {"clientInfo": {"name": "mine", "version": "1"}, "capabilities": {}}
        for _ in range(2 if self.begins_anew else 1):
            begun = self.ask(server, "initialize", protocolVersion="2025-06-18", **about)
        return "error" not in begun

    def converse(self, log: ServerLog) -> Conversation:
        talk, outcomes = Conversation(log), list[Outcome]()
        reached = [server for server in HTTP if self.begin(server)]
        listed = [json.loads(self.ask(server, "tools/list"))["result"]["tools"] for server in reached]
        where = {
            tool["name"]: server for server, tools in zip(reached, listed, strict=True) for tool in tools
        }
        tools = tuple(SentTool(one["name"], "", "", one["description"]) for some in listed for one in some)
        while calls := talk.reply(Heard("chat", "m", False, tools, (), tuple(outcomes), str(len(outcomes))))[
            0
        ]:
            for call in calls:
                text = self.ask(where[call.name], "tools/call", name=call.name, arguments=call.arguments)
                outcomes.append(Outcome(call.id, (text,), (), "messages[1]"))
        return talk


class Discovering(Client):
    """Asks for what a server of 2026-07-28 has, first."""

    def begin(self, server: str) -> bool:
        self.post(server, {"jsonrpc": "2.0", "id": 0, "method": "server/discover"})
        return super().begin(server)


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, ServerLog]]:
    """The servers' port, and their log."""
    module = fixture_module("marked_http")
    monkeypatch.setattr(module, "LOG", str(tmp_path / "server.jsonl"))
    monkeypatch.setattr(module, "ANSWER_SECONDS", 0)
    monkeypatch.setattr(module, "_once", set())
    module.note("", **module.plan())
    server = ThreadingHTTPServer(("127.0.0.1", 0), module.Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1], ServerLog(tmp_path / "server.jsonl")
    server.shutdown()
    server.server_close()


def said(served: tuple[int, ServerLog], *, begins_anew: bool) -> str:
    port, log = served
    return "\n".join(says for _, says, _ in read_http(Client(port, begins_anew).converse(log)))


def test_a_client_that_begins_anew_is_told_from_the_servers_log(served: tuple[int, ServerLog]) -> None:
    facts = said(served, begins_anew=True)
    assert "the server forgot (404): it begins a new one, and calls again by itself." in facts
    assert "A redirect (307) is followed." in facts
    assert "first answer is a 502 reaches the model." in facts
    assert "with the answer's text: “error 500: a petrel went wrong”" in facts
    assert "After a 401 it asks for: nothing." in facts
    assert "whose stream ends before its result gives the model" in facts
    assert "roots/list of a server gets nothing" in facts
    assert "other calls" not in facts


def test_a_client_that_does_not_begin_anew_is_told_from_the_servers_log(
    served: tuple[int, ServerLog],
) -> None:
    facts = said(served, begins_anew=False)
    assert "it begins no new one, and does not call again: “error 404" in facts
    assert "After that, other calls of this server fail as well" in facts
    assert "A redirect (307) is not followed." in facts
    assert "first answer is a 502 does not reach the model." in facts


def test_a_502_to_server_discover_says_nothing_of_a_first_answer(served: tuple[int, ServerLog]) -> None:
    port, log = served
    facts = [says for _, says, _ in read_http(Discovering(port, begins_anew=True).converse(log))]
    assert facts
    assert not [says for says in facts if "502" in says]


def test_a_call_that_never_reached_its_server_says_nothing_of_a_lost_session(
    served: tuple[int, ServerLog], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        Client, "ask", lambda self, server, method, **params: _refusing(self, server, method, params)
    )
    assert "session that the server forgot" not in said(served, begins_anew=True)


def _refusing(client: Client, server: str, method: str, params: dict[str, Any]) -> str:
    """A client that refuses to call anything of the server that forgets."""
    if (server, method) == ("marked-gone", "tools/call"):
        return "error: not allowed"
    return _ASK(client, server, method, **params)


_ASK = Client.ask
