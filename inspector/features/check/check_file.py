"""The configuration of a check: `[tool.toolsight.check]` in pyproject.toml, `[check]` in toolsight.toml."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from inspector.config.file import MEGABYTE, is_file, read_text
from inspector.config.problem import Strict, meant, validated
from inspector.core.error import ConfigError

# The tables by file, in the order in which a folder's files are read.
_TABLES = {"toolsight.toml": ("check",), "pyproject.toml": ("tool", "toolsight", "check")}
_REASON = 'Say why: `{rule} = "the reason"`.'


class CheckFile(Strict):
    """What a file says; the paths in it are relative to its folder."""

    expect: list[str] = Field([], description='Write a list: ["REQUEST -> TOOL"].')
    requests: list[str] = Field([], description="Write a list of files with labelled requests.")
    client: list[str] = Field([], description='Write a list: ["codex", "claude-code"].')
    budget: int | None = Field(None, gt=0, description="Write how many tokens definitions may take.")
    snapshot: str | None = Field(None, description="Write a file's name: tools.lock.json.")
    fail_on: Literal["error", "warning", "never"] | None = Field(None, alias="fail-on")
    disable: dict[str, str] = Field({}, description=_REASON.format(rule="RULE"))


def find_check(folder: Path, rules: Sequence[str]) -> tuple[CheckFile, Path]:
    """The nearest table from here up to the repository's root, and the folder of its file; else an empty one.

    Without a repository only the folder itself is looked into. Raises ConfigError, also for a rule that is
    not among the `rules`, or turned off without a reason.
    """
    for place in _places(folder.absolute()):
        for name, keys in _TABLES.items():
            path = place / name
            if is_file(path) and (table := _table(path, keys)) is not None:
                return _read(path, keys, table, rules), place
    return CheckFile(), folder


def _places(folder: Path) -> Sequence[Path]:
    above = [folder, *folder.parents]
    root = next((number for number, place in enumerate(above) if (place / ".git").exists()), 0)
    return above[: root + 1]


def _table(path: Path, keys: Sequence[str]) -> Mapping[str, Any] | None:
    """The file's table; None if it has none."""
    try:
        found: Any = tomllib.loads(read_text(path, "TOML", limit=MEGABYTE))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}", hint="Correct the line.") from error
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    if found is None or isinstance(found, Mapping):
        return found
    raise ConfigError(f"{path}: {'.'.join(keys)} must be a table", hint=f"Write [{'.'.join(keys)}].")


def _read(path: Path, keys: Sequence[str], table: Mapping[str, Any], rules: Sequence[str]) -> CheckFile:
    read = validated(CheckFile, table, str(path), at=tuple(keys))
    for rule, reason in read.disable.items():
        where = f"{path}: {'.'.join(keys)}.disable.{rule}"
        if rule not in rules:
            raise ConfigError(f"{where} is not a rule", hint=meant(rule, rules))
        if not reason.strip():
            raise ConfigError(f"{where} has no reason", hint=_REASON.format(rule=rule))
    return read
