"""Tool definitions from files, and servers that consist of such a file."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, Field

from inspector.config.file import load_value
from inspector.config.problem import Foreign, not_empty, validated
from inspector.core.error import ConfigError, ConnectError
from inspector.core.message import ToolResult
from inspector.core.server import Era, ServerInfo, ServerSpec
from inspector.core.tool import Annotations, Tool, acting_meta, task_support
from inspector.mcp.port import ClientSide, Connector, ServerLink
from inspector.mcp.recorded_link import RecordedLink

_HINT = 'A tools file is a tools/list response: { "tools": [ { "name": …, "inputSchema": … } ] }.'
_TOOLS, _FUNCTION = "tools", "function"


class Claims(Foreign):
    """The annotations of MCP."""

    readOnlyHint: bool | None = None  # noqa: N815 - the protocol's own names
    destructiveHint: bool | None = None  # noqa: N815
    idempotentHint: bool | None = None  # noqa: N815
    openWorldHint: bool | None = None  # noqa: N815

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
            self.title,
            meta=acting_meta(self.meta),
            task_support=task_support(self.execution),
        )


def read_definitions(paths: Sequence[Path]) -> tuple[Tool, ...]:
    """Read the tools of these files and folders; of two with the same id the first counts.

    A server has the name that its file gives it, else the file's own. Raises ConfigError, also if there is
    no tool.
    """
    found: dict[str, Tool] = {}
    for path in paths:
        files = sorted(path.glob("*.json*")) if path.is_dir() else [path]
        for file in files:
            found_there = _definitions(load_value(file, "tools", hint=_HINT), file.stem, str(file))
            tools = [one.tool(server) for server, one in found_there]
            if not tools:
                raise ConfigError(f"{file} has no tools", hint=_HINT)
            for tool in tools:
                found.setdefault(tool.id, tool)
    if not found:
        raise ConfigError("no tool definitions found", hint=_HINT)
    return tuple(found.values())


def _definitions(value: Any, server: str, place: str) -> Iterator[tuple[str, Definition]]:
    """The definitions in a value with their servers, however deep a list of tools is."""
    if isinstance(value, list):
        for number, one in enumerate(value):
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


NO_SERVER = "This is a stored listing: there is no server to call. Start the server itself to call its tools."


class WithStoredListings:
    """A Connector that reads the specs with a `listing`, and leaves all others to another Connector."""

    def __init__(self, others: Connector) -> None:
        self._others = others

    @asynccontextmanager
    async def connect(
        self,
        spec: ServerSpec,
        *,
        era: Era | None,
        on_tools_changed: Callable[[], None],
        client: ClientSide | None = None,
    ) -> AsyncGenerator[ServerLink, None]:
        """See `Connector`."""
        if spec.listing:
            tools, info = await asyncio.to_thread(_tools, spec), ServerInfo(spec.name, protocol="stored")
            yield RecordedLink(info, tools, otherwise=ToolResult(NO_SERVER, is_error=True))
            return
        opening = self._others.connect(spec, era=era, on_tools_changed=on_tools_changed, client=client)
        async with opening as link:
            yield link


def _tools(spec: ServerSpec) -> tuple[Tool, ...]:
    """The tools of the file, as those of one server; of two with the same name the first counts."""
    try:
        found = read_definitions([Path(spec.listing)])
    except ConfigError as error:
        raise ConnectError(error.message, hint=error.hint) from error
    named = {tool.name: replace(tool, server=spec.name) for tool in reversed(found)}
    return tuple(reversed(named.values()))
