"""Published data is made as it was measured on, or refused; what lacks it says so in a line."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from docs.benchmark import conversion, data, fetch
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


def test_functions_of_one_name_are_one_tool_only_if_their_descriptions_agree() -> None:
    def row(number: int, description: str) -> dict[str, object]:
        function = {
            "name": "f.get",
            "description": description,
            "parameters": {"type": "dict", "properties": {}},
        }
        asked = [[{"role": "user", "content": f"ask {number}"}]]
        return {"id": f"r{number}", "question": asked, "function": [function]}

    rows = [row(1, "Gets the weather now"), row(2, "Gets the weather"), row(3, "Books a flight")]
    lines = b"\n".join(json.dumps(one).encode() for one in rows)
    right = b"\n".join(
        json.dumps({"id": one["id"], "ground_truth": [{"f.get": {}}]}).encode() for one in rows
    )
    splits = [*conversion.ANSWERED, *conversion.UNANSWERED]
    found = {f"BFCL_v4_{split}.json": b"" for split in splits} | {"BFCL_v4_multiple.json": lines}
    found |= {f"possible_answer/BFCL_v4_{split}.json": b"" for split in splits}
    found["possible_answer/BFCL_v4_multiple.json"] = right
    tools, queries = conversion.bfcl(found)
    assert [(tool["id"], tool["inputSchema"]["type"]) for tool in tools] == [
        ("f.get", "object"),
        ("f.get#2", "object"),
    ]
    assert [one["relevant"] for one in queries] == [["f.get"], ["f.get"], ["f.get#2"]]


def test_data_that_is_not_what_was_measured_on_is_refused_and_not_written(tmp_path: Path) -> None:
    one = DataSet(NOWHERE, lambda _: ([{"id": "a"}], []), {"tools.jsonl": "0" * 64})
    with pytest.raises(NotFetchedError, match="differs from what was measured on"):
        written(one, {}, tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_a_repository_that_cannot_be_had_is_named_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Commit, "url", property(lambda _: str(tmp_path / "gone")))
    monkeypatch.setattr(fetch, "RUNS", {"live": NOWHERE})
    assert fetch.fetch(["runs/live"], tmp_path / "target") == 1
    line = capsys.readouterr().out.splitlines()[0]
    assert line.startswith(f"runs/live: {tmp_path / 'gone'} at 000000000000: ")


def test_a_measurement_without_its_data_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "DATA", tmp_path)
    with pytest.raises(SystemExit, match="the data set azure_mcp is not here: `make data` fetches it"):
        data.folder("azure_mcp")
