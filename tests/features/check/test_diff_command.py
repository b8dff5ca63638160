"""`toolsight diff`: sessions, stored lists, snapshots and files, with an exit code."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Toolsight, in_process
from tests.support.hostile import with_hostile_text

TOOLS = [
    {"name": "list_orders", "description": "Lists orders.", "inputSchema": {"type": "object"}},
    {"name": "get_order", "description": "Gets one order.", "inputSchema": {"type": "object"}},
]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toolsight:
    monkeypatch.chdir(tmp_path)
    return in_process({"TOOLSIGHT_DB": str(tmp_path / "a.db"), "TOOLSIGHT_SET": ""})


def _list(name: str, tools: list[dict[str, Any]]) -> str:
    Path(name).write_text(json.dumps({"tools": tools}), encoding="utf-8")
    return name


_WORDS = ("--set", "discovery.embedding_model=none")


def test_two_lists_are_compared_and_their_answers_to_the_requests_beside_them(
    run: Toolsight,
) -> None:
    before, after = _list("before.json", TOOLS), _list("after.json", TOOLS[:1])
    Path("toolsight.requests").write_text("list my orders -> list_orders\nget one order -> get_order\n")
    done = run("diff", before, after, "--json", *_WORDS)
    assert done.exit_code == 3, done.stderr
    told = json.loads(done.stdout)
    assert [one["tool"] for one in told["only_first"]] == ["before:get_order"]
    assert (told["only_second"], told["changed"], told["requests"]) == ([], [], 2)
    assert [one["text"] for one in told["answers"]] == ["get one order -> before:get_order"]
    same = run("diff", before, before, *_WORDS)
    assert (same.exit_code, same.stdout.splitlines()[-1]) == (0, "No difference.")


def test_a_snapshot_is_compared_with_what_a_server_lists_now(run: Toolsight) -> None:
    server = _list("shop.json", TOOLS)
    assert run("check", "--snapshot", "tools.lock.json", "--update", "--no-model", server).exit_code in (0, 3)
    assert run("diff", "tools.lock.json", server).exit_code == 0
    _list("shop.json", [{**TOOLS[0], "description": "Lists all orders."}, TOOLS[1]])
    done = run("diff", "tools.lock.json", server)
    assert done.exit_code == 3
    assert "- Lists orders." in done.stdout
    assert "+ Lists all orders." in done.stdout


def test_a_title_among_the_annotations_is_one_in_a_stored_list_too(run: Toolsight) -> None:
    before = _list("before.json", [{**TOOLS[0], "annotations": {"title": "List"}}])
    assert run("diff", before, _list("after.json", [{**TOOLS[0], "title": "List"}])).exit_code == 0
    assert run("diff", before, _list("after.json", TOOLS[:1])).exit_code == 3


def test_what_names_nothing_is_an_error_and_clients_have_a_command_of_their_own(run: Toolsight) -> None:
    shop = _list("shop.json", TOOLS)
    wrong = run("diff", "nowhere", shop)
    assert wrong.exit_code == 2
    assert "'nowhere' is no session, file, address or command" in wrong.stderr
    failed = run("diff", shop, f"{sys.executable} nowhere.py")
    assert (failed.exit_code, "a server of" in failed.stderr) == (1, True)
    assert "toolsight clients codex none" in run("diff", "codex", "none").stderr


@with_hostile_text
def test_hostile_names_and_words_control_no_terminal(run: Toolsight, text: str) -> None:
    odd = {"name": "odd", "description": text, "inputSchema": {"type": "object", "title": text}}
    done = run("diff", _list("a.json", TOOLS), _list("b.json", [*TOOLS, odd]))
    assert done.exit_code in (0, 1, 2, 3)
    assert "\x1b" not in done.stdout
