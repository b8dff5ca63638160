"""Calls one tool by hand."""

import json
import sys
from collections.abc import Sequence
from typing import Any

import click

from inspector.access.restriction import OpenedConfiguration
from inspector.cli.configuration import read_configuration
from inspector.cli.consent import TerminalApprover
from inspector.cli.launch import headless
from inspector.cli.options import Options, as_json, options, shared
from inspector.cli.run import Exit, run
from inspector.cli.table import show
from inspector.core.error import ConfigError, ToolsightError
from inspector.core.events.call import Decision
from inspector.core.message import ToolResult
from inspector.core.ports import ApprovalRequest
from inspector.core.report import selected
from inspector.core.server import ServerPhase
from inspector.core.text import closest, did_you_mean
from inspector.core.tool import Tool
from inspector.reliability.approval import CLAIMED, why_ask
from inspector.schema.json_value import JsonObject
from inspector.schema.schema import SchemaField, fields
from inspector.session.workbench import Workbench


@click.command()
@click.argument("tool")
@click.argument("given", nargs=-1, metavar="[KEY=VALUE]... | JSON")
@shared
@as_json
def call(tool: str, given: tuple[str, ...], **values: Any) -> None:
    """Call TOOL with these arguments and print its result.

    TOOL is SERVER:NAME, or a name that only one server has. Each value is read as its parameter's type: text
    as is, anything else as JSON. One JSON object can hold all arguments instead. A call that may change
    something asks first; --yes allows it. The exit code is 1 if the tool reports an error or was not called.

    \b
    toolsight call weather:get_forecast city=Oslo days=3 --demo
    toolsight call get_forecast '{"city": "Oslo", "days": 3}' --demo
    """
    result = run(_called(tool, given, options(**values)))
    show(selected(result, "text is_error structured kinds"), [result.text])
    if result.is_error:
        sys.exit(Exit.FAILED)


async def _called(tool_id: str, words: Sequence[str], chosen: Options) -> ToolResult:
    opened = _with_its_server(read_configuration(chosen), tool_id)
    async with headless(chosen, opened, record=True, listing=True) as bench:
        tool = _tool(bench, tool_id)
        given = _object(words) if words and words[0].lstrip().startswith("{") else _read(tool, words)
        why, approver = why_ask(tool, bench.state), TerminalApprover(yes=chosen.yes)
        request = ApprovalRequest(tool, given, why, offers_trust=why == CLAIMED)
        if why and await approver.ask(request) is Decision.NO:
            raise ToolsightError(f"{tool.id} was not called")
        return await bench.call(tool.id, given)


def _tool(bench: Workbench, tool_id: str) -> Tool:
    """The tool. Raises ConfigError for an unknown one, or the error of a server that could not list it."""
    if not bench.catalog.named(tool_id):
        for server in bench.state.servers.values():
            if server.phase is ServerPhase.FAILED:
                raise ToolsightError(f"{server.name}: {server.reason}", hint=server.hint)
    try:
        return bench.catalog.require(tool_id)
    except ToolsightError as error:
        raise ConfigError(error.message, hint=error.hint) from error


def _with_its_server(opened: OpenedConfiguration, tool_id: str) -> OpenedConfiguration:
    """The configuration with the tool's server alone: no other has to start. Raises ConfigError.

    Which server a bare name belongs to is known only when all of them are connected.
    """
    name, colon, _ = tool_id.partition(":")
    if not colon:
        return opened
    known = [spec.name for spec in opened.seen.servers]
    if name not in known:
        hint = did_you_mean("Write SERVER:TOOL; servers", name, known) or "There is no server to call."
        raise ConfigError(f"there is no server for '{tool_id}'", hint=hint)
    return opened.only(name)


def _read(tool: Tool, pairs: Sequence[str]) -> JsonObject:
    """The arguments in KEY=VALUE pairs, each value read as its parameter's type. Raises ConfigError."""
    known = {field.name: field for field in fields(tool.input_schema)}
    arguments: dict[str, Any] = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        if not sign:
            raise ConfigError(f"'{pair}' has no value", hint=f"Write {name}=VALUE.")
        if name not in known and known:
            near = ", ".join(closest(name, list(known)) or known)
            raise ConfigError(f"{tool.id} has no parameter '{name}'", hint=f"Parameters: {near}.")
        arguments[name] = _value(known.get(name), name, text)
    return arguments


def _value(field: SchemaField | None, name: str, text: str) -> Any:
    if field is None or field.type in ("string", "any") or (field.choices and text in field.choices):
        return text
    try:
        return json.loads(text)
    except ValueError as error:
        hint = f"As JSON: {name}=7, {name}=true, {name}='[\"a\"]'."
        raise ConfigError(f"{name} must be {field.type}, not '{text}'", hint=hint) from error


def _object(words: Sequence[str]) -> JsonObject:
    """All arguments as one JSON object, which stands alone. Raises ConfigError."""
    hint = "Write one object, such as '{\"a\": 1}', and nothing else."
    if len(words) > 1:
        raise ConfigError("a JSON object must hold all arguments, so none may follow it", hint=hint)
    try:
        value: JsonObject = json.loads(words[0])
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"the arguments are not valid JSON: {error}", hint=hint) from error
    return value
