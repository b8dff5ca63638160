"""The marketplace on the command line: real servers are installed in real files, and removed again."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Toolsight

SERVERS = Path(__file__).resolve().parents[3] / "fixtures" / "servers"


def _plugin(name: str, command: str, *args: str, **package: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": "Converts amounts of money at the exchange rates of a day.",
        "tools": [{"name": "get_exchange_rate", "description": "The exchange rate of two currencies."}],
        "package": {"kind": "module", "command": command, "args": list(args), **package},
    }


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "mcp.json"
    path.write_text('{\n  // mine\n  "mcpServers": {\n    "other": {"command": "never-started"}\n  }\n}\n')
    return path


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    path = tmp_path / "catalog.json"
    plugins = [
        _plugin("acme/currency", sys.executable, str(SERVERS / "currency.py")),
        _plugin("acme/missing", "/no/such/command"),
        _plugin("acme/exits", sys.executable, "-c", "raise SystemExit(3)"),
        _plugin("acme/silent", sys.executable, "-c", "print('no protocol')"),
        _plugin("acme/keyed", sys.executable, variables=[{"name": "ACME_TOKEN", "required": True}]),
        {"name": "acme/broken"},
    ]
    path.write_text(json.dumps({"toolsight_marketplace": 1, "plugins": plugins}))
    return path


def _options(config: Path, catalog: Path) -> tuple[str, ...]:
    return (
        "--config",
        str(config),
        "--set",
        f"marketplace.catalogs={catalog}",
        "--set",
        "discovery.embedding_model=none",
    )


@pytest.mark.slow
def test_a_real_server_is_installed_in_a_real_file_and_removed_again(
    toolsight: Toolsight, config: Path, catalog: Path
) -> None:
    before, options = config.read_text(), _options(config, catalog)
    done = toolsight("marketplace", "install", "currency", "--yes", "--json", *options)
    told = json.loads(done.stdout)
    assert told["tools"] == [
        *("currency:convert_currency", "currency:get_exchange_rate", "currency:list_currencies"),
    ]
    assert "would change; a backup is kept next to it" in done.stderr
    assert Path(told["backup"]).read_text() == before
    assert "// mine" in config.read_text()
    assert "installed as currency" in toolsight("marketplace", "search", *options).stdout
    done = toolsight("marketplace", "remove", "currency", "--yes", *options)
    assert (done.exit_code, config.read_text()) == (0, before)


def test_without_a_yes_nothing_is_started_or_written(
    toolsight: Toolsight, config: Path, catalog: Path
) -> None:
    before = config.read_bytes()
    done = toolsight("marketplace", "install", "acme/exits", *_options(config, catalog))
    assert done.exit_code == 1
    assert "-c 'raise SystemExit(3)'" in done.stderr
    assert "did not confirm" in done.stderr
    assert config.read_bytes() == before


@pytest.mark.parametrize("command", [("search",), ("search", "exchange rate")])
def test_prices_and_ratings_are_printed_where_a_catalog_has_some(
    toolsight: Toolsight, config: Path, catalog: Path, command: tuple[str, ...]
) -> None:
    options = _options(config, catalog)
    header = toolsight("marketplace", *command, *options).stdout.splitlines()[0].split()
    assert {"plugin", "category"} <= set(header)
    assert not {"price", "rating"} & set(header)
    known = json.loads(catalog.read_text())
    known["plugins"][0] |= {"price": 9, "rating": 4.5}
    catalog.write_text(json.dumps(known))
    told = toolsight("marketplace", *command, *options).stdout
    assert {"price", "rating"} <= set(told.splitlines()[0].split())
    row = next(line for line in told.splitlines() if "acme/currency" in line)
    assert "$9.00/month" in row
    assert "4.5" in row


def test_a_snapshot_of_a_registry_is_imported_with_its_bad_entries_counted(
    toolsight: Toolsight, tmp_path: Path
) -> None:
    package = {
        "registryType": "pypi",
        "identifier": "acme-time",
        "version": "1.0",
        "transport": {"type": "stdio"},
    }
    good = {"name": "com.acme/time", "description": "Times.", "version": "1.0", "packages": [package]}
    snapshot = tmp_path / "snapshot.json"
    snapshot.write_text(json.dumps({"servers": [{"server": good}, {"server": {"name": 3}}], "metadata": {}}))
    done = toolsight("marketplace", "import", str(snapshot), "--db", str(tmp_path / "t.db"), "--json")
    told = json.loads(done.stdout)
    assert (told["plugins"], len(told["problems"])) == (1, 1)
    shown = toolsight("marketplace", "show", "com.acme/time", "--db", str(tmp_path / "t.db"))
    assert "uvx acme-time@1.0" in shown.stdout


def test_a_user_is_refused_before_anything_is_asked(
    toolsight: Toolsight, config: Path, catalog: Path, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text('organisations: {acme: {users: {ada: {tools: ["other:*"]}}}}')
    options = (*_options(config, catalog), "--policy", str(policy), "--user", "ada")
    before = config.read_text()
    for command in (("install", "keyed"), ("install", "currency", "--yes"), ("remove", "other", "--yes")):
        done = toolsight("marketplace", *command, *options)
        assert done.exit_code == 1
        assert "only the administrator can" in done.stderr
        assert "ACME_TOKEN" not in done.stderr
        assert str(config) not in done.stderr
    shown = json.loads(toolsight("marketplace", "show", "currency", "--json", *options).stdout)
    assert "only the administrator" in shown["refused"]
    assert config.read_text() == before
