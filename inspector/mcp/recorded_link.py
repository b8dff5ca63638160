"""What stands in for servers, or before them: recorded runs and results, and files of tool definitions."""

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

from msgspec import Struct, field
from msgspec.structs import replace
from pydantic import AfterValidator, AliasChoices, Field

from inspector.config.file import load_value
from inspector.config.problem import Foreign, not_empty, validated
from inspector.core.error import ConfigError, ConnectError, ProtocolError, ServerExited
from inspector.core.message import OnTask, ToolResult
from inspector.core.ports import ToolListing
from inspector.core.server import ServerInfo, ServerSpec, SkippedTool
from inspector.core.tool import Annotations, Tool, acting_meta, task_support
from inspector.mcp.port import Connector, Opening, ServerLink, ignored
from inspector.schema.json_value import JsonObject, shown


class RecordedCall(Struct, frozen=True):
    """A call that the agent made. `tool` and `server` are the recording's names; `server` may be empty.

    `result` is what the agent read, None if the recording has no results.
    """

    tool: str
    arguments: JsonObject = field(default_factory=dict)
    result: str | None = None
    failed: bool = False
    server: str = ""


class RecordedStep(Struct, frozen=True):
    """One model call: what the agent said, its own searches for tools, and its calls."""

    text: str = ""
    calls: tuple[RecordedCall, ...] = ()
    searches: tuple[str, ...] = ()

    @property
    def acts(self) -> bool:
        """Whether the agent did anything but talk."""
        return bool(self.calls or self.searches)


class RecordedMessage(Struct, frozen=True):
    """What the user said, and the agent's steps for it."""

    text: str
    steps: tuple[RecordedStep, ...]


class RecordedRun(Struct, frozen=True):
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
        opening: Opening,  # noqa: ARG002 - a recording has no protocol, no changes and no questions
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
        skipped: tuple[SkippedTool, ...] = (),
    ) -> None:
        self.info = info
        self._tools = tools
        self._results = results
        self._otherwise = otherwise
        self._skipped = skipped

    async def list_tools(self, progress: Callable[[int], None] = ignored) -> ToolListing:  # noqa: ARG002
        return ToolListing(self._tools, self._skipped)

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


_HINT = 'A tools file is a tools/list response: { "tools": [ { "name": …, "inputSchema": … } ] }.'
_TOOLS, _FUNCTION = "tools", "function"


class Claims(Foreign):
    """The annotations of MCP."""

    readOnlyHint: bool | None = None  # noqa: N815 - the protocol's own names
    destructiveHint: bool | None = None  # noqa: N815
    idempotentHint: bool | None = None  # noqa: N815
    openWorldHint: bool | None = None  # noqa: N815
    title: str = ""

    @property
    def annotations(self) -> Annotations:
        return Annotations(self.readOnlyHint, self.destructiveHint, self.idempotentHint, self.openWorldHint)


class Definition(Foreign):
    """A tool in a file: its keys are those of MCP, of OpenAI's functions, or of the data sets."""

    name: Annotated[str, AfterValidator(not_empty), Field(description="Every tool needs a name.")]
    description: str = ""
    server: str = ""
    input_schema: dict[str, Any] = Field(
        default_factory=dict,
        validation_alias=AliasChoices("inputSchema", "input_schema", "parameters"),
        description="It must be a JSON Schema with `type: object`.",
    )
    annotations: Claims = Field(default_factory=Claims)
    output_schema: dict[str, Any] | None = Field(None, validation_alias="outputSchema")
    title: str = ""
    meta: dict[str, Any] = Field(default_factory=dict, validation_alias="_meta")
    execution: dict[str, Any] = Field(default_factory=dict)

    def tool(self, server: str) -> Tool:
        """The tool, of that server if the file names none."""
        return Tool(
            self.server or server,
            self.name,
            self.description,
            {**self.input_schema, "type": "object"},
            self.annotations.annotations,
            self.output_schema,
            self.title or self.annotations.title,
            meta=acting_meta(self.meta),
            task_support=task_support(self.execution),
        )


