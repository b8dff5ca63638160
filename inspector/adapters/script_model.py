"""A model that replays a written scenario, for demonstrations and tests. It is not an LLM and says so."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspector.domain.error import ConfigError
from inspector.domain.manifest import SEARCH_TOOLS
from inspector.domain.message import (
    AssistantMessage,
    Message,
    ModelChunk,
    ModelReply,
    ModelRequest,
    TextDelta,
    ToolCall,
    UserMessage,
)
from inspector.domain.tool import wire_name

WINDOW = 128_000
OVER = "The script is over: it has no answer to this. Start a new session to see it again."


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A call of a step. `name` is the wire name."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """One model call of the scenario: what it says and what it calls."""

    say: str = ""
    calls: tuple[ScriptedCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Scenario:
    """What the user says, turn by turn, and for each turn the steps of the model."""

    title: str
    users: tuple[str, ...]
    turns: tuple[tuple[Step, ...], ...]


class ScriptModel:
    """Replays a scenario. Which step is next follows from the request alone, so it keeps no state."""

    window = WINDOW

    def __init__(self, path: Path) -> None:
        self.name = f"demo/script:{path}"
        self.label = f"demo/script:{path.name} (scripted, no LLM)"
        self.scenario = load_scenario(path)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        """The scenario's next step, or that the script is over."""
        turn, index = _position(request.messages)
        step = self._step(turn, index)
        for word in step.say.splitlines(keepends=True):
            yield TextDelta(word)
        calls = tuple(
            ToolCall(f"script-{turn}-{index}-{number}", call.name, call.arguments)
            for number, call in enumerate(step.calls)
        )
        yield ModelReply(step.say, calls, finish_reason="tool_calls" if calls else "stop")

    def _step(self, turn: int, index: int) -> Step:
        turns = self.scenario.turns
        if 0 <= turn < len(turns) and index < len(turns[turn]):
            return turns[turn][index]
        return Step(OVER)


def _position(messages: tuple[Message, ...]) -> tuple[int, int]:
    """The turn the conversation is in and how often the model has answered in it."""
    turn, index = -1, 0
    for message in messages:
        if isinstance(message, UserMessage):
            turn, index = turn + 1, 0
        elif isinstance(message, AssistantMessage):
            index += 1
    return turn, index


def load_scenario(path: Path) -> Scenario:
    """Read a scenario file. Raises ConfigError that names the file, the entry and the key."""
    reader = _Reader(path)
    root = reader.mapping(_parsed(path), "the file")
    reader.known(root, {"title", "turns"}, "the file")
    turns = reader.items(root, "turns", "the file")
    if not turns:
        raise reader.error("the file", "turns", "has to have at least one entry")
    pairs = [_turn(reader, raw, f"turn {number}") for number, raw in enumerate(turns, 1)]
    return Scenario(
        title=reader.text(root, "title", "the file") or path.stem,
        users=tuple(user for user, _ in pairs),
        turns=tuple(steps for _, steps in pairs),
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


def _turn(reader: "_Reader", raw: object, where: str) -> tuple[str, tuple[Step, ...]]:
    entry = reader.mapping(raw, where)
    reader.known(entry, {"user", "steps"}, where)
    user = reader.text(entry, "user", where)
    if not user.strip():
        raise reader.error(where, "user", "is missing")
    steps = reader.items(entry, "steps", where)
    if not steps:
        raise reader.error(where, "steps", "has to have at least one entry")
    return user, tuple(_step(reader, step, f"{where}, step {n}") for n, step in enumerate(steps, 1))


def _step(reader: "_Reader", raw: object, where: str) -> Step:
    entry = reader.mapping(raw, where)
    reader.known(entry, {"say", "calls"}, where)
    calls = reader.items(entry, "calls", where)
    say = reader.text(entry, "say", where)
    if not say and not calls:
        raise reader.error(where, "say", "or calls has to be given")
    return Step(say, tuple(_call(reader, call, f"{where}, call {n}") for n, call in enumerate(calls, 1)))


def _call(reader: "_Reader", raw: object, where: str) -> ScriptedCall:
    entry = reader.mapping(raw, where)
    reader.known(entry, {"tool", "arguments"}, where)
    tool = reader.text(entry, "tool", where)
    if not tool:
        raise reader.error(where, "tool", "is missing")
    arguments = entry.get("arguments")
    given = {} if arguments is None else reader.mapping(arguments, f"{where}, arguments")
    try:
        # YAML reads an unquoted day as a date, which could not be sent to a server.
        json.dumps(given, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise reader.error(where, "arguments", f"has a value that JSON cannot hold ({error})") from error
    return ScriptedCall(_wire(tool), given)


def _wire(tool: str) -> str:
    server, colon, name = tool.partition(":")
    return wire_name(server, name) if colon and tool != SEARCH_TOOLS else tool


class _Reader:
    """Reads typed values out of one file and names the place of a wrong one."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def error(self, where: str, key: str, problem: str) -> ConfigError:
        return ConfigError(f"{self._path}: {where}: {key} {problem}")

    def mapping(self, raw: object, where: str) -> Mapping[str, Any]:
        if isinstance(raw, Mapping) and all(isinstance(key, str) for key in raw):
            return raw
        raise ConfigError(f"{self._path}: {where}: has to be a mapping with text keys")

    def known(self, entry: Mapping[str, Any], keys: set[str], where: str) -> None:
        for key in entry:
            if key not in keys:
                raise self.error(where, key, f"is not known; known: {', '.join(sorted(keys))}")

    def text(self, entry: Mapping[str, Any], key: str, where: str) -> str:
        value = entry.get(key)
        if value is None:
            return ""
        if isinstance(value, str):
            return value.strip()
        raise self.error(where, key, "has to be text")

    def items(self, entry: Mapping[str, Any], key: str, where: str) -> list[Any]:
        value = entry.get(key)
        if value is None:
            return []
        if isinstance(value, list):
            return value
        raise self.error(where, key, "has to be a list")
