"""Published data is made as it was measured on, or refused; what lacks it says so in a line."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from docs.benchmark import conversion, data
from docs.benchmark.fetch import Commit, DataSet, NotFetchedError, written

NOWHERE = Commit("nobody/nothing", "0" * 40, ("a.json",))


def files(**texts: object) -> Mapping[str, bytes]:
    return {f"{name.replace('__', '/')}.json": json.dumps(text).encode() for name, text in texts.items()}


def test_a_command_becomes_a_tool_with_its_options_and_each_prompt_a_request() -> None:
    options = [{"name": "--id", "type": "string", "description": "Which.", "required": True}]
    command = {"command": "acr list", "description": "Lists.\r\nAll. ", "option": options}
    prompts = {"acr_list": ["list them", "list them", "show"], "gone": ["x"]}
    tools, queries = conversion.azure_mcp(files(tools={"results": [command]}, prompts=prompts))
    assert [(tool["id"], tool["description"]) for tool in tools] == [("acr::acr_list", "Lists.\nAll.")]
    assert tools[0]["inputSchema"]["required"] == ["id"]
    assert [(one["id"], one["query"]) for one in queries] == [
        ("acr_list/0", "list them"),
        ("acr_list/1", "show"),
    ]


def test_data_that_is_not_what_was_measured_on_is_refused_and_not_written(tmp_path: Path) -> None:
    one = DataSet(NOWHERE, lambda _: ([{"id": "a"}], []), {"tools.jsonl": "0" * 64})
    with pytest.raises(NotFetchedError, match="differs from what was measured on"):
        written(one, {}, tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_a_measurement_without_its_data_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "DATA", tmp_path)
    with pytest.raises(SystemExit, match="the data set azure_mcp is not here: `make data` fetches it"):
        data.folder("azure_mcp")
