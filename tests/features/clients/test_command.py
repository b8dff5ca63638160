"""`toolsight clients`, and `--client CLIENT` of other commands."""

import json
import sys
from pathlib import Path

import pytest

from docs.papers import clients
from inspector.cli.launch import implied_by
from inspector.clients.client import find_client
from tests.support.commands import Done, Toolsight
from tests.support.mcp_case import SERVERS

ROOT = Path(__file__).parents[3]
SERVER = ("--approve", "--", sys.executable, str(SERVERS / "library.py"))


@pytest.fixture(scope="module")
def run(toolsight: Toolsight) -> Toolsight:
    def with_library(*arguments: str, **environment: str | None) -> Done:
        return toolsight(*arguments, *SERVER, **environment)

    return with_library


def test_the_page_about_clients_is_what_is_known_of_them() -> None:
    assert clients.written() == clients.PAGE.read_text(encoding="utf-8"), "`make docs` writes it"


@pytest.fixture
def older(tmp_path: Path) -> str:
    """The file of Claude Code as it was."""
    text = (ROOT / "inspector/clients/known/claude-code.toml").read_text(encoding="utf-8")
    refused = ('kind = "draft", of = ["draft 2020-12"]', 'kind = "without", of = ["oneOf"], top = true')
    for now, then in (("= 16384", "= 2048"), ("= 4096", "= 2048"), refused, ("merge_branches", "sort")):
        text = text.replace(now, then)
    path = tmp_path / "older.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_tools_as_a_client_show_names_refusals_and_where_instructions_are_cut(
    run: Toolsight, older: str
) -> None:
    printed = run("tools", "--client", older).stdout
    assert "mcp__library__search_catalogue" in printed
    assert "refused: its schema has oneOf" in printed
    assert "✂ instructions from library: cut after 2,048 of 3,163 characters" in printed
    data = json.loads(run("tools", "--client", older, "--json").stdout)
    assert data["before_search"]["listed"] == "names"
    assert [tool["tool"] for tool in data["tools"] if tool["refused"]]


def test_one_tool_is_shown_whole_with_its_cut(run: Toolsight, older: str) -> None:
    printed = run("tools", "library:search_catalogue", "--client", older).stdout
    assert "description cut after 2,048 of 2,539 characters (description, measured" in printed
    assert "CLAUDE_CODE_MAX_MCP_DESCRIPTION_LENGTH changes" in printed
    assert printed.index("\n- ") < printed.rindex("include_reference")


def test_several_clients_stand_side_by_side_with_their_reasons_below(run: Toolsight, older: str) -> None:
    both = ("tools", "--client", older, "--client", "cursor")
    printed = run(*both).stdout
    lend = next(line for line in printed.splitlines() if line.startswith("library:lend"))
    assert lend.split()[1:] == ["✕", "refused", "✓", "whole"]
    assert f"✕ tools are refused: 1 tool in {older} (measured)\n    library:lend: its schema has" in printed
    assert printed.index("✕ names are refused") < printed.index("~ names are changed")
    rows = {row["tool"]: row for row in json.loads(run(*both, "--json").stdout)}
    assert [one["fate"] for one in rows["library:lend"]["clients"]] == ["refused", "whole"]
    assert "oneOf" in rows["library:lend"]["declared"]["inputSchema"]


def test_a_definition_as_sent_is_marked_where_it_is_not_as_declared(run: Toolsight) -> None:
    printed = run("tools", "library:lend", "--client", "codex", "--client", "vscode").stdout
    assert "~ changed in Codex" in printed
    assert "\n- oneOf:\n" in printed[printed.index("~ changed in VS Code") :]


def test_the_list_of_clients_says_kind_by_kind_who_shows_page_two(toolsight: Toolsight) -> None:
    lines = toolsight("clients").stdout.splitlines()
    headings = [line for line in lines if line in ("coding agents", "frameworks", "editors and apps", "APIs")]
    assert headings == ["coding agents", "frameworks", "editors and apps", "APIs"]
    shown = {line.split()[0]: line.split()[1:3] for line in lines if line.startswith("  ")}
    assert shown["codex"][1] == shown["vercel-ai"][1] == "shown"
    assert shown["kimi-code"] == shown["google-adk"] == ["●", "never"]
    assert {one["kind"] for one in json.loads(toolsight("clients", "--json").stdout)} == {
        *("coding agent", "framework", "editor or app", "API")
    }


def test_what_several_clients_do_stands_side_by_side(toolsight: Toolsight, older: str) -> None:
    printed = toolsight("clients", "codex", older, "cursor").stdout
    rows = {line[:22].strip(): line[22:].split("  ") for line in printed.splitlines()}
    instructions = [cell.strip() for cell in rows["instructions"] if cell.strip()]
    assert instructions == ["◐ first line", "● to 2,048", "○ hidden"]
    assert "? not known" in printed
    assert [one["name"] for one in json.loads(toolsight("clients", "codex", "cursor", "--json").stdout)] == [
        "codex",
        "cursor",
    ]


def test_a_tool_that_a_client_refuses_has_no_rank_there(run: Toolsight, older: str) -> None:
    lend = ("search", "lend a copy", "--why", "library:lend", "--client", older)
    alone = run(*lend)
    assert alone.exit_code == 2
    assert "Claude Code refuses library:lend: its schema has oneOf at the top level" in alone.stderr
    compared = run(*lend, "--client", "codex")
    assert "refused" in compared.stdout
    assert "refuses library:lend" in run(*lend, "--try-name", "lend").stderr


def test_a_search_as_one_client_says_by_whose_rule_and_how_sure_it_is(run: Toolsight) -> None:
    assert (
        "searching as Claude Code: claude-code, 5 results (documented)"
        in run("search", "renew a loan", "--client", "claude-code").stdout
    )
    edit = ("--why", "library:lend", "--try-description", "Hand out a book.")
    assert "(open source)" in run("search", "hand out a book", *edit, "--client", "codex").stdout


@pytest.mark.parametrize(("client", "model"), [("codex", "none"), ("claude-code", "none"), ("vscode", "")])
def test_tools_are_embedded_only_for_a_client_that_compares_meanings(client: str, model: str) -> None:
    found = find_client(client)
    assert implied_by(found, (found,)).get("discovery.embedding_model", "") == model
    assert "discovery.embedding_model" not in implied_by(None, (found, find_client("vscode")))


def test_a_tool_that_a_client_loads_at_once_is_not_looked_for(toolsight: Toolsight, tmp_path: Path) -> None:
    tool = {"name": "find", "inputSchema": {"type": "object"}, "_meta": {"anthropic/alwaysLoad": True}}
    listing = tmp_path / "shop.json"
    listing.write_text(json.dumps({"tools": [tool]}))
    asked = (
        "search",
        "find",
        "--client",
        "claude-code",
        "--why",
        "shop:find",
        "--approve",
        "--",
        str(listing),
    )
    assert "Claude Code loads shop:find at once" in toolsight(*asked).stderr


def test_a_client_without_a_search_is_refused_before_anything_starts(run: Toolsight) -> None:
    done = run("search", "renew", "--client", "cursor")
    assert done.exit_code == 2
    assert "cannot search as Cursor" in done.stderr
