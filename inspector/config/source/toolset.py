"""Turns one entry of `tool_sets` into a Toolset."""

from pathlib import Path
from typing import Any

from inspector.config.problem import dotted, meant, validated
from inspector.config.source.expansion import Form
from inspector.config.source.model import RuleModel, ToolsetModel
from inspector.core.access import ServerRule, Toolset
from inspector.core.error import ConfigError


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
