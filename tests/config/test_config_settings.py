"""`profile`, `settings` and a toolset's `always_include` in a file: read, flattened, checked."""

from pathlib import Path
from typing import Any

import pytest

from inspector.core.error import ConfigError
from tests.config.test_config import configured

SERVERS: dict[str, Any] = {"mcpServers": {"s": {"command": "x"}}}


def refused(folder: Path, **more: Any) -> str:
    with pytest.raises(ConfigError) as raised:
        configured(folder, {**SERVERS, **more})
    path = str(folder / "toolsight.json")
    assert raised.value.message.startswith(path)
    return f"{raised.value.message.removeprefix(path)} | {raised.value.hint}"


def test_settings_may_be_nested_and_dotted_in_one_file(tmp_path: Path) -> None:
    settings = {
        "binding": {"capacity": 8, "always_include": ["mail:*"]},
        "guard.window_calls": 12,
        "guard": {"guidance": {"shop:*": "Ask for the order first."}},
    }
    configuration = configured(tmp_path, {**SERVERS, "profile": "kaman", "settings": settings})
    assert configuration.profile == "kaman"
    assert configuration.values == {
        "binding.capacity": 8,
        "binding.always_include": ("mail:*",),
        "guard.window_calls": 12,
        "guard.guidance": {"shop:*": "Ask for the order first."},
    }


def test_files_are_looked_for_beside_the_configuration(tmp_path: Path) -> None:
    settings = {"access.predicates": "rules/mine.py", "discovery": {"evaluation": ["asked.jsonl"]}}
    found = configured(tmp_path, {**SERVERS, "settings": settings}).values
    assert found["access.predicates"] == str(tmp_path / "rules" / "mine.py")
    assert found["discovery.evaluation"] == (str(tmp_path / "asked.jsonl"),)
    empty = configured(tmp_path, {**SERVERS, "settings": {"access.predicates": ""}}).values
    assert empty == {"access.predicates": ""}


def test_settings_of_a_client_that_mean_something_else_are_left_alone(tmp_path: Path) -> None:
    content = {**SERVERS, "settings": {"theme": "dark", "fontSize": 12}, "userSettings": {}, "profiles": []}
    configuration = configured(tmp_path, content)
    assert configuration.values == {}
    assert configuration.settings.discovery.defer_all


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"profile": "kamann"}, ": profile 'kamann' does not exist | Did you mean `kaman`?"),
        ({"profile": 3}, ": profile must be a string, not a number"),
        ({"setings": {}}, "Did you mean `settings`?"),
        ({"settings": []}, ": settings must be an object, not a list"),
        ({"settings": {"binding": {"capacty": 8}}}, "Did you mean `binding.capacity`?"),
        ({"settings": {"binding.capacty": 8}}, ": settings.binding.capacty is not a setting"),
        ({"settings": {"bindng": {"capacity": 8}}}, "Did you mean `binding.capacity`?"),
        ({"settings": {"binding": 8}}, ": settings.binding is not a setting | Did you mean `binding."),
        ({"settings": {"binding": {}, "capacity": 8}}, "Did you mean `binding.capacity`?"),
        (
            {"settings": {"binding": {"capacity": -1}}},
            ": settings.binding.capacity must be at least 0, not -1",
        ),
        ({"settings": {"binding.capacity": "8"}}, ": settings.binding.capacity must be a whole number"),
        (
            {"settings": {"binding": {"capacity": 8}, "binding.capacity": 9}},
            ": settings.binding.capacity appears twice | Keep one of them.",
        ),
        ({"settings": {"gate.": 1, "..": 2}}, "is not a setting"),
        (
            {"tool_sets": {"t": {"servers": {"s": True}, "always_include": "s:*"}}},
            ": tool_sets.t.always_include must be a list, not a string",
        ),
    ],
)
def test_a_fault_is_told_with_its_place_and_what_was_meant(
    tmp_path: Path, more: dict[str, Any], expected: str
) -> None:
    assert expected in refused(tmp_path, **more)
