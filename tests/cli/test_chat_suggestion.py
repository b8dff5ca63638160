"""What a chat without the app tells a person of the marketplace, and that the command it names works."""

import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from inspector.cli.chat import Transcript, how_to_install
from inspector.cli.options import Options
from inspector.core.events import MarketplaceSearched, Record
from inspector.core.marketplace import MarketplaceReport, Suggestion
from inspector.core.ranking import Score
from inspector.registry.marketplace.marketplace import suggestion
from tests.cli.conftest import Toolsight
from tests.support.hostile import with_hostile_text
from tests.support.marketplace import CURRENCY
from tests.widgets.hostile import dangerous

SERVERS = Path(__file__).resolve().parents[2] / "fixtures" / "servers"
RATES = "exchange rate of the euro"
FITS = suggestion(CURRENCY, 0.93, "convert_currency", Score("currency:convert_currency", 1.0))


def printed(capsys: pytest.CaptureFixture[str], *found: Suggestion, chosen: Options | None = None) -> str:
    transcript = Transcript(lambda plugin: how_to_install(chosen or Options(), plugin))
    searched = MarketplaceSearched(MarketplaceReport(RATES, found), "for the model")
    transcript.on_record(Record("s", 1, 0.0, searched))
    return capsys.readouterr().out


def test_a_suggested_plugin_is_shown_to_the_person(capsys: pytest.CaptureFixture[str]) -> None:
    title, plugin, advice = printed(capsys, FITS).splitlines()
    assert title == "  ◇ in the marketplace, not installed:"
    assert plugin.startswith("    currency (Somebody, free, rated 4.5 of 5)  fits 93 %  Converts money")
    assert advice == "    install it: toolsight marketplace install currency"


def test_the_command_has_the_options_that_find_the_same_plugin_and_file() -> None:
    chosen = Options(
        config=Path("my files/mcp.json"),
        values={"marketplace.catalogs": ("a b.json", "c.json")},
        database=Path("t.db"),
    )
    (line,) = how_to_install(chosen, "acme/money")
    assert line == (
        "install it: toolsight marketplace install acme/money --config 'my files/mcp.json' "
        "--catalog 'a b.json' --catalog c.json --db t.db"
    )
    (line,) = how_to_install(Options(server=("python", "mine.py")), "acme/money")
    assert line.endswith("install acme/money --config FILE")


def test_in_the_demo_a_person_is_sent_to_the_app_where_an_installation_lasts() -> None:
    look, install = how_to_install(Options(demo=True), "fixtures/currency")
    assert look == "details: toolsight marketplace show fixtures/currency --demo"
    assert install.startswith("install it on the Marketplace page")


def test_who_may_not_install_is_told_no_command() -> None:
    (line,) = how_to_install(Options(demo=True), "fixtures/currency", whole=False)
    assert line == "only the administrator can install plugins"


@pytest.mark.parametrize("name", ["--yes", "a; rm -r .", "$(id)", "`id`", "a\nb", "x" * 101, "é", ""])
def test_a_name_that_a_shell_reads_as_more_is_in_no_command(name: str) -> None:
    (line,) = how_to_install(Options(), name)
    assert line == "install it: toolsight marketplace install NAME"


@with_hostile_text
def test_the_texts_of_a_plugin_can_neither_harm_the_terminal_nor_fill_it(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = replace(FITS, plugin=text, description=text, publisher=text, category=text, tools=(text,))
    shown = printed(capsys, hostile)
    assert shown.count("\n") == 3
    assert not dangerous(shown.replace("\n", ""))
    assert len(shown) < 3_500


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, ...]:
    """A configuration of one small server, a catalog, and a model that searches for exchange rates."""
    clock = {"command": sys.executable, "args": [str(SERVERS / "clock.py")], "defer_loading": True}
    package = {"kind": "module", "command": sys.executable, "args": [str(SERVERS / "currency.py")]}
    plugin = {"name": "acme/currency", "description": "Converts money at exchange rates.", "package": package}
    steps = [{"calls": [{"tool": "search_tools", "arguments": {"query": RATES}}]}, {"say": "Nobody can."}]
    contents = {
        "mcp.json": {"tool_discovery": {"enabled": True}, "mcpServers": {"clock": clock}},
        "catalog.json": {"toolsight_marketplace": 1, "plugins": [plugin]},
        "script.yaml": {"title": "rates", "turns": [{"user": "?", "steps": steps}]},
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(json.dumps(content))
    values = (
        f"marketplace.catalogs={tmp_path / 'catalog.json'}",
        "discovery.auto=always",
        "discovery.embedding_model=none",
    )
    model = ("--model", f"demo/script:{tmp_path / 'script.yaml'}")
    settings = [word for value in values for word in ("--set", value)]
    return (RATES, "--config", str(tmp_path / "mcp.json"), "--approve", *model, *settings)


def test_the_command_that_a_chat_names_installs_what_it_suggests(
    toolsight: Toolsight, files: tuple[str, ...], tmp_path: Path
) -> None:
    told = toolsight("chat", *files).stdout
    (line,) = [line for line in told.splitlines() if "install it: " in line]
    program, *words = shlex.split(line.split("install it: ")[1])
    assert program == "toolsight"
    done = toolsight(*words, "--yes", "--set", "discovery.embedding_model=none")
    assert done.exit_code == 0, done.stderr
    assert "currency" in json.loads((tmp_path / "mcp.json").read_text())["mcpServers"]
