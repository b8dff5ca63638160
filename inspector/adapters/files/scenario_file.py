"""Scenario files (YAML): read, checked, and every mistake told by file, entry and key."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from inspector.domain.error import ConfigError
from inspector.domain.expectation import Expectation, expectation
from inspector.domain.knob import find_knob
from inspector.domain.manifest import SEARCH_TOOLS
from inspector.domain.profile import find_profile
from inspector.domain.scenario import (
    AddedTool,
    CatalogChange,
    Preparation,
    Scenario,
    ScriptedCall,
    Step,
)
from inspector.domain.tool import wire_name

_FILE = "the file"
_ROOT_KEYS = {"title", "about", "profile", "settings", "window", "turns", "expect", "never"}
_TURN_KEYS = {"user", "wait", "milestone", "change", "steps"}

_LONGEST_WAIT = 1e9
_LARGEST_WINDOW = 1_000_000_000

Given = TypeVar("Given")
Made = TypeVar("Made")


def load_scenario(path: Path) -> Scenario:
    """Read a scenario file. Raises ConfigError that names the file, the entry and the key."""
    reader = _Reader(path)
    root = reader.mapping(_parsed(path), _FILE)
    reader.known(root, _ROOT_KEYS, _FILE)
    turns = reader.filled(root, "turns", _FILE)
    places = [(raw, f"turn {number}") for number, raw in enumerate(turns, 1)]
    entries = [(_turn_entry(reader, raw, where), where) for raw, where in places]
    return Scenario(
        title=reader.text(root, "title", _FILE) or path.stem,
        about=reader.text(root, "about", _FILE),
        users=tuple(reader.required(entry, "user", where) for entry, where in entries),
        turns=tuple(_steps(reader, entry, where) for entry, where in entries),
        prepare=tuple(_preparation(reader, entry, where) for entry, where in entries),
        profile=_profile(reader, root),
        settings=_settings(reader, root),
        expect=_expectations(reader, root, "expect"),
        never=_expectations(reader, root, "never"),
        window=reader.tokens(root, "window", _FILE),
    )


def _parsed(path: Path) -> object:
    import yaml

    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (UnicodeError, ValueError, RecursionError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise ConfigError(f"{path}: not readable as YAML: {reason}") from error


def _profile(reader: "_Reader", root: Mapping[str, Any]) -> str:
    name = reader.text(root, "profile", _FILE)
    return reader.checked(find_profile, name, f"{_FILE}: profile").name if name else ""


def _settings(reader: "_Reader", root: Mapping[str, Any]) -> Mapping[str, Any]:
    given = reader.optional(root, "settings", "settings")
    knobs = {path: reader.checked(find_knob, path, "settings") for path in given}
    return {path: reader.checked(knob.check, given[path], "settings") for path, knob in knobs.items()}


def _expectations(reader: "_Reader", root: Mapping[str, Any], key: str) -> tuple[Expectation, ...]:
    found = []
    for number, raw in enumerate(reader.items(root, key, _FILE), 1):
        where = f"{key} {number}"
        entry = reader.mapping(raw, where)
        reader.sendable(entry, "an entry", where)
        found.append(reader.checked(expectation, entry, where))
    return tuple(found)


def _turn_entry(reader: "_Reader", raw: object, where: str) -> Mapping[str, Any]:
    entry = reader.mapping(raw, where)
    reader.known(entry, _TURN_KEYS, where)
    return entry


def _preparation(reader: "_Reader", entry: Mapping[str, Any], where: str) -> Preparation:
    change = reader.optional(entry, "change", f"{where}, change")
    return Preparation(
        wait=reader.seconds(entry, "wait", where),
        milestone=reader.text(entry, "milestone", where),
        change=_change(reader, change, f"{where}, change") if change else None,
    )


def _change(reader: "_Reader", entry: Mapping[str, Any], where: str) -> CatalogChange:
    reader.known(entry, {"server", "remove", "add", "describe"}, where)
    server = reader.required(entry, "server", where)
    added = enumerate(reader.items(entry, "add", where), 1)
    described = reader.optional(entry, "describe", f"{where}, describe")
    change = CatalogChange(
        server,
        remove=tuple(reader.whole_text(raw, "remove", where) for raw in reader.items(entry, "remove", where)),
        add=tuple(_added(reader, raw, f"{where}, add {number}") for number, raw in added),
        describe={
            name: reader.whole_text(text, name, f"{where}, describe") for name, text in described.items()
        },
    )
    for tool_id in (*change.remove, *(tool.id for tool in change.add), *change.describe):
        name = tool_id.removeprefix(f"{server}:")
        if not name or name == tool_id:
            raise reader.error(where, tool_id, f"is no tool of {server}; write {server}:NAME")
    return change


def _added(reader: "_Reader", raw: object, where: str) -> AddedTool:
    entry = reader.mapping(raw, where)
    reader.known(entry, {"id", "description", "answer"}, where)
    return AddedTool(
        reader.required(entry, "id", where),
        reader.text(entry, "description", where),
        reader.text(entry, "answer", where),
    )


def _steps(reader: "_Reader", turn: Mapping[str, Any], where: str) -> tuple[Step, ...]:
    steps = enumerate(reader.filled(turn, "steps", where), 1)
    return tuple(_step(reader, raw, f"{where}, step {number}") for number, raw in steps)


def _step(reader: "_Reader", raw: object, where: str) -> Step:
    entry = reader.mapping(raw, where)
    reader.known(entry, {"say", "calls", "think", "wait"}, where)
    calls = reader.items(entry, "calls", where)
    say = reader.text(entry, "say", where)
    if not say and not calls:
        raise reader.error(where, "say", "or calls has to be given")
    return Step(
        say,
        tuple(_call(reader, call, f"{where}, call {number}") for number, call in enumerate(calls, 1)),
        think=reader.text(entry, "think", where),
        wait=reader.seconds(entry, "wait", where),
    )


def _call(reader: "_Reader", raw: object, where: str) -> ScriptedCall:
    entry = reader.mapping(raw, where)
    reader.known(entry, {"tool", "arguments"}, where)
    tool = reader.required(entry, "tool", where)
    arguments = reader.optional(entry, "arguments", f"{where}, arguments")
    reader.sendable(arguments, "arguments", where)
    return ScriptedCall(_wire(tool), arguments)


def _wire(tool: str) -> str:
    server, colon, name = tool.partition(":")
    return wire_name(server, name) if colon and tool != SEARCH_TOOLS else tool


class _Reader:
    """Reads typed values out of one file and names the place of a wrong one."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def error(self, where: str, key: str, problem: str) -> ConfigError:
        return ConfigError(f"{self._path}: {where}: {key} {problem}")

    def checked(self, rule: Callable[[Given], Made], value: Given, where: str) -> Made:
        """What a rule of the domain makes of a value; its error gets the place."""
        try:
            return rule(value)
        except ConfigError as error:
            raise ConfigError(f"{self._path}: {where}: {error.message}", hint=error.hint) from error

    def mapping(self, raw: object, where: str) -> Mapping[str, Any]:
        if isinstance(raw, Mapping) and all(isinstance(key, str) for key in raw):
            return raw
        raise ConfigError(f"{self._path}: {where}: has to be a mapping with text keys")

    def optional(self, entry: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
        """The mapping at a key, empty where there is none; `where` is its own place."""
        return self.mapping({} if entry.get(key) is None else entry[key], where)

    def known(self, entry: Mapping[str, Any], keys: set[str], where: str) -> None:
        for key in entry:
            if key not in keys:
                raise self.error(where, key, f"is not known; known: {', '.join(sorted(keys))}")

    def whole_text(self, value: object, key: str, where: str) -> str:
        if isinstance(value, str):
            return value.strip()
        raise self.error(where, key, "has to be text")

    def text(self, entry: Mapping[str, Any], key: str, where: str) -> str:
        value = entry.get(key)
        return "" if value is None else self.whole_text(value, key, where)

    def required(self, entry: Mapping[str, Any], key: str, where: str) -> str:
        text = self.text(entry, key, where)
        if not text:
            raise self.error(where, key, "is missing")
        return text

    def seconds(self, entry: Mapping[str, Any], key: str, where: str) -> float:
        value = entry.get(key)
        if value is None:
            return 0.0
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LONGEST_WAIT:
            raise self.error(where, key, "has to be a number of seconds, from 0 to 1e9")
        return float(value)

    def tokens(self, entry: Mapping[str, Any], key: str, where: str) -> int:
        value = entry.get(key)
        if value is None:
            return 0
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= _LARGEST_WINDOW:
            raise self.error(where, key, "has to be a whole number of tokens, from 1 to 1e9")
        return value

    def items(self, entry: Mapping[str, Any], key: str, where: str) -> list[Any]:
        value = entry.get(key)
        if value is None:
            return []
        if isinstance(value, list):
            return value
        raise self.error(where, key, "has to be a list")

    def filled(self, entry: Mapping[str, Any], key: str, where: str) -> list[Any]:
        items = self.items(entry, key, where)
        if not items:
            raise self.error(where, key, "has to have at least one entry")
        return items

    def sendable(self, value: object, key: str, where: str) -> None:
        """YAML reads an unquoted day as a date, which no event holds and no server could be sent."""
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise self.error(where, key, f"has a value that JSON cannot hold ({error})") from error
