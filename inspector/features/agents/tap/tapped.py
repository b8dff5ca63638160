"""Makes the events of a session of what crosses a tap."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from inspector.clients.client import client_name
from inspector.core.error import FailureKind
from inspector.core.events import (
    CallFinished,
    CallStarted,
    Event,
    MessagePassed,
    Origin,
    ServerConnecting,
    ServerStopped,
    SessionStarted,
    TaskChanged,
)
from inspector.core.message import TaskState
from inspector.core.ports import TokenCounter
from inspector.features.agents.known_tools import KnownTools
from inspector.features.agents.transcript import AgentTool
from inspector.mcp.client import task as tasks
from inspector.mcp.frame import beginning
from inspector.mcp.pace import CutLine
from inspector.schema.json_value import JsonObject, as_object, compact, read_object

UNKNOWN_CLIENT = "client"
_LONGEST_TEXT = 20_000
_MOST_PENDING = 1_000
_STATUS = ("notifications/tasks/status", "notifications/tasks")
_CLIENT_INFO = "io.modelcontextprotocol/clientInfo"


@dataclass(frozen=True, slots=True)
class Tapped:
    """What is tapped: the session's id, the server's name and command, and the client's folder."""

    session: str
    server: str
    command: str
    folder: str


@dataclass(slots=True)
class _Request:
    method: str
    at: float
    params: JsonObject


@dataclass(slots=True)
class _Task:
    """A call that runs as a task: its id and request, how often it was polled, and its last state."""

    call: str
    request: _Request
    polls: int = 0
    state: TaskState | None = None


