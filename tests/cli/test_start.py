"""What the app can be opened on, and what a user's session is opened with."""

import json
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from msgspec.structs import replace

from inspector.app.app import ToolsightApp
from inspector.app.opening import Opened
from inspector.app.place import TracePage
from inspector.app.start import Opens
from inspector.cli.open_app import _start
from inspector.cli.options import Options
from inspector.cli.start import problem, ways
from inspector.core.events import Origin, Record, SessionStarted
from inspector.store.shared_session import packed
from inspector.store.store import SqliteStore
from tests.core.test_event import records
from tests.session.test_timeline import STORY


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder, which is the current folder too."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def options(home: Path) -> Options:
    return Options(database=home / "t.db")


def session(options: Options, name: str, config: str, origin: Origin | None = None) -> None:
    assert options.database is not None
    with SqliteStore(options.database) as store:
        store.append(Record(name, 1, 1.0, SessionStarted(config, (), "", "m", "m", 1000, origin=origin)))


async def _never() -> Opened:
    raise AssertionError


async def test_a_session_in_a_file_is_opened_beside_the_persons_own_and_starts_nothing(
    options: Options, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(home / "temporary"))
    (home / "temporary").mkdir()
    file = home / "run of ann.toolsight"
    file.write_bytes(packed("20260101-a", records(STORY)))
    assert problem((str(file),)) == ""
    (home / ".mcp.json").write_text('{"mcpServers": {"own": {"command": "true"}}}')
    async with AsyncExitStack() as stack:
        named = replace(options, server=(str(file),))
        opened = await _start(ToolsightApp(_never), named, stack, watch=False)
        assert opened.first == TracePage("20260101-a")
        assert opened.bench.whole_configuration.servers == ()
        assert not opened.bench.settings.record.max_days, "else a session of 1970 would be forgotten at once"
        assert [one.id for one in opened.bench.recorded_sessions()] == ["20260101-a"]
    assert not any((home / "temporary").iterdir())
    assert not (home / "t.db").exists()


def test_without_anything_there_is_the_demo(options: Options) -> None:
    (demo,) = ways(options)
    assert demo.opens == Opens(demo=True)
    assert (demo.title, demo.servers) == ("9 demo servers", "weather, home-automation, notes, files, …")


def test_a_clients_configuration_is_found_with_its_servers(home: Path, options: Options) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"mcpServers": {"notes": {"command": "notes"}, "shop": {"command": "shop"}}}))
    found, _ = ways(options)
    assert (found.kind, found.opens) == ("found", Opens(config=str(file)))
    assert "Cursor" in found.title
    assert "~/.cursor/mcp.json" in found.title
    assert found.servers == "notes, shop"


def test_what_was_used_before_comes_first_and_once(home: Path, options: Options) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"mcpServers": {"notes": {"command": "notes"}}}))
    session(options, "1", str(file))
    session(options, "2", "sh -c 'exit 0'")
    session(options, "3", "no-such-command --here")
    session(options, "4", str(home / "gone.json"))
    assert {way.opens for way in ways(options)} == {
        Opens(config=str(file)),
        Opens(server=("sh", "-c", "exit 0")),
        Opens(demo=True),
    }
    assert [way.kind for way in ways(options)] == ["recent", "recent", "demo"]


def test_what_an_agent_did_with_a_server_named_like_a_program_was_not_opened_here(options: Options) -> None:
    session(options, "1", "sh", Origin("claude-code"))
    assert [way.kind for way in ways(options)] == ["demo"]


def test_a_broken_file_of_a_client_hides_nothing_else(home: Path, options: Options) -> None:
    for folder, text in ((".cursor", "{"), (".gemini", json.dumps({"mcpServers": {"a": {"command": "b"}}}))):
        (home / folder).mkdir()
        (home / folder / ("mcp.json" if folder == ".cursor" else "settings.json")).write_text(text)
    assert [way.kind for way in ways(options)] == ["found", "demo"]


@pytest.mark.usefixtures("home")
def test_words_that_start_nothing_say_why() -> None:
    assert problem(("sh", "-c", "true")) == ""
    assert "no-such-command" in problem(("no-such-command", "x"))
