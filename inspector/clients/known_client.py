"""Reads  what is known of real clients from the files in `known/`, one each; read once, on use."""

import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from inspector.clients.client import (
    Client,
    Confidence,
    Fact,
    ListingRule,
    NameRule,
    SchemaRule,
    SearchRule,
    TextRule,
    Topic,
)
from inspector.core.closest import closest
from inspector.core.error import ConfigError
from inspector.core.settings import ClientCapabilities

Rule = TypeVar("Rule")
_NOTHING = ClientCapabilities(roots=False, forms=False, links=False)
NAMES = (
    "claude-code",
    "claude-desktop",
    "codex",
    "vscode",
    "cursor",
    "gemini-cli",
    "anthropic-bm25",
    "anthropic-regex",
    "openai-api",
    "none",
)
"""The known clients in display order; `none` binds everything, as a host without any rule does."""


def all_clients() -> tuple[Client, ...]:
    """Every known client."""
    return tuple(map(_read, NAMES))


def find_client(name: str) -> Client:
    """The client of that name. Raises ConfigError with the closest names for any other."""
    if name in NAMES:
        return _read(name)
    near = closest(name, NAMES) or NAMES
    raise ConfigError(f"no client '{name}'", hint=f"Choose from: {', '.join(near)}.")


@cache
def _read(name: str) -> Client:
    text = files(__package__).joinpath("known", f"{name}.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    return Client(
        name,
        data["title"],
        data["about"],
        names=_rule(NameRule, data, "names"),
        texts=_rule(TextRule, data, "texts"),
        schemas=_rule(SchemaRule, data, "schemas"),
        listing=_rule(ListingRule, data, "listing"),
        search=_rule(SearchRule, data, "search"),
        declares=replace(_NOTHING, **data["declares"]),
        follows_changes=data.get("follows_changes", False),
        facts=tuple(map(_fact, data["facts"])),
    )


def _rule(kind: type[Rule], data: Mapping[str, Any], key: str) -> Rule:
    """The rule under a key; what the file does not say is the rule's default."""
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in data[key].items()}
    return kind(**values)


def _fact(data: Mapping[str, Any]) -> Fact:
    known = {field.name for field in fields(Fact)}
    assert data.keys() <= known, data.keys() - known
    values = {**data, "topic": Topic(data["topic"]), "confidence": Confidence(data["confidence"])}
    return Fact(**values)
