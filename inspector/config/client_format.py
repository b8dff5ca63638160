"""Clients' files of servers, each in its client's own format, as the entries of `mcpServers` that we read.

docs/configuration.md names the clients, their keys, and the versions in which those were looked up.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from inspector.config.file import MEGABYTE, load_object, read_text
from inspector.config.text_edit import parsed
from inspector.core.access import ServerRule
from inspector.core.error import ConfigError
from inspector.core.secret_value import looks_secret
from inspector.core.server import ServerSpec
from inspector.schema.json_value import as_object

SECTIONS = ("mcpServers", "servers")
# Zed's, Codex's and Vibe's, Goose's; VS Code's user settings keep all below `mcp`, opencode the servers.
PLACES = (
    *((name,) for name in (*SECTIONS, "context_servers", "mcp_servers", "extensions")),
    *(("mcp", name) for name in SECTIONS),
    ("mcp",),
)
"""The keys that may lead to the servers of a file, the most certain first."""
OTHER_FORMATS = (".toml", ".yaml", ".yml")

# Goose has the last one of each of the first two.
URLS = ("url", "httpUrl", "serverUrl", "uri")
"""What clients call a server's address."""
COMMANDS = ("command", "cmd")
"""What clients call a server's program."""
_VARIABLES, _HEADERS = ("env", "envs", "environment"), ("headers", "http_headers")
_NAMES_OF_VARIABLES = ("env_keys", "env_vars")
_PUT_IN = re.compile(r"\$\{(?:env:)?([A-Za-z_]\w*)(?:\}|:-)")


_TIMEOUTS = {"startup_timeout_sec": "connect_timeout", "tool_timeout_sec": "call_timeout"}
# What a client calls a key of ours, by the section that is its own.
_KEYS: Mapping[str, Mapping[str, str]] = {
    "mcp": {"environment": "env"},
    "mcp_servers": {"http_headers": "headers", **_TIMEOUTS},
    "mcp_servers[]": _TIMEOUTS,
    "extensions": {"cmd": "command", "envs": "env", "uri": "url", "timeout": "call_timeout"},
}
_TYPES = {
    "local": "stdio",
    "remote": "http",
    **dict.fromkeys(("streamableHttp", "streamable_http", "http-stream", "streamable-http"), "http"),
}
_TRANSPORTS = {"stdio", "http", "sse", *_TYPES}
# Goose's extensions that are parts of Goose itself.
_INNER = ("builtin", "platform", "frontend", "inline_python")
_INCLUDED = ("includeTools", "enabledTools", "enabled_tools", "available_tools", "tools")
_EXCLUDED = ("excludeTools", "disabledTools", "disabled_tools")
RULES = frozenset({*_INCLUDED, *_EXCLUDED})
_OPENCODE_VARIABLE = re.compile(r"\{env:([A-Za-z_]\w*)\}")


def load_file(path: Path, suffix: str = "") -> dict[str, Any]:
    """The object in a client's file or in ours: JSON with comments, TOML or YAML. Raises ConfigError.

    `suffix` is that of a copy under another name.
    """
    suffix = suffix or path.suffix
    if suffix not in OTHER_FORMATS:
        return load_object(path)
    # A parser of YAML takes seconds for each megabyte.
    text = read_text(path, "configuration", limit=MEGABYTE)
    try:
        return {str(key): value for key, value in as_object(parsed(text, suffix)).items()}
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", hint="Correct it first.") from error


