"""Recorded runs, and what stands in for their servers: recorded definitions and results."""

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from inspector.core.error import ProtocolError, ServerExited
from inspector.core.message import OnTask, ToolResult
from inspector.core.ports import ToolListing
from inspector.core.server import Era, ServerInfo, ServerSpec
from inspector.core.tool import Tool
from inspector.mcp.port import ClientSide, ignored
from inspector.schema.json_value import JsonObject


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call that the agent made. `tool` and `server` are the recording's names; `server` may be empty.

    `result` is what the agent read, None if the recording has no results.
    """

    tool: str
    arguments: JsonObject = field(default_factory=dict)
    result: str | None = None
    failed: bool = False
    server: str = ""


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """One model call: what the agent said, its own searches for tools, and its calls."""

    text: str = ""
    calls: tuple[RecordedCall, ...] = ()
    searches: tuple[str, ...] = ()

    @property
    def acts(self) -> bool:
        """Whether the agent did anything but talk."""
        return bool(self.calls or self.searches)


@dataclass(frozen=True, slots=True)
class RecordedMessage:
    """What the user said, and the agent's steps for it."""

    text: str
    steps: tuple[RecordedStep, ...]


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A recorded run. `id` is unique in its folder; runs of one `task` are attempts at the same thing.

    `solved` is None if the recording does not say. The tokens are the provider's own counts over all model
    calls of the run, None if it has none. `model` is what the agent ran on, `profile` the one of Toolsight
    that it ran under, "" if the recording does not say. `tools` are those that it had, as far as it
    defines them.
    """

    id: str
    task: str
    messages: tuple[RecordedMessage, ...]
    solved: bool | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str = ""
    profile: str = ""
    tools: tuple[Tool, ...] = ()

    @property
    def steps(self) -> Iterator[RecordedStep]:
        """The model calls, in order."""
        return (step for message in self.messages for step in message.steps)

    @property
    def calls(self) -> Iterator[RecordedCall]:
        """The agent's calls, in order."""
        return (call for step in self.steps for call in step.calls)


NO_RESULT = "[The recording has no result of this call.]"
_UNKNOWN = ToolResult(NO_RESULT)
_NO_RESULTS: Mapping[str, deque[ToolResult]] = {}


class RecordedServers:
    """A Connector to the servers of some definitions; `expect` says what the next calls return."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools: defaultdict[str, list[Tool]] = defaultdict(list)
        for tool in tools:
            self._tools[tool.server].append(tool)
        self._results: defaultdict[str, deque[ToolResult]] = defaultdict(deque)

    @property
    def specs(self) -> tuple[ServerSpec, ...]:
        """A server for each that the definitions name; all of its tools are deferred."""
        # What was recorded is played back, so no call of it changes anything.
        return tuple(
            ServerSpec(name, command="recorded", defer_loading=True, trust_annotations=True)
            for name in self._tools
        )

    def expect(self, calls: Sequence[RecordedCall]) -> None:
        """Answer the next calls with these results, by tool and in order; forget what was expected before."""
        self._results.clear()
        for call in calls:
            text = NO_RESULT if call.result is None else call.result
            self._results[f"{call.server}:{call.tool}"].append(ToolResult(text, is_error=call.failed))

    @asynccontextmanager
    async def connect(
        self,
        spec: ServerSpec,
        *,
        era: Era | None,  # noqa: ARG002 - a recording has no protocol
        on_tools_changed: Callable[[], None],  # noqa: ARG002 - nor changes
        client: ClientSide | None = None,  # noqa: ARG002 - nor questions
    ) -> AsyncGenerator["RecordedLink", None]:
        """See `Connector`."""
        yield RecordedLink(ServerInfo(spec.name), tuple(self._tools[spec.name]), self._results)


class RecordedLink:
    """A ServerLink that answers from a recording, by tool and in order; other calls get `otherwise`."""

    def __init__(
        self,
        info: ServerInfo,
        tools: tuple[Tool, ...],
        results: Mapping[str, deque[ToolResult]] = _NO_RESULTS,
        otherwise: ToolResult = _UNKNOWN,
    ) -> None:
        self.info = info
        self._tools = tools
        self._results = results
        self._otherwise = otherwise

    async def list_tools(self, progress: Callable[[int], None] = ignored) -> ToolListing:  # noqa: ARG002
        return ToolListing(self._tools)

    async def call(
        self,
        tool: str,
        arguments: JsonObject,  # noqa: ARG002 - the recording knows the result
        *,
        timeout: float,  # noqa: ARG002
        on_task: OnTask = ignored,  # noqa: ARG002
    ) -> ToolResult:
        waiting = self._results.get(f"{self.info.name}:{tool}")
        return waiting.popleft() if waiting else self._otherwise

    async def request(self, method: str, params: JsonObject, *, timeout: float) -> JsonObject:  # noqa: ARG002
        raise ProtocolError(f"{method}: no server runs here, only what was recorded of one")

    async def wait_closed(self) -> ServerExited:
        await asyncio.Event().wait()
        raise AssertionError("a recorded server is never lost")

    def stderr_tail(self) -> str:
        return ""
