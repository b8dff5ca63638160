"""`toolsight bench runs`: recorded runs played again, and what is said about them."""

import json
from pathlib import Path

import pytest

from fixtures.recordings.make import cases, record
from inspector.cli.location import shipped_recording
from tests.support import recordings
from tests.support.commands import Toolsight
from tests.support.recordings import write
from tests.support.retrieval import give

WORDS_ALONE = ("--set", "discovery.embedding_model=none")


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


def test_a_report_names_its_source_and_what_it_left_out(toolsight: Toolsight, folder: Path) -> None:
    done = toolsight("bench", "runs", str(folder), "--tools", str(folder / "tools"), *WORDS_ALONE)
    assert done.exit_code == 0, done.stderr
    assert (
        "3 recorded runs (LiveMCPBench 1, MCPMark 1, Toolathlon 1) of some-model; not shipped with Toolsight."
        in done.stdout
    )
    assert "Left out: 1 of 7 calls, to 1 tool without a definition (local-nap)" in done.stdout
    assert "Brackets are 95 % intervals over tasks." in done.stdout
    assert "static: the provider counted" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--vary", "binding.capacty=1"), "Did you mean `binding.capacity`?"),
        (("--vary", "binding.capacity"), "has no values"),
        (("--vary", "binding.capacity=-1"), "binding.capacity"),
        (("--profile", "prdd"), "there is no profile 'prdd'"),
        (("--limit", "0"), "--limit"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_read(
    toolsight: Toolsight, arguments: tuple[str, ...], said: str
) -> None:
    done = toolsight("bench", "runs", "nowhere", "--tools", "nothing.json", *arguments)
    assert done.exit_code != 0
    assert said in done.stderr


async def test_what_ships_is_made_again_byte_for_byte_by_its_command(
    tmp_path: Path, demo_vectors: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    give(demo_vectors, tmp_path / "toolsight.db")
    chosen = [case for case in cases() if case.id in ("everyday_demo/001", "demo/p74")]
    made = await record(chosen, tmp_path)
    lines = shipped_recording().read_text(encoding="utf-8").splitlines(keepends=True)
    of_session = [(json.loads(line)["session"], line) for line in lines]
    assert made == "".join(line for session, line in of_session if session in {case.id for case in chosen})
    assert [case.id for case in cases()] == list(dict.fromkeys(session for session, _ in of_session))


def test_what_ships_needs_no_definitions_and_says_that_its_model_is_no_llm(toolsight: Toolsight) -> None:
    done = toolsight("bench", "runs", str(shipped_recording()), "--limit", "2", *WORDS_ALONE)
    assert done.exit_code == 0
    assert "of demo/planner (rules, no LLM)." in done.stdout
    assert "is no LLM" in done.stdout
    assert "not shipped" not in done.stdout
    assert "with 84 tools" in done.stdout
