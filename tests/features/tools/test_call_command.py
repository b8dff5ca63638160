"""A tool called by hand from the command line."""

import json
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from inspector.cli import consent
from inspector.cli.location import source_words
from inspector.cli.options import Options
from inspector.core.error import ToolsightError
from inspector.core.tool import Annotations, Tool
from inspector.loop.approval import why_confirm
from tests.support.commands import Toolsight
from tests.support.mcp_case import SERVERS, SUPPORT

CALC = ("--trust", "calc", "--", sys.executable, str(SERVERS / "calc.py"))
SHOP = ("--trust", "shop", "--", sys.executable, str(SERVERS / "shop.py"))


@pytest.fixture(scope="module")
def variables(variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {**variables, "TOOLSIGHT_STATE": str(tmp_path_factory.mktemp("state"))}


def test_a_value_is_read_as_its_parameters_type(toolsight: Toolsight) -> None:
    done = toolsight("call", "calc:evaluate", "expression=6 * 7", *CALC)
    assert done.exit_code == 0, done.stderr
    assert "42" in done.stdout
    listed = toolsight("call", "shop:list_orders", "limit=1", "--json", *SHOP)
    assert listed.exit_code == 0, listed.stderr
    assert json.loads(listed.stdout)["is_error"] is False


def test_an_error_of_the_tool_is_the_exit_code(toolsight: Toolsight) -> None:
    done = toolsight("call", "calc:evaluate", "expression=1 / 0", *CALC)
    assert done.exit_code == 1
    assert "zero" in done.stdout + done.stderr


def test_who_types_a_call_has_said_what_to_do(toolsight: Toolsight) -> None:
    """Neither a claim to read nor one to change something is asked about."""
    assert toolsight("call", "shop:add_order_note", "order_id=1042", "note=Called.", *SHOP[2:]).exit_code == 0
    assert "Called." in toolsight("call", "shop:get_order", "order_id=1042", *SHOP[2:]).stdout


def test_only_what_destroys_is_not_called_without_a_yes(toolsight: Toolsight) -> None:
    refund = ("call", "shop:refund_order", "order_id=1042", "reason=damaged")
    refused = toolsight(*refund, *SHOP)
    assert refused.exit_code == 1
    assert "shop:refund_order was not called: its server marks it as destructive" in refused.stderr
    assert "add --yes" in refused.stderr
    assert toolsight(*refund, "--yes", *SHOP).exit_code == 0


def test_a_call_that_destroys_asks_once_on_a_terminal_and_no_is_the_default(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(consent, "sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True)))
    tool, answers = Tool("files", "delete", annotations=Annotations(destructive=False)), iter(("y", "n", ""))
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _text: next(answers))
    consent.confirm_call(tool, {"path": "a"}, why_confirm(tool))
    assert "Its name says “delete”" in capsys.readouterr().err
    for _ in range(2):
        with pytest.raises(ToolsightError, match="was not called"):
            consent.confirm_call(tool, {"path": "a"}, why_confirm(tool))
    assert next(answers, None) is None


def test_trust_in_a_server_that_is_not_there_is_a_mistake(toolsight: Toolsight) -> None:
    failed = toolsight("call", "calc:evaluate", "expression=1", "--trust", "clac", *CALC[2:])
    assert failed.exit_code == 2
    assert "--trust clac: no such server" in failed.stderr
    assert "Servers: calc" in failed.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("calc:evalute", "expression=1"), "Closest: calc:evaluate"),
        (("clac:evaluate",), "servers: calc"),
        (("evalute",), "Closest: calc:evaluate"),
        (("calc:evaluate", "expression"), "Write expression=VALUE"),
        (("calc:evaluate", "expression=@no-such-file"), "no-such-file does not exist"),
    ],
)
def test_a_slip_is_told_with_what_was_meant(toolsight: Toolsight, words: tuple[str, ...], said: str) -> None:
    done = toolsight("call", *words, *CALC)
    assert done.exit_code == 2
    assert said in done.stderr


def test_a_call_that_was_not_made_leaves_no_session(toolsight: Toolsight, tmp_path: Path) -> None:
    place = {"TOOLSIGHT_DB": str(tmp_path / "calls.db")}
    refused = (
        ("shop:refund_order", "order_id=1042", "reason=damaged"),
        ("shop:get_ordr",),
        ("shop:get_order", "x=1"),
    )
    for words in refused:
        assert toolsight("call", *words, *SHOP, **place).exit_code != 0
    printed = toolsight("call", "shop:get_order", "order_id=1042", "--print", "line", *SHOP, **place)
    assert printed.exit_code == 0
    assert json.loads(toolsight("sessions", "--json", **place).stdout) == []
    assert toolsight("call", "shop:get_order", "order_id=1042", *SHOP, **place).exit_code == 0
    assert len(json.loads(toolsight("sessions", "--json", **place).stdout)) == 1


def test_a_saved_call_is_repeated_and_compared(
    toolsight: Toolsight, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    saved = toolsight("call", "evaluate", 'expression:="6 * 7"', "--save", "answer", *CALC)
    assert saved.exit_code == 0, saved.stderr
    same = toolsight("call", "--saved", "answer", *CALC)
    assert (same.stdout, same.stderr) == (saved.stdout, "same result as saved\n")
    other = toolsight("call", "--saved", "answer", "expression=1 + 1", "--json", *CALC)
    assert '+  "result": 2' in json.loads(other.stdout)["changes"]
    unknown = toolsight("call", "--saved", "anser", *CALC)
    assert unknown.exit_code == 2
    assert "answer" in unknown.stderr


def test_a_printed_line_runs_as_pasted(
    toolsight: Toolsight, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    calc = {"command": sys.executable, "args": [str(SERVERS / "calc.py")]}
    for name in ("my servers.json", ".mcp.json"):
        Path(name).write_text(json.dumps({"mcpServers": {"calc": calc}}))

    def printed(*source: str) -> str:
        answer = ("calc:evaluate", "expression=6 * 7", "--print", "line")
        return toolsight("call", *answer, "--approve", *source).stdout.strip()

    Path("p.yaml").write_text('organisations: {acme: {tools: ["calc:*"], users: {ada: {}}}}')
    sight, typed = ("--policy", "p.yaml", "--user", "ada"), ("--", sys.executable, calc["args"][0])
    for source in (("--config", "my servers.json"), (*sight, *typed)):
        line = printed(*source)
        assert line == shlex.join(("toolsight", "call", "calc:evaluate", "expression=6 * 7", *source))
        done = toolsight("call", "--yes", *shlex.split(line)[2:])
        assert "42" in done.stdout, done.stderr
    assert source_words(Options(config=Path(".mcp.json"))) == source_words(Options()) == ()
    assert source_words(Options(demo=True)) == ("--demo",)


def test_a_call_by_a_task_says_how_it_goes_and_programs_get_the_task(toolsight: Toolsight) -> None:
    server = ("--", sys.executable, str(SUPPORT / "task_server.py"))
    done = toolsight("call", "task_server:report", "--json", "--trust", "task_server", *server)
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["task"] == {
        "id": "t1",
        "status": "completed",
        "message": "step 2",
        "polls": 2,
    }
    told = [line for line in done.stderr.splitlines() if line.startswith("task ")]
    assert told == [
        "task working: step 0",
        "task working: step 1, 1 poll",
        "task completed: step 2, 2 polls",
    ]
