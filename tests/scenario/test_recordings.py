"""Recorded runs and tool definitions as other programs write them, and files that only look like it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.error import ConfigError
from inspector.mcp.recorded_link import RecordedCall, RecordedRun
from inspector.mcp.tool_file import read_definitions
from inspector.scenario.recording import read_runs
from tests.support import recordings
from tests.support.recordings import LIBRARY, SPENT, write, write_lines


def only(folder: Path) -> RecordedRun:
    """The folder's one run."""
    (run,) = read_runs(folder).runs
    return run


def test_an_mcpmark_run_has_its_task_server_steps_and_bill(tmp_path: Path) -> None:
    run = only(recordings.mcpmark(tmp_path))
    assert (run.task, run.solved, run.input_tokens, run.output_tokens) == ("library/lend", True, SPENT, 50)
    first, second, last = run.messages[0].steps
    assert (first.text, last.text) == ("I look.", "No.")
    assert [call.result for call in first.calls] == ["shelf 1", "shelf 2"]
    assert second.calls == (
        RecordedCall("lend_book", {"title": "Emma"}, "Error: lent already", True, "library-plain"),
    )


def test_the_agents_own_searches_are_no_calls(tmp_path: Path) -> None:
    run = only(recordings.livemcpbench(tmp_path))
    assert [step.searches for step in run.steps] == [("lend a book",), (), ()]
    assert list(run.calls) == [RecordedCall("lend_book", {"title": "Emma"}, "lent", False, "library")]
    assert run.solved


def test_a_task_with_right_calls_has_one_call_a_step_and_no_results(tmp_path: Path) -> None:
    run = only(recordings.bfcl(tmp_path))
    assert [message.text for message in run.messages] == ["Is bed 1 dry?", "Water it, twice."]
    assert [[call.arguments for call in step.calls] for step in run.messages[1].steps] == [
        [{"0": 1}],
        [{"bed": 1, "litres": 2.5}],
        [],
    ]
    assert {call.result for call in run.calls} == {None}


def test_a_folder_may_mix_formats_and_other_files_are_only_counted(tmp_path: Path) -> None:
    for make in (recordings.mcpmark, recordings.toolathlon, recordings.livemcpbench, recordings.bfcl):
        make(tmp_path / make.__name__)
    write(tmp_path / "package.json", {"name": "x"})
    found = read_runs(tmp_path)
    assert found.formats == {"MCPMark": 1, "LiveMCPBench": 1, "Toolathlon": 1, "BFCL multi-turn": 1}
    assert len({run.id for run in found.runs}) == len(found.runs) == 4
    assert found.others == 3


@pytest.mark.parametrize("limit", [1, 3, 7, 50])
def test_a_sample_is_spread_evenly_and_always_the_same(tmp_path: Path, limit: int) -> None:
    for number in range(12):
        write(
            tmp_path / f"m_{number:02}.json",
            {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]},
        )
    found = read_runs(tmp_path)
    sample = found.sampled(limit)
    assert sample == found.sampled(limit)
    assert len({run.id for run in sample}) == min(limit, 12)
    places = [found.runs.index(run) for run in sample]
    gaps = {after - before for before, after in zip(places, [*places[1:], 12], strict=True)}
    assert places[0] == 0
    assert max(gaps) - min(gaps) <= 1


def _chat(tmp_path: Path, message: object) -> Path:
    return write(tmp_path / "a_b.json", {"messages": [{"role": "user", "content": "x"}, message]})


@pytest.mark.parametrize(
    ("make", "said", "hint"),
    [
        (lambda path: path / "absent", "absent does not exist", "Pass a folder"),
        (lambda path: write(path / "x.json", {"a": 1}).parent, "no recorded runs", "MCPMark"),
        (lambda path: _bytes(path / "cut.json", b'{"messages": [{"ro'), "cut.json is not JSON", "Formats"),
        (lambda path: _bytes(path / "deep.json", b"[" * 200_000), "nested too deeply", "Formats"),
        (lambda path: _bytes(path / "bytes.json", b'{"\xff": 1}'), "is not UTF-8", "Save the file"),
        (lambda path: _chat(path, {"content": "no role"}), "messages[1]: role is missing", "Every message"),
        (lambda path: _chat(path, 3), "a_b.json: messages[1]", ""),
        (
            lambda path: _chat(path, {"role": "assistant", "tool_calls": [{"function": {"name": ""}}]}),
            "tool_calls[0].function.name is empty",
            "Every call needs",
        ),
        (lambda path: write(path / "a_b.json", {"messages": 3}), "messages must be a list", ""),
        (lambda path: _answers(path, "import os"), "is not a call", "name(argument=value)"),
        (lambda path: _answers(path, "a(b=open('x'))"), "is not a call", "literal values"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_file_and_hint(
    tmp_path: Path, make: Callable[[Path], Path], said: str, hint: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        read_runs(make(tmp_path))
    assert said in caught.value.message
    assert hint in caught.value.hint


def _bytes(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path.parent


def _answers(folder: Path, call: str) -> Path:
    recordings.bfcl(folder)
    write_lines(
        folder / "possible_answer" / "tasks.json", {"id": "multi_1", "ground_truth": [[call], ["b()"]]}
    )
    return folder


@pytest.mark.parametrize(
    "form", ["by server", "one server", "list", "lines", "nested", "functions", "answer"]
)
def test_definitions_are_read_in_every_usual_form(tmp_path: Path, form: str) -> None:
    tools = [
        {"name": tool.name, "description": tool.description, "inputSchema": {"type": "object"}}
        for tool in LIBRARY
        if tool.server == "garden"
    ]
    functions = [
        {"type": "function", "function": {"name": one["name"], "parameters": one["inputSchema"]}}
        for one in tools
    ]
    values = {
        "by server": {"garden": {"tools": tools}},
        "one server": {"tools": tools},
        "list": tools,
        "nested": [{"name": "Garden MCP", "tools": {"garden": {"server_name": "garden", "tools": tools}}}],
        "functions": {"tools": functions},
        "answer": {"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}},
    }
    path = tmp_path / "garden.json"
    if form == "lines":
        write_lines(path, *tools)
    else:
        write(path, values[form])
    assert [tool.id for tool in read_definitions([path])] == ["garden:water_plants", "garden:soil_report"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "has no tools"),
        ('{"tools": [{"description": "nameless"}]}', "has no tools"),
        ('{"tools": [{"name": ""}]}', "name is empty"),
        ('{"tools": [{"name": "a", "inputSchema": 3}]}', "inputSchema must be an object"),
        ("[" * 200_000, "nested too deeply"),
        ("{", "is not JSON"),
    ],
)
def test_a_faulty_file_of_tools_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "tools.json"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_definitions([path])
    assert str(path) in caught.value.message
    assert said in caught.value.message
    assert caught.value.hint


def test_nothing_in_an_answer_is_executed(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    with pytest.raises(ConfigError):
        read_runs(_answers(tmp_path, f"__import__('pathlib').Path({json.dumps(str(trap))}).touch()"))
    assert not trap.exists()