def place_of(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys that lead to the servers of a file; those of `mcpServers` if it has none."""
    plain = (place for place in PLACES if place[-1] in SECTIONS and place[-1] in _above(data, place))
    entries = ((place, named(_above(data, place).get(place[-1])).values()) for place in PLACES)
    other = (place for place, found in entries if any(map(_is_entry, found)))
    return next(plain, None) or next(other, PLACES[0])


def servers_in(data: Mapping[str, Any]) -> Any:
    """What a file has where its servers are."""
    place = place_of(data)
    return _above(data, place).get(place[-1])


def _above(data: Mapping[str, Any], place: tuple[str, ...]) -> Mapping[str, Any]:
    return data if len(place) == 1 else as_object(data.get(place[0]))


def _is_entry(entry: object) -> bool:
    return isinstance(entry, Mapping) and any(key in entry for key in (*COMMANDS, *URLS))


def named(section: object) -> dict[str, Any]:
    """The entries of a section by name, also of a list, as Continue and Vibe write it; else none."""
    if isinstance(section, list):
        return {str(one["name"]): one for one in section if isinstance(one, dict) and "name" in one}
    return {str(name): entry for name, entry in section.items()} if isinstance(section, dict) else {}


def local_servers(data: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """Claude Code's file with the servers that it has for a folder; they win over those for every folder."""
    own = as_object(as_object(as_object(data.get("projects")).get(str(folder))).get(SECTIONS[0]))
    return {**data, SECTIONS[0]: {**as_object(data.get(SECTIONS[0])), **own}} if own else data


def folders_with_servers(data: Mapping[str, Any]) -> list[str]:
    """The folders for which Claude Code's file has servers."""
    projects = as_object(data.get("projects"))
    return [folder for folder, one in projects.items() if as_object(as_object(one).get(SECTIONS[0]))]


def is_inner(section: str, entry: Any) -> bool:
    """Whether an entry is a part of the client itself, or changes a server that is elsewhere."""
    if section in SECTIONS or not isinstance(entry, dict) or _is_entry(entry):
        return False
    return entry.get("type") in _INNER or "settings" in entry or set(entry) <= {"enabled"}


def translated(section: str, entry: dict[str, Any]) -> dict[str, Any]:
    """A client's entry with our keys; those that are not known stay."""
    nested = entry.get("transport")
    if isinstance(nested, dict):  # Cline's CLI writes it so.
        entry = {**{key: value for key, value in entry.items() if key != "transport"}, **nested}
    keys = _KEYS.get(section, {})
    kept = {keys.get(key, key): value for key, value in entry.items()}
    if "type" not in kept and isinstance(nested, str) and nested in _TRANSPORTS:
        kept["type"] = nested
    if isinstance(kept.get("type"), str):
        kept["type"] = _TYPES.get(kept["type"], kept["type"])
    if section not in SECTIONS:
        _split(kept)
        _refer(kept)
    if section == "mcp":
        kept = _expandable(kept)
    return kept


def _split(entry: dict[str, Any]) -> None:
    """A command line in one list becomes `command` and `args`."""
    command = entry.get("command")
    if isinstance(command, list) and command:
        entry["command"], entry["args"] = command[0], [*command[1:], *_items(entry.get("args"))]


def _refer(entry: dict[str, Any]) -> None:
    """Variables and headers that a client takes from its own environment become references to it."""
    names = [name.get("name") if isinstance(name, dict) else name for name in _items(entry.get("env_vars"))]
    given = {name: f"${{{name}:-}}" for name in names if isinstance(name, str)}
    given |= {name: f"${{{name}}}" for name in _items(entry.get("env_keys")) if isinstance(name, str)}
    if given:
        entry["env"] = {**given, **as_object(entry.get("env"))}
    sent = {name: f"${{{own}:-}}" for name, own in as_object(entry.get("env_http_headers")).items()}
    if isinstance(bearer := entry.get("bearer_token_env_var"), str):
        sent["Authorization"] = f"Bearer ${{{bearer}}}"
    if sent:
        entry["headers"] = {**as_object(entry.get("headers")), **sent}


def _items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _expandable(value: Any) -> Any:
    """opencode's `{env:VAR}` as `${VAR}`; it puts in nothing for one that is not set."""
    if isinstance(value, str):
        return _OPENCODE_VARIABLE.sub(r"${\1:-}", value)
    if isinstance(value, list):
        return [_expandable(item) for item in value]
    return {key: _expandable(item) for key, item in value.items()} if isinstance(value, dict) else value


def rule_of(entry: Mapping[str, Any]) -> ServerRule:
    """Which of a server's tools a client gives to its model. Gemini CLI may write `tool(arguments)`."""
    included = [names for key in _INCLUDED if (names := _tools(entry.get(key))) and "*" not in names]
    excluded = [_tools(entry.get(key)) or () for key in _EXCLUDED]
    include = included[0] if included else None
    if include is None and any(entry.get(key) == [] for key in _INCLUDED if key != "available_tools"):
        include = frozenset()
    return ServerRule(include, frozenset().union(*excluded))


def _tools(value: object) -> frozenset[str] | None:
    """The names in a list; None if it is none, or a list of something else."""
    names = [name for name in _items(value) if isinstance(name, str)]
    return frozenset(name.partition("(")[0] for name in names) or None


# Entries as any client's file has them, before they are checked.


def passed_names(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The variables and headers that a client passes to the entry's server or puts in, by name."""
    listed = (entry.get(key) for key in _NAMES_OF_VARIABLES)
    names = (name for names in listed if isinstance(names, list) for name in names if isinstance(name, str))
    put_in = _PUT_IN.findall(" ".join(_words(entry)))
    return tuple(dict.fromkeys((*_texts(entry, _VARIABLES), *_texts(entry, _HEADERS), *names, *put_in)))


def written_secrets(data: Any) -> dict[str, str]:
    """What a file passes to any server, also to one that is disabled, as `ServerSpec.secrets`.

    References to variables are left out.
    """
    return {
        name: value
        for server, entry in _entries(data)
        for name, value in _spec(server, entry).secrets.items()
        if "${" not in value
    }


def _entries(data: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every entry of a server with its name, wherever in the file it stands."""
    waiting = [("", data)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, Mapping):
            if any(key in value for key in (*COMMANDS, *URLS)):
                yield name, value
            waiting += ((str(key), one) for key, one in value.items())
        elif isinstance(value, list):
            waiting += ((name, one) for one in value)


def _spec(name: str, entry: Mapping[str, Any]) -> ServerSpec:
    words, oauth = _words(entry), _texts(entry, ("oauth",))
    return ServerSpec(
        name,
        command="".join(words[:1]),
        args=tuple(words[1:]),
        env=_texts(entry, _VARIABLES),
        url=next((url for key in URLS if isinstance(url := entry.get(key), str)), ""),
        headers=_texts(entry, _HEADERS),
        concealed={key: text for key, text in oauth.items() if key == "assertion" or looks_secret(key)},
    )


def _words(entry: Mapping[str, Any]) -> list[str]:
    """The command line; opencode has all of it in one list."""
    words: list[str] = []
    for key in (*COMMANDS, "args"):
        given = entry.get(key, [])
        words += map(str, given if isinstance(given, list) else [given])
    return words


def _texts(entry: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, str]:
    """The texts by name in the objects that an entry has under these keys."""
    found = (entry.get(key) for key in keys)
    pairs = (pair for one in found if isinstance(one, Mapping) for pair in one.items())
    return {str(name): text for name, text in pairs if isinstance(text, str)}
