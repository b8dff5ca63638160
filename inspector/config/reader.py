"""Reads configuration files, Toolsight's own and those of MCP clients, with an error for every fault."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from inspector.config.configuration import Configuration
from inspector.config.file import dotted, load_object
from inspector.config.format import (
    DISCOVERY,
    SECTIONS,
    SETTING_SECTIONS,
    FileModel,
    Form,
    RuleModel,
    ServerModel,
    ToolsetModel,
    normalised,
)
from inspector.config.problem import meant, validated
from inspector.config.server_entry import ServerReader
from inspector.config.setting import DEFAULT_PROFILE, PROFILES, anchored, find_knob, knobs
from inspector.core.access import ServerRule, Toolset
from inspector.core.error import ConfigError, MissingValue
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
    for where, knob_path, value in _pairs(path, settings):
        if knob_path in checked:
            raise ConfigError(f"{path}: {where} appears twice", hint="Keep one of them.")
        checked[knob_path] = _checked(path, where, knob_path, value)
    return checked


def _pairs(path: Path, settings: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """For each value: where it is in the file, the path of its setting, and the value."""
    for key, entry in settings.items():
        where = dotted("settings", key) if "." not in key else f"settings.{key}"
        if "." in key:
            yield where, key, entry
        elif not isinstance(entry, Mapping):
            _refuse_entry(path, where, key)
        elif key not in SETTING_SECTIONS and not entry:
            hint = meant(key, SETTING_SECTIONS)
            raise ConfigError(f"{path}: {where} is not a settings section", hint=hint)
        else:
            yield from ((f"{where}.{name}", f"{key}.{name}", value) for name, value in entry.items())


def _refuse_entry(path: Path, where: str, key: str) -> NoReturn:
    if key in SETTING_SECTIONS:
        hint = f"Put its settings in braces, or write them as `{key}.…`."
        raise ConfigError(f"{path}: {where} must be an object", hint=hint)
    full = [knob.path for knob in knobs() if knob.path.endswith(f".{key}")]
    hint = f"Did you mean `{full[0]}`?" if full else meant(key, SETTING_SECTIONS)
    raise ConfigError(f"{path}: {where} is not a settings section", hint=hint)


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


def read(
    path: Path,
    data: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str],
    variables: Mapping[str, str] = _NOTHING,
    inputs: Mapping[str, str] = _NOTHING,
    may_be_empty: bool = False,
) -> Configuration:
    """Read a configuration in Toolsight's own format or any MCP client's. Raises ConfigError.

    `data` is the file's parsed content, or a part of it. `variables` take precedence over the `environment`;
    `inputs` are the values for VS Code's `${input:id}`. If a file does not mention discovery, it is enabled
    with every server deferred, so that there is something to see. `cwd` is relative to the file; without it a
    server starts in Toolsight's working directory. No servers are an error, unless it `may_be_empty`.
    """
    data = load_object(path) if data is None else data
    form = normalised(data)
    model = _model(path, form)
    discovery = _discovery(path, model)
    if not may_be_empty:
        _require_servers(path, form, model)
    reader = ServerReader(path, form, environment, variables, inputs)
    return Configuration(
        source=str(path),
        servers=tuple(_spec(reader, name, entry) for name, entry in model.mcpServers.items()),
        toolsets={name: toolset(path, form, name, entry) for name, entry in model.tool_sets.items()},
        settings=Settings(discovery=discovery),
        profile=read_profile(path, model.profile),
        values=read_settings(path, model.settings),
        disabled=tuple(name for name in form.all_names if name not in model.mcpServers),
    )


def servers(
    path: Path, data: Mapping[str, Any], *, environment: Mapping[str, str], inputs: Mapping[str, str]
) -> dict[str, ServerSpec | ConfigError]:
    """Each enabled server by name, or why it cannot be read: a bad one does not affect the others.

    Raises ConfigError if there are no servers or they are not an object.
    """
    form = normalised(data)
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


def _require_servers(path: Path, form: Form, model: FileModel) -> None:
    if model.mcpServers:
        return
    if form.all_names:
        raise ConfigError(f"{path}: every server is disabled", hint="Remove `disabled` from one of them.")
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
