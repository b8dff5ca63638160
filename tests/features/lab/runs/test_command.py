"""`toolsight bench runs`: recorded runs played again, and what is said about them."""

import json
from pathlib import Path

import pytest

from fixtures.recordings.make import cases, record
from inspector.cli.location import shipped_recording
from tests.support.commands import Toolsight
from tests.support.retrieval import give

WORDS_ALONE = ("--set", "discovery.embedding_model=none")


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
