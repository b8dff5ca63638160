"""A tool call as people write it: read from `KEY=VALUE` words, and written as a command, JSON-RPC or curl."""

import base64
import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from inspector.core.error import ConfigError
from inspector.core.server import Era, OAuthClient, ServerSpec
from inspector.core.text import closest
from inspector.core.tool import Tool
from inspector.schema.json_value import JsonObject, compact
from inspector.schema.schema import SchemaField, fields

CallForm = Literal["line", "json-rpc", "curl"]
CALL_FORMS: Final = ("line", "json-rpc", "curl")
_ONE_OBJECT = "Write one object, such as '{\"a\": 1}', and nothing else."
_UNFIT = re.compile(r"\W")
_VARIABLE = re.compile(r"\$\{(?:env:)?(\w+)(?::-[^}]*)?\}")
_ENCODED = re.compile(r"=\?base64\?.*\?=")
_TOKEN = re.compile(r"[!#%&'*+\-.^_|~0-9A-Za-z]+")


def read_arguments(tool: Tool, words: Sequence[str], read: Callable[[str], str]) -> JsonObject:
    """The arguments in words: one JSON object or `@FILE` with one, or `KEY=VALUE` and `KEY:=JSON`.

    A value of `KEY=` is read as its parameter's type; `@FILE` in place of a value stands for the file's text,
    which `read` returns. Raises ConfigError.
    """
    first = words[0].lstrip() if words else ""
    if first.startswith(("{", "@")):
        return _object(words, read)
    known = {field.name: field for field in fields(tool.input_schema)}
    arguments: dict[str, Any] = {}
    for word in words:
        name, sign, text = word.partition("=")
        is_json = name.endswith(":") and name not in known
        name = name.removesuffix(":") if is_json else name
        if not sign:
            raise ConfigError(f"'{word}' has no value", hint=f"Write {name}=VALUE.")
        if name not in known and known:
            near = ", ".join(closest(name, list(known)) or known)
            raise ConfigError(f"{tool.id} has no parameter '{name}'", hint=f"Parameters: {near}.")
        text = read(text[1:]) if text.startswith("@") else text
        arguments[name] = _value(None if is_json else known.get(name), name, text, is_json=is_json)
    return arguments


def _is_text(field: SchemaField | None, text: str) -> bool:
    return field is None or field.type in ("string", "any") or text in field.choices


def _value(field: SchemaField | None, name: str, text: str, *, is_json: bool) -> Any:
    if not is_json and _is_text(field, text):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        hint = f"As JSON: {name}:=7, {name}:=true, {name}:='[\"a\"]'."
        kind = field.type if field is not None else "JSON"
        raise ConfigError(f"{name} must be {kind}, not '{text[:200]}'", hint=hint) from error


def _object(words: Sequence[str], read: Callable[[str], str]) -> JsonObject:
    """All arguments as one JSON object, which stands alone. Raises ConfigError."""
    if len(words) > 1:
        raise ConfigError("a JSON object must hold all arguments, so none may follow it", hint=_ONE_OBJECT)
    text = read(words[0][1:]) if words[0].startswith("@") else words[0]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"the arguments are not valid JSON: {error}", hint=_ONE_OBJECT) from error
    if not isinstance(value, dict):
        raise ConfigError("the arguments are not a JSON object", hint=_ONE_OBJECT)
    return value


# The same call, to paste elsewhere.


def command_line(tool: Tool, arguments: JsonObject, source: Sequence[str] = ()) -> str:
    """The call as a line for a shell, which `read_arguments` reads; `source` says which servers are meant."""
    known = {field.name: field for field in fields(tool.input_schema)}
    is_plain = all(
        (name in known or not known) and re.fullmatch(r"[\w.][\w.\-]*", name) for name in arguments
    )
    words = [_word(known.get(name), name, value) for name, value in arguments.items()]
    return shlex.join(["toolsight", "call", tool.id, *(words if is_plain else [compact(arguments)]), *source])


def _word(field: SchemaField | None, name: str, value: object) -> str:
    is_text = isinstance(value, str) and not value.startswith("@") and _is_text(field, value)
    return f"{name}={value}" if is_text else f"{name}:={compact(value)}"