class Conversation:
    """Makes events of the messages between a client and its server."""

    def __init__(self, tapped: Tapped, counter_for: Callable[[str], TokenCounter]) -> None:
        """`counter_for` takes the client's name."""
        self._tapped = tapped
        self._counter_for = counter_for
        self._pending: dict[tuple[bool, str], _Request] = {}
        self._tasks: dict[str, _Task] = {}
        self._listed: dict[str, AgentTool] = {}
        self._offered: frozenset[str] = frozenset()
        self._known: KnownTools | None = None
        self._count: Callable[[str], int] = len

    def line(self, line: bytes | CutLine, at: float, *, sent: bool) -> Iterator[Event]:
        """The events of one line that the client sent, or else the server."""
        data, size = (line.head, line.size) if isinstance(line, CutLine) else (line, len(line))
        if not data.strip():
            return
        text = data.decode("utf-8", "replace").rstrip("\r")
        found = read_object(text)
        yield from self.started(found)
        pair = (not sent if _is_reply(found) else sent, compact(found.get("id")))
        asked = self._pending.pop(pair, None) if _is_reply(found) else None
        method = asked.method if asked is not None else found.get("method")
        took = (at - asked.at) * 1000 if asked is not None else None
        id_ = pair[1] if "id" in found else ""
        method = method if isinstance(method, str) else ""
        server = self._tapped.server
        yield MessagePassed(server, sent, method, id_, size, beginning(text, _LONGEST_TEXT), took)
        if asked is not None and sent is False:
            yield from self._answered(asked, found, pair[1], at)
        elif method in _STATUS and not sent:
            yield from self._went_on(as_object(found.get("params")), at)
        elif id_ and method and not _is_reply(found):
            yield from self._asked(pair, _Request(method, at, as_object(found.get("params"))))

    def started(self, found: JsonObject) -> Iterator[Event]:
        """The session begins with its first message, which says who the client is."""
        if self._known is not None:
            return
        params = as_object(found.get("params"))
        info = as_object(params.get("clientInfo") or as_object(params.get("_meta")).get(_CLIENT_INFO))
        agent, version = client_name(str(info.get("name") or UNKNOWN_CLIENT)), str(info.get("version") or "")
        counter, tapped = self._counter_for(agent), self._tapped
        self._known, self._count = KnownTools(agent, counter.count), counter.count
        origin = Origin(agent, version, tapped.session, file=f"tap {tapped.folder}")
        yield SessionStarted(tapped.server, (tapped.server,), "", "", "", 0, origin=origin)
        yield ServerConnecting(tapped.server, tapped.command)

    def _asked(self, pair: tuple[bool, str], request: _Request) -> Iterator[Event]:
        if len(self._pending) >= _MOST_PENDING:
            del self._pending[next(iter(self._pending))]
        self._pending[pair] = request
        if pair[0] and request.method == "tools/call":
            yield CallStarted(pair[1], self._tool(request), as_object(request.params.get("arguments")))

    def _answered(self, asked: _Request, found: JsonObject, id_: str, at: float) -> Iterator[Event]:
        assert self._known is not None
        result = as_object(found.get("result"))
        if asked.method == "tools/call" and (task := tasks.task_in(result)) is not None:
            if len(self._tasks) >= _MOST_PENDING:
                del self._tasks[next(iter(self._tasks))]
            self._tasks[str(task.get("taskId"))] = _Task(id_, asked)
            yield from self._went_on(task, at)
        elif asked.method == "tools/call":
            yield self._call(asked, found, id_, at)
        elif asked.method in tasks.METHODS:
            yield from self._of_task(asked, found, at)
        elif asked.method in ("initialize", "server/discover"):
            self._known.announce(self._tapped.server, str(result.get("instructions") or ""))
        elif asked.method == "tools/list" and isinstance(result.get("tools"), list):
            yield from self._page(asked, result)

    def _page(self, asked: _Request, result: JsonObject) -> Iterator[Event]:
        """One page of tools; the last one makes it the list of the server."""
        assert self._known is not None
        if not asked.params.get("cursor"):
            self._listed = {}
        server = self._tapped.server
        for tool in map(as_object, result["tools"]):
            name = str(tool.get("name") or "")
            definition = {
                "description": tool.get("description") or "",
                "parameters": as_object(tool.get("inputSchema")),
            }
            self._listed[f"{server}:{name}"] = AgentTool(name, server, definition=definition)
        if not result.get("nextCursor"):
            self._known.withdraw(self._offered - self._listed.keys())
            self._known.offer(self._listed.values(), deferred=False)
            self._offered = frozenset(self._listed)
            yield from self._known.news()

    def _of_task(self, asked: _Request, found: JsonObject, at: float) -> Iterator[Event]:
        """What an answer about a task says of its call."""
        id_, result = str(asked.params.get("taskId")), as_object(found.get("result"))
        task = self._tasks.get(id_)
        if task is None:
            return
        is_over = task.state is not None and task.state.status in tasks.ENDED
        if asked.method in (tasks.GET, tasks.CANCEL) and "result" in found:
            task.polls += asked.method == tasks.GET
            result = result if asked.method == tasks.GET else {"status": tasks.CANCELLED}
            yield from self._went_on({**result, "taskId": id_}, at)
        elif asked.method == tasks.RESULT and ("result" in found or is_over):
            yield self._call(self._tasks.pop(id_).request, found, task.call, at)

    def _went_on(self, said: JsonObject, at: float) -> Iterator[Event]:
        """The new state of a task, and the end of its call if that is in it."""
        id_ = str(said.get("taskId"))
        task = self._tasks.get(id_)
        if task is None:
            return
        state, last = tasks.task_state(said, task.polls), task.state
        if last is None or (state.status, state.message) != (last.status, last.message):
            task.state = state
            yield TaskChanged(task.call, self._tool(task.request), state)
        ends = {tasks.COMPLETED: "result", tasks.FAILED: "error"}.get(state.status, "")
        if state.status == tasks.CANCELLED:
            told: JsonObject = {"error": {"message": state.message or tasks.CANCELLED}}
            ended = self._call(self._tasks.pop(id_).request, told, task.call, at)
            yield replace(ended, failure=FailureKind.CANCELLED)
        elif ends in said:
            yield self._call(self._tasks.pop(id_).request, {ends: said[ends]}, task.call, at)

    def _call(self, asked: _Request, found: JsonObject, id_: str, at: float) -> CallFinished:
        result, error = as_object(found.get("result")), as_object(found.get("error"))
        blocks = result.get("content")
        parts = list(map(as_object, blocks)) if isinstance(blocks, list) else []
        said = [str(part.get("text") or f"[{part.get('type')}]") for part in parts]
        text = str(error.get("message") or "an error") if error else "\n".join(said)
        ok = not error and result.get("isError") is not True
        structured = result.get("structuredContent")
        return CallFinished(
            id_,
            self._tool(asked),
            ok,
            text,
            (at - asked.at) * 1000,
            structured if isinstance(structured, dict) else None,
            None if ok else FailureKind.TOOL,
            tokens=self._count(compact(as_object(asked.params.get("arguments")))) + self._count(text),
        )

    def _tool(self, request: _Request) -> str:
        return f"{self._tapped.server}:{request.params.get('name') or ''}"

    def end(self) -> Iterator[Event]:
        """The events at the end; none if there was no message."""
        if self._known is not None:
            yield ServerStopped(self._tapped.server)


def _is_reply(found: JsonObject) -> bool:
    return "method" not in found and ("result" in found or "error" in found)
