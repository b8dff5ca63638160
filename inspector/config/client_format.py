"""Clients' files of servers, each in its client's own format, as the entries of `mcpServers` that we read.

Of an entry it knows the keys that its client reads, and the values that it refuses.

docs/configuration.md names the clients, their keys, and the versions in which those were looked up.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from inspector.config.file import MEGABYTE, load_object, read_text
from inspector.config.text_edit import parsed
from inspector.core.access import ServerRule
from inspector.core.error import ConfigError
from inspector.core.secret_value import looks_secret
from inspector.core.server import ServerSpec
from inspector.core.text import closest, one_line, shortened
from inspector.schema.json_value import as_list, as_object
from inspector.schema.reading import names

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


def load_file(path: Path) -> dict[str, Any]:
    """The object in a client's file or in ours: JSON with comments, TOML or YAML. Raises ConfigError."""
    if path.suffix not in OTHER_FORMATS:
        return load_object(path)
    # A parser of YAML takes seconds for each megabyte.
    text = read_text(path, "configuration", limit=MEGABYTE)
    try:
        return {str(key): value for key, value in as_object(parsed(text, path.suffix)).items()}
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
        # opencode puts in nothing for a variable that is not set.
        kept = with_texts(kept, lambda text: _OPENCODE_VARIABLE.sub(r"${\1:-}", text))
    return kept


def _split(entry: dict[str, Any]) -> None:
    """A command line in one list becomes `command` and `args`."""
    command = entry.get("command")
    if isinstance(command, list) and command:
        entry["command"], entry["args"] = command[0], [*command[1:], *as_list(entry.get("args"))]


def _refer(entry: dict[str, Any]) -> None:
    """Variables and headers that a client takes from its own environment become references to it."""
    names = [name.get("name") if isinstance(name, dict) else name for name in as_list(entry.get("env_vars"))]
    given = {name: f"${{{name}:-}}" for name in names if isinstance(name, str)}
    given |= {name: f"${{{name}}}" for name in as_list(entry.get("env_keys")) if isinstance(name, str)}
    if given:
        entry["env"] = {**given, **as_object(entry.get("env"))}
    sent = {name: f"${{{own}:-}}" for name, own in as_object(entry.get("env_http_headers")).items()}
    if isinstance(bearer := entry.get("bearer_token_env_var"), str):
        sent["Authorization"] = f"Bearer ${{{bearer}}}"
    if sent:
        entry["headers"] = {**as_object(entry.get("headers")), **sent}


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """The value with every text in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [with_texts(item, change) for item in value]
    return (
        {key: with_texts(item, change) for key, item in value.items()} if isinstance(value, dict) else value
    )


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
    return frozenset(name.partition("(")[0] for name in names(value)) or None


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


_LIKE = {"environment": "env", "arguments": "args", "cmd": "command", "uri": "url", "envs": "env"}
_NEAR, _LONGEST_KEY, _MOST_UNKNOWN = 0.8, 40, 10


class EntryForm(Struct, frozen=True):
    """What a client reads of a server's entry; entry_forms.toml explains the fields."""

    keys: frozenset[str]
    fault: str = ""
    instead: Mapping[str, str] = field(default_factory=dict)
    types: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()
    joined: bool = False


def _forms() -> Iterator[tuple[str, EntryForm]]:
    text = (Path(__file__).parent / "entry_forms.toml").read_text(encoding="utf-8")
    for name, form in tomllib.loads(text).items():
        yield name, EntryForm(**{**form, "keys": frozenset(form["keys"].split())})


FORMS = dict(_forms())
_OTHERS = FORMS.pop("any other")
# Toolsight's own format has them too, and of them only `RULES` and those that turn a server off count.
CLIENT_KEYS = RULES.union(URLS, _OTHERS.keys, FORMS["Claude Code"].keys, FORMS["Gemini CLI"].keys)
# Whose file it is that keeps its servers there.
_OWNERS = {"mcp": "opencode", "mcp_servers": "Codex"}


def owner_of(section: str, client: str = "") -> str:
    """The client in `FORMS` whose entries a section has, if `client` does not say so; "" for any other."""
    named = client or _OWNERS.get(section, "")
    return named if named in FORMS else ""


def read_keys(client: str, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a client reads of an entry; all of it if nobody has seen what it does."""
    form = FORMS.get(client)
    return entry if form is None else {key: value for key, value in entry.items() if key in form.keys}


class EntryFault(Struct, frozen=True):
    """What is wrong with an entry at a key, and what to write; `near` is the key that may be meant."""

    key: str
    text: str
    hint: str
    near: str = ""


def entry_faults(client: str, entry: Mapping[str, Any], known: Iterable[str]) -> Iterator[EntryFault]:
    """The keys that nobody reads, the first ten of them, and the values that the client refuses."""
    form = FORMS.get(client)
    if form is not None:
        yield from _refused(client, form, entry)
    names = sorted(form.keys if form is not None else CLIENT_KEYS.union(known))
    odd = (key for key in entry if key not in names and not key.startswith(("_", "$", "//")))
    for key in islice(odd, _MOST_UNKNOWN):
        nearest = closest(key[:_LONGEST_KEY], names, limit=1, cutoff=_NEAR)
        like = (form.instead.get(key, "") if form is not None else "") or _LIKE.get(key, "")
        near = like if like in names else next(iter(nearest), "")
        hint = f"Did you mean `{near}`?" if near else f"{client or 'Its client'} ignores it."
        yield EntryFault(key, f"has the unknown key `{shortened(one_line(key), _LONGEST_KEY)}`", hint, near)


def _refused(client: str, form: EntryForm, entry: Mapping[str, Any]) -> Iterator[EntryFault]:
    """The values for which the client has no server."""

    def fault(key: str, told: str, hint: str) -> EntryFault:
        return EntryFault(key, f"{told}: {client} {form.fault}", hint)

    command, kind = entry.get("command"), entry.get("type")
    if command is not None and isinstance(command, list) != form.joined:
        what, hint = ("one text", "a list with each word") if form.joined else ("a list", "the program alone")
        yield fault("command", f"has {what} as `command`", f"Write {hint}.")
    is_needed = kind is not None or any(key in entry for key in form.typed)
    if form.types and kind not in form.types and is_needed:
        meant = form.types[1] if "url" in entry else form.types[0]
        yield fault("type", "has no `type`" if kind is None else "has another `type`", f'Write "{meant}".')
    for key in ("env", "environment", "headers", "http_headers"):
        wrong = [name for name, value in as_object(entry.get(key)).items() if not isinstance(value, str)]
        if wrong and key in form.keys:
            name = shortened(one_line(str(wrong[0])), _LONGEST_KEY)
            yield fault(key, f"has `{key}.{name}` without quotes", "Put its value in quotes.")
