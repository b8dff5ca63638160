"""Reads configuration files, Toolsight's own and those of MCP clients, or what a person typed instead."""

import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec.structs import replace

from inspector.config.client_format import (
    SECTIONS,
    folders_with_servers,
    load_file,
    local_servers,
    servers_in,
)
from inspector.config.configuration import Configuration, target, without_secrets
from inspector.config.file import RUNNERS, dotted, is_address, is_file, is_server, load_value
from inspector.config.format import (
    DISCOVERY,
    FileModel,
    Form,
    RuleModel,
    ServerModel,
    ToolsetModel,
    normalised,
)
from inspector.config.problem import meant, validated
from inspector.config.profile import DEFAULT_PROFILE, PROFILES
from inspector.config.server_entry import ServerReader
from inspector.config.setting import anchored, find_knob
from inspector.core.access import ServerRule, Toolset
from inspector.core.error import ConfigError, MissingValue, SettingProblem
from inspector.core.package_run import own_name
from inspector.core.redaction import SECRETS, learn_environment
from inspector.core.server import ServerSpec
from inspector.core.settings import DiscoverySettings, Settings
from inspector.core.text import closest


def read_profile(path: Path, name: str | None) -> str:
    """The name of a known profile. Raises ConfigError, with the nearest name as its hint."""
    if name is not None and name not in PROFILES:
        hint = meant(name, tuple(PROFILES))
        raise ConfigError(f"{path}: profile '{name}' does not exist", hint=hint)
    return name or DEFAULT_PROFILE