def json_rpc(tool: Tool, arguments: JsonObject, meta: JsonObject | None = None) -> str:
    """The call as the JSON-RPC request that a server gets, with `meta` as its `_meta`."""
    extra: JsonObject = {"_meta": meta} if meta else {}
    task: JsonObject = {"task": {}} if tool.task_support == "required" else {}
    params = {"name": tool.name, "arguments": arguments, **task, **extra}
    return compact({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


def curl(tool: Tool, arguments: JsonObject, spec: ServerSpec, protocol: str) -> str:
    """The call as `curl` commands for a shell. Raises ConfigError for a server that has no address.

    The values of the configuration's headers, and a token for OAuth, are left to variables. Up to 2025-11-25
    a session has to be opened first (MCP, Transports); later every request stands alone and says what it
    calls.
    """
    if not spec.is_http:
        hint = "Use --print json-rpc for a server that is a command."
        raise ConfigError(f"{spec.name} has no address for curl", hint=hint)
    named = [name for name in spec.headers if _TOKEN.fullmatch(name)]
    headers = [f'-H "{name}: ${_UNFIT.sub("_", name).upper()}"' for name in named]
    usual = ["Content-Type: application/json", "Accept: application/json, text/event-stream"]
    if spec.oauth != OAuthClient() and "authorization" not in map(str.lower, named):
        headers.append('-H "Authorization: Bearer $ACCESS_TOKEN"')
    start = " ".join(["curl -sS", _address(spec), *_headers(usual), *headers])
    client = {"name": "curl", "version": "1"}
    if protocol >= Era.MODERN.value:
        own = "io.modelcontextprotocol"
        meta = {f"{own}/protocolVersion": protocol, f"{own}/clientInfo": client}
        body = json_rpc(tool, arguments, {**meta, f"{own}/clientCapabilities": {}})
        lines = [
            f"mcp-protocol-version: {protocol}",
            "mcp-method: tools/call",
            f"mcp-name: {_encoded(tool.name)}",
            *_parameters(tool.input_schema, arguments),
        ]
        return f"{start} {' '.join(_headers(lines))} -d {shlex.quote(body)}"
    opening = {"protocolVersion": protocol, "capabilities": {}, "clientInfo": client}
    first = compact({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": opening})
    ready = compact({"jsonrpc": "2.0", "method": "notifications/initialized"})
    later = f"{start} {_headers([f'mcp-protocol-version: {protocol}'])[0]}"
    later += ' ${session:+-H "mcp-session-id: $session"}'
    found = """awk 'tolower($1) == "mcp-session-id:" {print $2}'"""
    return "\n".join(
        [
            f"session=$({start} -D - -o /dev/null -d {shlex.quote(first)} | tr -d '\\r' | {found})",
            f"{later} -d {shlex.quote(ready)}",
            f"{later} -d {shlex.quote(json_rpc(tool, arguments))}",
        ]
    )


def _headers(lines: Sequence[str]) -> list[str]:
    return [f"-H {shlex.quote(line)}" for line in lines]


def _address(spec: ServerSpec) -> str:
    """The address as a word for a shell, where the configuration's variables stay variables."""
    if spec.shown_url == spec.url:
        return shlex.quote(spec.url)
    parts = _VARIABLE.split(spec.shown_url)
    words = (f'"${{{part}}}"' if place % 2 else shlex.quote(part) for place, part in enumerate(parts) if part)
    return "".join(words)


def _parameters(schema: JsonObject, arguments: JsonObject) -> Iterator[str]:
    """The headers that repeat arguments (MCP 2026-07-28, Transports: `x-mcp-header`)."""
    properties = schema.get("properties")
    for name, part in properties.items() if isinstance(properties, Mapping) else ():
        value, token = arguments.get(name), part.get("x-mcp-header") if isinstance(part, Mapping) else None
        if isinstance(value, Mapping) and isinstance(part, Mapping):
            yield from _parameters(part, value)
        elif isinstance(value, str | int | float) and isinstance(token, str) and _TOKEN.fullmatch(token):
            text = value if isinstance(value, str) else compact(value)
            yield f"Mcp-Param-{token}: {_encoded(text)}"


def _encoded(text: str) -> str:
    """A text as a header's value: one that is not plain ASCII is encoded (MCP 2026-07-28, Transports)."""
    if text.isascii() and text.isprintable() and text == text.strip() and not _ENCODED.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'surrogatepass')).decode()}?="


def written(
    form: str, tool: Tool, arguments: JsonObject, spec: ServerSpec, protocol: str, source: Sequence[str]
) -> str:
    """The call in one of `CALL_FORMS`. Raises ConfigError for `curl` and a server without an address."""
    if form == "line":
        return command_line(tool, arguments, source)
    return json_rpc(tool, arguments) if form == "json-rpc" else curl(tool, arguments, spec, protocol)
