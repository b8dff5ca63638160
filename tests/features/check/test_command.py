"""`toolsight check`: exit codes, formats, the configuration, the snapshot, and servers that fail."""

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support import light_server
from tests.support.commands import Toolsight
from tests.support.hostile import by_hostile_kind

pytestmark = pytest.mark.slow

TOOLS = [
    {"name": "list_orders", "description": "Late orders of a customer.", "inputSchema": {"type": "object"}},
    {"name": "refund_order", "description": "Give the money back.", "inputSchema": {"type": "object"}},
]
HOLDS, BREAKS = "late orders -> list_orders", "late orders -> refund_order"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No configuration of a check from the checkout."""
    monkeypatch.chdir(tmp_path)


def stored(folder: Path, tools: Sequence[object] = TOOLS, name: str = "shop.json") -> str:
    file = folder / name
    file.write_text(json.dumps({"tools": tools}), encoding="utf-8")
    return str(file)


def test_an_expectation_that_holds_exits_0_one_that_does_not_3_and_never_reports_it(
    toolsight: Toolsight, tmp_path: Path
) -> None:
    check = ("check", "--no-model", stored(tmp_path))
    assert toolsight(*check, "--expect", HOLDS).exit_code == 0
    broken = toolsight(*check, "--expect", HOLDS, "--expect", BREAKS)
    assert broken.exit_code == 3
    assert "1 of 2 expectations held" in broken.stdout
    reported = toolsight(*check, "--expect", BREAKS, "--fail-on", "never")
    assert (reported.exit_code, "0 of 1 expectation held" in reported.stdout) == (0, True)


def test_the_file_of_requests_beside_the_server_has_to_hold_unless_others_are_named(
    toolsight: Toolsight, tmp_path: Path
) -> None:
    server = tmp_path / "own"
    server.mkdir()
    check, beside = ("check", "--no-model", stored(server)), server / "toolsight.requests"
    beside.write_text(f"# asked\n\n{BREAKS}\n{HOLDS}\nsing -> nothing\n", encoding="utf-8")
    done = toolsight(*check)
    assert (done.exit_code, "2 of 3 expectations held" in done.stdout) == (3, True)
    assert toolsight(*check, "--expect", HOLDS).exit_code == 0
    (tmp_path / "other.requests").write_text(HOLDS, encoding="utf-8")
    assert toolsight(*check, "--requests", str(tmp_path / "other.requests")).exit_code == 0
    beside.write_text("late orders", encoding="utf-8")
    refused = toolsight(*check)
    assert (refused.exit_code, "toolsight.requests:1: the expectation" in refused.stderr) == (2, True)


def test_a_server_that_fails_exits_1_with_what_was_found_on_the_others(
    toolsight: Toolsight, tmp_path: Path
) -> None:
    servers = {
        "light": light(),
        "crm": {"command": sys.executable, "args": ["-c", "raise SystemExit('no key')"]},
    }
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    check = ("check", "--no-model", "--config", str(file), "--approve", "--expect", "leads -> crm:list")
    done = toolsight(*check, "--fail-on", "never", "--all", "--update", "--snapshot", "tools.lock.json")
    assert done.exit_code == 1
    assert "crm failed, so its tools were not checked" in done.stdout
    assert "| no key" in done.stdout
    assert "no connected server has the tool" in done.stdout
    assert re.search(r"^light +4", done.stdout, re.MULTILINE)
    assert "tools.lock.json was not written" in done.stderr
    assert not (tmp_path / "tools.lock.json").exists()


def test_a_sentence_for_a_missed_tool_is_in_every_report_with_what_it_wins(
    toolsight: Toolsight, tmp_path: Path
) -> None:
    tools = [{"name": "handle_inv", "description": "Handles the invoice."}, TOOLS[0]]
    requests = ("show me the receipt for May", "find the receipt that Ann sent", "print a receipt")
    expect = [word for request in requests for word in ("--expect", f"{request} -> handle_inv")]
    check = ("check", "--no-model", "--set", "discovery.ranker=bm25", stored(tmp_path, tools), *expect)
    proposals = json.loads(toolsight(*check, "--json").stdout)["proposals"]
    assert {one["tool_id"] for one in proposals} == {"shop:handle_inv"}
    sentence, ranks = proposals[-1]["sentence"], proposals[-1]["effect"]["ranks"]
    assert "receipt" in sentence
    assert ranks["print a receipt"] == [None, 1]
    told = toolsight(*check).stdout
    assert sentence in told
    assert "▲    – → 1   “print a receipt”" in told
    for form in ("sarif", "junit", "github"):
        assert sentence in toolsight(*check, "--format", form).stdout


def light() -> dict[str, object]:
    return {"command": sys.executable, "args": [str(light_server.__file__)]}


def test_the_configuration_says_what_is_checked_and_options_come_first(
    toolsight: Toolsight, tmp_path: Path
) -> None:
    (tmp_path / "asked.jsonl").write_text(
        '{"id": "1", "query": "money back", "relevant": ["shop:refund_order"]}\n', encoding="utf-8"
    )
    (tmp_path / "toolsight.toml").write_text(
        f'[check]\nexpect = ["{BREAKS}"]\nrequests = ["asked.jsonl"]\nfail-on = "never"\nbudget = 1\n'
        '[check.disable]\nover-budget = "we know"\n',
        encoding="utf-8",
    )
    done = toolsight("check", "--no-model", stored(tmp_path))
    assert done.exit_code == 0
    assert "1 of 2 expectations held" in done.stdout
    assert "turned off: over-budget, 1 finding: we know" in done.stdout
    assert toolsight("check", "--no-model", "--fail-on", "error", stored(tmp_path)).exit_code == 3


def test_a_snapshot_is_written_when_asked_and_what_changed_since_fails_the_check(
    toolsight: Toolsight, tmp_path: Path
) -> None:
    lock = ("check", "--no-model", "--snapshot", "tools.lock.json")
    assert toolsight("check", "--update", stored(tmp_path)).exit_code == 2
    assert toolsight(*lock, stored(tmp_path)).exit_code == 2, "nothing was accepted yet"
    assert toolsight(*lock, "--update", stored(tmp_path)).exit_code == 0
    assert toolsight(*lock, stored(tmp_path)).exit_code == 0
    gone = toolsight(*lock, stored(tmp_path, TOOLS[:1]))
    assert gone.exit_code == 3
    assert "shop:refund_order" in gone.stdout
    assert toolsight(*lock, "--update", stored(tmp_path, TOOLS[:1])).exit_code == 0
    assert toolsight(*lock, stored(tmp_path, TOOLS[:1])).exit_code == 0


@by_hostile_kind
def test_hostile_definitions_break_neither_text_nor_json(
    text: str, toolsight: Toolsight, tmp_path: Path
) -> None:
    name = text[:100] or "empty"
    tools = [{"name": name, "description": text, "inputSchema": {"type": "object"}}, {"name": "list_orders"}]
    check = ("check", "--no-model", stored(tmp_path, tools), "--expect", f"{name} -> list_orders")
    told, data = toolsight(*check), toolsight(*check, "--json")
    assert told.exit_code == data.exit_code in (0, 2, 3)
    assert "\x1b" not in told.stdout
    if data.stdout:
        assert json.loads(data.stdout)["expectations"]