def read_settings(path: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The checked values by setting path; the files they name are absolute. Raises ConfigError."""
    checked: dict[str, Any] = {}
    for where, knob_path, value in _pairs(settings):
        if knob_path in checked:
            raise ConfigError(f"{path}: {where} appears twice", hint="Keep one of them.")
        checked[knob_path] = _checked(path, where, knob_path, value)
    return checked


def _pairs(settings: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """For each value: where it is in the file, the path of its setting, and the value."""
    for key, entry in settings.items():
        if "." not in key and isinstance(entry, Mapping):
            yield from ((f"settings.{key}.{name}", f"{key}.{name}", value) for name, value in entry.items())
        else:
            yield f"settings.{key}", key, entry


def _checked(path: Path, where: str, knob_path: str, value: Any) -> Any:
    try:
        checked = find_knob(knob_path).check(value)
    except ConfigError as error:
        known = error.message.removeprefix(f"{knob_path} ")
        message = f"{where} {known}" if known != error.message else f"{where} is not a setting"
        raise ConfigError(f"{path}: {message}", hint=error.hint) from error
    return anchored(path.absolute().parent, knob_path, checked)


def toolset(path: Path, form: Form, name: str, entry: ToolsetModel) -> Toolset:
    """The toolset, with a rule for each server it names. Raises ConfigError."""
    rules = {server: _rule(path, form, name, server, rule) for server, rule in entry.servers.items()}
    pinned = None if entry.always_include is None else tuple(entry.always_include)
    return Toolset(name, entry.description, rules, pinned)


def _rule(path: Path, form: Form, toolset_name: str, server: str, rule: Any) -> ServerRule:
    loc = ("tool_sets", toolset_name, "servers", server)
    where = ".".join(dotted("", step) for step in loc)
    if server not in form.all_names:
        hint = meant(server, form.all_names)
        raise ConfigError(f"{path}: {where} is not a configured server", hint=hint)
    if rule is True:
        return ServerRule()
    if not isinstance(rule, dict):
        hint = "To permit none of a server's tools, leave the server out of the toolset."
        message = 'must be true, { "include": […] } or { "exclude": […] }'
        raise ConfigError(f"{path}: {where} {message}", hint=hint)
    model = validated(RuleModel, rule, str(path), at=loc)
    if (model.include is None) == (model.exclude is None):
        hint = "Write true to permit every tool of the server."
        raise ConfigError(f"{path}: {where} must have either include or exclude", hint=hint)
    include = None if model.include is None else frozenset(model.include)
    return ServerRule(include, frozenset(model.exclude or ()))


_NOTHING: Mapping[str, str] = {}
_FOLDERS = 3
REQUESTS = "toolsight.requests"
"""The name of the file of requests that servers should find tools for."""


def read(
    path: Path,
    data: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str],
    variables: Mapping[str, str] = _NOTHING,
    inputs: Mapping[str, str] = _NOTHING,
    may_be_empty: bool = False,
    client: str = "",
) -> Configuration:
    """Read a configuration in Toolsight's own format or any MCP client's. Raises ConfigError.

    `data` is the file's parsed content, or a part of it, and `client` whose file it is, if that is known.
    `variables` take precedence over the `environment`; `inputs` are the values for VS Code's `${input:id}`.
    If a file does not mention discovery, it is enabled with every server deferred, so that there is something
    to see. `cwd` is relative to the file; without it a server starts in Toolsight's working directory. No
    servers are an error, unless it `may_be_empty`.
    """
    data = local_servers(load_file(path), Path.cwd()) if data is None else data
    form = normalised(data, client)
    model = _model(path, form)
    discovery = _discovery(path, model)
    if not may_be_empty:
        _require_servers(path, form, model, folders_with_servers(data))
    reader = ServerReader(path, form, environment, variables, inputs)
    return Configuration(
        source=str(path),
        servers=tuple(_spec(reader, name, entry) for name, entry in model.mcpServers.items()),
        toolsets={name: toolset(path, form, name, entry) for name, entry in model.tool_sets.items()},
        settings=Settings(discovery=discovery),
        profile=read_profile(path, model.profile),
        values=read_settings(path, model.settings),
        disabled=tuple(name for name in form.all_names if name not in model.mcpServers),
        problems=tuple(entry_problems(form)),
    )


def entry_problems(form: Form) -> Iterator[SettingProblem]:
    """What is wrong with servers' entries: keys that their client throws away, values that it refuses."""
    for server, faults in form.faults.items():
        for one in faults:
            yield SettingProblem(dotted(form.section, server), "", one.text, one.hint, server=server)


def servers(
    path: Path,
    data: Mapping[str, Any],
    *,
    environment: Mapping[str, str],
    inputs: Mapping[str, str],
    client: str = "",
) -> dict[str, ServerSpec | ConfigError]:
    """Each enabled server by name, or why it cannot be read: a bad one does not affect the others.

    Raises ConfigError if there are no servers or they are not an object.
    """
    form = normalised(data, client)
    entries = form.data["mcpServers"]
    if not isinstance(entries, dict) or not entries:
        _require_servers(path, form, _model(path, replace(form, data={"mcpServers": entries})))
    reader = ServerReader(path, form, environment, _NOTHING, inputs)
    by_name: dict[str, ServerSpec | ConfigError] = {}
    for name, entry in entries.items():
        try:
            model = _model(path, replace(form, data={"mcpServers": {name: entry}}))
            by_name[name] = _spec(reader, name, model.mcpServers[name])
        except ConfigError as error:
            by_name[name] = error
    return by_name


def _spec(reader: ServerReader, name: str, entry: ServerModel) -> ServerSpec:
    """The server, or one that only says which value it lacks: the others start without it."""
    try:
        return reader.spec(name, entry)
    except MissingValue as error:
        return ServerSpec(
            name,
            command=entry.command,
            url=entry.url,
            defer_loading=entry.defer_loading,
            tags=tuple(entry.tags),
            lacks=error.name,
            advice=f"{error.message}. {error.hint}",
        )


def _model(path: Path, form: Form) -> FileModel:
    return validated(FileModel, form.data, str(path), names={SECTIONS[0]: form.section})


def _require_servers(path: Path, form: Form, model: FileModel, folders: Sequence[str] = ()) -> None:
    if model.mcpServers:
        return
    if form.all_names:
        raise ConfigError(f"{path}: every server is disabled", hint="Remove `disabled` from one of them.")
    if folders:
        hint = f"Go to a folder that it has servers for: {', '.join(folders[:_FOLDERS])}."
        raise ConfigError(f"{path} has no servers for {Path.cwd()}", hint=hint)
    near = [key for key in form.ignored if closest(key, SECTIONS)]
    hint = f"Did you mean `mcpServers` instead of `{near[0]}`?" if near else "Servers go in `mcpServers`."
    raise ConfigError(f"{path} has no servers", hint=hint)


def _discovery(path: Path, model: FileModel) -> DiscoverySettings:
    if model.tool_discovery is not None:
        section = validated(DISCOVERY, model.tool_discovery, str(path), at=("tool_discovery",))
        given = section.model_dump(exclude_none=True)
        lists = {key: tuple(value) for key, value in given.items() if isinstance(value, list)}
        files = anchored(path.absolute().parent, "discovery.evaluation", lists.get("evaluation", ()))
        return DiscoverySettings(**given | lists | {"evaluation": files})
    says_which = any("defer_loading" in server.model_fields_set for server in model.mcpServers.values())
    return DiscoverySettings(enabled=True, defer_all=not says_which)


# Stands for a word with a secret: an option's value, which names nothing.
_HIDDEN = "-"
_UNFIT = re.compile(r"[^\w.-]+")


def requests_beside(servers: Sequence[ServerSpec]) -> Path:
    """The file of requests: beside the script or the stored list of the only server, or else here.

    A new one is not put below the working folder, where a build may remove it.
    """
    here = Path.cwd()
    words = (servers[0].listing, *servers[0].argv) if len(servers) == 1 else ()
    own = [Path(word).absolute().parent for word in words if not is_address(word) and is_server(word)]
    beside = own[0] if own else here
    return (here if beside.is_relative_to(here) and not is_file(beside / REQUESTS) else beside) / REQUESTS


def typed_configuration(
    words: Sequence[str], *, environment: Mapping[str, str], inputs: Mapping[str, str] = _NOTHING
) -> Configuration:
    """The configuration that starts what the words name; who typed it has agreed to that.

    A JSON file is a stored answer to `tools/list`, or a client's configuration, for which `inputs` are the
    values of `${input:id}`. Raises ConfigError.
    """
    first = words[0]
    if len(words) == 1 and first.endswith((".json", ".jsonl")) and is_file(Path(first)):
        if _is_configuration(Path(first)):
            return read(Path(first), environment=environment, inputs=inputs)
        return _alone(ServerSpec(_name(Path(first).stem), listing=str(Path(first).absolute())))
    if len(words) == 1 and is_address(first):
        return _alone(ServerSpec(server_name(words), url=first))
    command = _command(words)
    learn_environment(environment)
    return _alone(
        ServerSpec(server_name(words), command=command[0], args=command[1:], inherits_environment=True)
    )


def server_name(words: Sequence[str]) -> str:
    """What a typed server is called: its host, script, package or command, never a word with a secret."""
    if is_address(words[0]):
        return _name(urlsplit(words[0]).hostname or "server")
    shown = zip(words[1:], without_secrets(words)[1:], strict=True)
    return _name(own_name([words[0], *(word if word == plain else _HIDDEN for word, plain in shown)]))


def _alone(spec: ServerSpec) -> Configuration:
    SECRETS.learn(spec.secrets)
    # It is recorded with every session.
    source = shlex.join(without_secrets(spec.argv)) if spec.command else target(spec)
    settings = Settings(discovery=DiscoverySettings(enabled=True, defer_all=True))
    return Configuration(source, (spec,), settings=settings, trusted=True)


def _command(words: Sequence[str]) -> tuple[str, ...]:
    """The words, with what runs a script in front of it."""
    first, *rest = words
    path = Path(first)
    is_there = is_file(path)
    runner = RUNNERS.get(path.suffix)
    if runner is not None and is_there:
        own = path.absolute().parent / ".venv" / "bin" / "python"
        return (str(own) if path.suffix == ".py" and own.exists() else runner, str(path.absolute()), *rest)
    if not is_there and shutil.which(first) is None:
        raise ConfigError(
            f"'{first}' is not a command, file or address",
            hint="Write a command that starts the server, like `toolsight -- python server.py`, or its URL.",
        )
    return (str(path.absolute()) if is_there else first, *rest)


def _name(text: str) -> str:
    return _UNFIT.sub("-", text).strip("-.") or "server"


def _is_configuration(path: Path) -> bool:
    if path.suffix == ".jsonl":
        return False
    value = load_value(path, "servers or tools", hint="It must contain a server's tools or a configuration.")
    return isinstance(value, dict) and bool(servers_in(value))
