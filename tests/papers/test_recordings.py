"""Published recordings of agents: what is read of each format, and what a replay of them says."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from docs.benchmark.recordings import PUBLISHED, read_published
from inspector.core.error import ConfigError
from inspector.features.lab.runs.recording import FORMATS
from inspector.mcp.recorded_link import RecordedCall, RecordedRun
from tests.support import recordings
from tests.support.commands import Toolsight, in_process
from tests.support.recordings import SPENT, write, write_lines

WORDS_ALONE = ("--set", "discovery.embedding_model=none")


@pytest.fixture
def toolsight(tmp_path: Path) -> Toolsight:
    return in_process({"TOOLSIGHT_DB": str(tmp_path / "x.db"), "XDG_STATE_HOME": str(tmp_path)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run of each kind, and the definitions of all but one of their tools."""
    folder = tmp_path_factory.mktemp("recorded")
    for make in (recordings.mcpmark, recordings.toolathlon, recordings.livemcpbench):
        make(folder / make.__name__)
    recordings.definitions(folder / "tools" / "tools.json")
    books = [{"name": "find_book", "description": "Find a book."}, {"name": "lend_book"}]
    write(folder / "tools" / "library-plain.json", {"tools": books})
    return folder


def test_a_report_names_its_source_and_what_it_left_out(
    toolsight: Toolsight, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, reader in PUBLISHED.items():
        monkeypatch.setitem(FORMATS, name, reader)
    done = toolsight("bench", "runs", str(folder), "--tools", str(folder / "tools"), *WORDS_ALONE)
    assert done.exit_code == 0, done.stderr
    assert (
        "3 recorded runs (LiveMCPBench 1, MCPMark 1, Toolathlon 1) of some-model; not shipped with Toolsight."
        in done.stdout
    )
    assert "Left out: 1 of 7 calls, to 1 tool without a definition (local-nap)" in done.stdout
    assert "Brackets are 95 % intervals over tasks." in done.stdout
    assert "static: the provider counted" in done.stdout


def only(folder: Path) -> RecordedRun:
    """The folder's one run."""
    (run,) = read_published(folder).runs
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


@pytest.mark.parametrize(("label", "solved"), [("failure", False), ("success", True)])
def test_a_persons_label_counts_before_a_judges_reward(tmp_path: Path, label: str, solved: bool) -> None:
    path = recordings.livemcpbench(tmp_path) / "judged.json"
    tasks = json.loads(path.read_text())
    write(path, [task | {"task_success": label, "reward": int(not solved)} for task in tasks])
    assert only(tmp_path).solved is solved


def test_a_task_with_right_calls_has_one_call_a_step_and_no_results(tmp_path: Path) -> None:
    run = only(recordings.bfcl(tmp_path))
    assert [message.text for message in run.messages] == ["Is bed 1 dry?", "Water it, twice."]
    assert [[call.arguments for call in step.calls] for step in run.messages[1].steps] == [
        [{"0": 1}],
        [{"bed": 1, "litres": 2.5}],
        [],
    ]
    assert {call.result for call in run.calls} == {None}


def _chat(tmp_path: Path, message: object) -> Path:
    return write(tmp_path / "a_b.json", {"messages": [{"role": "user", "content": "x"}, message]})


@pytest.mark.parametrize(
    ("make", "said", "hint"),
    [
        (lambda path: _chat(path, {"content": "no role"}), "messages[1]: role is missing", "Every message"),
        (
            lambda path: _chat(path, {"role": "assistant", "tool_calls": [{"function": {"name": ""}}]}),
            "tool_calls[0].function.name is empty",
            "Every call needs",
        ),
        (lambda path: _answers(path, "import os"), "is not a call", "name(argument=value)"),
        (lambda path: _answers(path, "a(b=open('x'))"), "is not a call", "literal values"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_file_and_hint(
    tmp_path: Path, make: Callable[[Path], Path], said: str, hint: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        read_published(make(tmp_path))
    assert said in caught.value.message
    assert hint in caught.value.hint


def _answers(folder: Path, call: str) -> Path:
    recordings.bfcl(folder)
    write_lines(
        folder / "possible_answer" / "tasks.json", {"id": "multi_1", "ground_truth": [[call], ["b()"]]}
    )
    return folder


def test_nothing_in_an_answer_is_executed(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    with pytest.raises(ConfigError):
        read_published(_answers(tmp_path, f"__import__('pathlib').Path({json.dumps(str(trap))}).touch()"))
    assert not trap.exists()
