"""Reads a file into a Configuration: checked and expanded, with an error for every fault."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from inspector.config.configuration import Configuration
from inspector.config.json_text import load_object
from inspector.config.problem import validated
from inspector.config.source import setting
from inspector.config.source.expansion import SECTIONS, Form, Scope, normalised
from inspector.config.source.model import FileModel, ServerModel
from inspector.config.source.server import ServerReader
from inspector.config.source.toolset import toolset
from inspector.core.closest import closest
from inspector.core.error import ConfigError, MissingValue
from inspector.core.server import ServerSpec
from inspector.core.settings import DiscoverySettings, Settings

_NOTHING: Mapping[str, str] = {}


def read(
    path: Path,
    *,
    environment: Mapping[str, str],
    variables: Mapping[str, str] = _NOTHING,
    inputs: Mapping[str, str] = _NOTHING,
    may_be_empty: bool = False,
) -> Configuration:
    """Read a configuration in Toolsight's own format or any MCP client's. Raises ConfigError.

    `variables` take precedence over the `environment`; `inputs` are the values for VS Code's `${input:id}`.
    If a file does not mention discovery, it is enabled with every server deferred, so that there is something
    to see. `cwd` is relative to the file; without it a server starts in Toolsight's working directory.
    """
    return configured(
        path,
        load_object(path),
        environment=environment,
        variables=variables,
        inputs=inputs,
        may_be_empty=may_be_empty,
    )


def configured(
    path: Path,
    data: Mapping[str, Any],
    *,
    environment: Mapping[str, str],
    variables: Mapping[str, str] = _NOTHING,
    inputs: Mapping[str, str] = _NOTHING,
    may_be_empty: bool = False,
) -> Configuration:
    """The configuration in a file's parsed content, or in a part of it. Raises ConfigError.

    Without servers it is an error, unless it `may_be_empty`.
    """
    form = normalised(data)
    model = _model(path, form)
    if not may_be_empty:
        _require_servers(path, form, model)
    reader = ServerReader(path, form, _scope(path, form, environment, variables, inputs))
    return Configuration(
        source=str(path),
        servers=tuple(_spec(reader, name, entry) for name, entry in model.mcpServers.items()),
        toolsets={name: toolset(path, form, name, entry) for name, entry in model.tool_sets.items()},
        settings=Settings(discovery=_discovery(path, model)),
        profile=setting.profile(path, model.profile),
        values=setting.values(path, model.settings),
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
    reader = ServerReader(path, form, _scope(path, form, environment, _NOTHING, inputs))
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


def _scope(
    path: Path,
    form: Form,
    environment: Mapping[str, str],
    variables: Mapping[str, str],
    inputs: Mapping[str, str],
) -> Scope:
    defaults = {
        name: entry["default"] for name, entry in form.inputs.items() if isinstance(entry.get("default"), str)
    }
    descriptions = {name: str(entry.get("description", "")) for name, entry in form.inputs.items()}
    hidden = frozenset(name for name, entry in form.inputs.items() if entry.get("password") is True)
    return Scope(path.absolute().parent, environment, variables, inputs, defaults, descriptions, hidden)


def _discovery(path: Path, model: FileModel) -> DiscoverySettings:
    section = model.tool_discovery
    if section is not None:
        given = {key: value for key, value in section.model_dump().items() if value is not None}
        lists = {key: tuple(value) for key, value in given.items() if isinstance(value, list)}
        files = tuple(str(path.absolute().parent / name) for name in section.evaluation or ())
        return DiscoverySettings(**given | lists | {"evaluation": files})
    says_which = any("defer_loading" in server.model_fields_set for server in model.mcpServers.values())
    return DiscoverySettings(enabled=True, defer_all=not says_which)