def read_definitions(paths: Sequence[Path]) -> tuple[Tool, ...]:
    """Read the tools of these files and folders; of two with the same id the first counts.

    A server has the name that its file gives it, else the file's own. Raises ConfigError, also if there is
    no tool.
    """
    return read_listing(paths).tools


def read_listing(paths: Sequence[Path]) -> ToolListing:
    """The tools as `read_definitions` has them, and what stands among them that is none."""
    found: dict[str, Tool] = {}
    lost: list[SkippedTool] = []
    for path in paths:
        files = sorted(path.glob("*.json*")) if path.is_dir() else [path]
        for file in files:
            there = list(_definitions(load_value(file, "tools", hint=_HINT), file.stem, str(file)))
            lost += (one for _, one in there if isinstance(one, SkippedTool))
            tools = [one.tool(server) for server, one in there if isinstance(one, Definition)]
            if not tools:
                raise ConfigError(f"{file} has no tools", hint=_HINT)
            for tool in tools:
                found.setdefault(tool.id, tool)
    if not found:
        raise ConfigError("no tool definitions found", hint=_HINT)
    return ToolListing(tuple(found.values()), tuple(lost))


def _definitions(value: Any, server: str, place: str) -> Iterator[tuple[str, Definition | SkippedTool]]:
    """The definitions in a value with their servers, however deep a list of tools is."""
    if isinstance(value, list):
        has_tools = any(isinstance(one, dict) for one in value)
        for number, one in enumerate(value):
            if has_tools and not isinstance(one, dict | list):
                yield server, SkippedTool("", f"it is {shown(one)}, not an object", number=number + 1)
            yield from _definitions(one, server, f"{place}: [{number}]")
    elif isinstance(value, dict) and _TOOLS in value:
        yield from _definitions(value[_TOOLS], _name(value, server), f"{place}: {_TOOLS}")
    elif isinstance(value, dict) and isinstance(value.get(_FUNCTION), dict):
        yield server, validated(Definition, value[_FUNCTION], place)
    elif isinstance(value, dict) and isinstance(value.get("name"), str):
        yield server, validated(Definition, value, place)
    elif isinstance(value, dict):
        for key, one in value.items():
            if isinstance(one, dict | list):
                named = server if key == "result" else str(key)
                yield from _definitions(one, named, f"{place}: {key}")


def _name(value: dict[str, Any], server: str) -> str:
    given = value.get("server_name")
    return given if isinstance(given, str) and given else server


class PassedOn(Struct, eq=False):
    """The part of a ServerLink that one before another leaves to that."""

    _link: ServerLink

    @property
    def info(self) -> ServerInfo:
        return self._link.info

    async def request(self, method: str, params: JsonObject, *, timeout: float) -> JsonObject:
        return await self._link.request(method, params, timeout=timeout)

    async def wait_closed(self) -> ServerExited:
        return await self._link.wait_closed()

    def stderr_tail(self) -> str:
        return self._link.stderr_tail()


NO_SERVER = "This is a stored listing: there is no server to call. Start the server itself to call its tools."


class WithStoredListings:
    """A Connector that reads the specs with a `listing`, and leaves all others to another Connector."""

    def __init__(self, others: Connector) -> None:
        self._others = others

    @asynccontextmanager
    async def connect(self, spec: ServerSpec, opening: Opening) -> AsyncGenerator[ServerLink, None]:
        """See `Connector`."""
        if spec.listing:
            listing, info = await asyncio.to_thread(_listing, spec), ServerInfo(spec.name, protocol="stored")
            nowhere = ToolResult(NO_SERVER, is_error=True)
            yield RecordedLink(info, listing.tools, otherwise=nowhere, skipped=listing.skipped)
            return
        async with self._others.connect(spec, opening) as link:
            yield link


def _listing(spec: ServerSpec) -> ToolListing:
    """What the file lists, as of one server; of two tools with the same name the first counts."""
    try:
        found = read_listing([Path(spec.listing)])
    except ConfigError as error:
        raise ConnectError(error.message, hint=error.hint) from error
    named = {tool.name: replace(tool, server=spec.name) for tool in reversed(found.tools)}
    return replace(found, tools=tuple(reversed(named.values())))
