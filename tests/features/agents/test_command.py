"""Transcripts from the command line: imported, followed, summed up, turned into requests, forgotten."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.cli.table import Cancellation
from inspector.core.events import Origin, Record, SessionStarted
from inspector.features.agents.transcript_file.format import Format
from inspector.features.trace import session_rows as content
from inspector.store.store import SqliteStore
from tests.support.commands import Toolsight, in_process
from tests.support.transcripts import (
    FILES,
    SECRET,
    SESSION,
    SMALL,
    WITHOUT_COSTS,
    records,
    story,
    written,
)

STORY = "claude-code-6d1f2c9a-54c9394f"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "record" / "toolsight.db"


_MOVING = (
    *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "XDG_DATA_HOME", "VIBE_HOME", "CONTINUE_GLOBAL_DIR"),
    *("QWEN_HOME", "GEMINI_CLI_HOME", "CLINE_DATA_DIR", "FACTORY_HOME_OVERRIDE"),
)
_UNMOVED = dict.fromkeys(_MOVING, "")


@pytest.fixture
def run(database: Path, tmp_path: Path) -> Toolsight:
    home = str(tmp_path / "home")
    return in_process({"TOOLSIGHT_DB": str(database), "COLUMNS": "200", "HOME": home, **_UNMOVED})


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return written(tmp_path / "transcripts" / f"{SESSION}.jsonl", story())


def json_of(run: Toolsight, *arguments: str) -> Any:
    return json.loads(run(*arguments, "--json").stdout)


def test_a_transcript_is_a_session_like_any_other(run: Toolsight, transcript: Path) -> None:
    assert "1 transcript: 1 new" in run("sessions", "import", str(transcript)).stdout
    assert STORY in run("sessions").stdout
    assert "claude-code 2.1.0  /home/ada/shop" in run("sessions", "show", "--as", "events", STORY).stdout
    assert "“late orders” -> 1, best shop:late_orders" in run("sessions", "show", STORY).stdout


def test_a_file_that_is_no_transcript_is_skipped_beside_others_and_refused_alone(
    run: Toolsight, transcript: Path, tmp_path: Path
) -> None:
    other = tmp_path / "notes.jsonl"
    other.write_text("hello\n")
    both = run("sessions", "import", str(transcript), str(other))
    assert both.exit_code == 0
    assert "skipped" in both.stderr
    alone = run("sessions", "import", str(other))
    assert alone.exit_code == 2
    assert "docs/papers/transcripts.md" in alone.stderr
    assert alone.stderr.count(str(other)) == 1, "the file is named once"


def test_an_agents_folder_is_not_opened_without_a_yes(run: Toolsight, tmp_path: Path) -> None:
    written(tmp_path / "home" / ".claude" / "projects" / "shop" / "a.jsonl", story())
    refused = run("sessions", "import", "--agent", "claude-code")
    assert refused.exit_code == 2
    assert "claude-code: 1 file" in refused.stderr
    assert json_of(run, "sessions") == []
    assert run("sessions", "import", "--agent", "claude-code", "--yes").exit_code == 0
    assert [one["id"] for one in json_of(run, "sessions")] == [STORY]


def test_an_agents_folder_that_was_moved_is_found(run: Toolsight, tmp_path: Path) -> None:
    written(tmp_path / "moved" / "projects" / "a.jsonl", story())
    moved = str(tmp_path / "moved")
    done = run("sessions", "import", "--agent", "claude-code", "--yes", CLAUDE_CONFIG_DIR=moved)
    assert "1 transcript: 1 new" in done.stdout


HOMES = {
    Format.QWEN: ".qwen/projects/bakery/chats/qwen.jsonl",
    Format.GEMINI: ".gemini/tmp/bakery/chats/gemini.jsonl",
    Format.CLINE: ".cline/data/sessions/cline",
    Format.CONTINUE: ".continue/sessions/continue.json",
    Format.KIMI: ".kimi-code/sessions/bakery/kimi",
    Format.VIBE: ".vibe/logs/session/unified/vibe",
    Format.DROID: ".factory/sessions/droid",
    Format.OPENHANDS: ".openhands/conversations/openhands",
    Format.GPTME: ".local/share/gptme/logs/bread/gptme.jsonl",
}


@pytest.mark.parametrize("kind", HOMES)
def test_every_agents_sessions_are_found_in_its_own_folder(
    kind: Format, run: Toolsight, tmp_path: Path
) -> None:
    place = tmp_path / "home" / HOMES[kind]
    place.parent.mkdir(parents=True)
    source = SMALL / place.name
    shutil.copytree(source, place) if source.is_dir() else shutil.copy(source, place)
    done = run("sessions", "import", "--agent", kind.value, "--yes")
    assert "1 transcript: 1 new" in done.stdout
    assert f"{kind}: 1 session, 3 model calls, 3 tool calls (1 failed)" in done.stdout
    assert ("have no costs" in done.stdout) == (kind in WITHOUT_COSTS)


def waiting(*steps: Callable[[], None]) -> Callable[[Cancellation], Callable[[], bool]]:
    """In place of waiting, do these steps, one whenever there is nothing new; after the last, stop."""
    left = iter(steps)

    def wait() -> bool:
        step = next(left, None)
        if step is not None:
            step()
        return step is not None

    return lambda _stopped: wait


def test_a_running_agent_is_shown_as_it_writes(
    run: Toolsight, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = story()

    def add(*more: str) -> Callable[[], None]:
        def step() -> None:
            with transcript.open("a") as file:
                file.write("".join(more))

        return step

    written(transcript, lines[:3])
    halves = lines[3][:40], f"{lines[3][40:]}\n{lines[4]}\n"
    monkeypatch.setattr("inspector.features.agents.command.waiting", waiting(add(halves[0]), add(halves[1])))
    shown = run("sessions", "import", "--follow", str(transcript))
    assert "search    “overdue deliveries” -> 1, best shop:list_orders" in shown.stdout
    assert SECRET not in shown.stdout

    written(transcript, lines)
    monkeypatch.setattr("inspector.features.agents.command.waiting", waiting())
    later = run("sessions", "import", "--follow", str(transcript))
    assert "“late orders”" in later.stdout
    assert "“overdue deliveries” -> 1" not in later.stdout
    followed = json_of(run, "sessions", "show", "--as", "events", STORY)
    assert json_of(run, "sessions", "import", str(transcript))["events_stored"] == 0
    assert [one["seq"] for one in followed] == list(range(1, len(followed) + 1))


def test_a_document_that_is_written_anew_is_followed(
    run: Toolsight, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [document] = records(FILES[Format.CONTINUE])
    path = tmp_path / "session.json"

    def write(messages: int) -> None:
        path.write_text(json.dumps({**document, "history": document["history"][:messages]}, indent=1))

    def cut() -> None:
        path.write_text(path.read_text()[:-40])

    # What is there at the end is broken: the rest was read as soon as it was written.
    write(2)
    steps = waiting(cut, lambda: write(4), cut)
    monkeypatch.setattr("inspector.features.agents.command.waiting", steps)
    shown = run("sessions", "import", "--follow", str(path)).stdout
    assert shown.count("Order 20 kg") == 1
    assert shown.index("mcp:order_flour") < shown.index("mcp:bake") < shown.index("the oven is cold.")
    write(4)
    assert json_of(run, "sessions", "import", str(path))["events_stored"] == 1, "the end of the turn"


def test_the_report_shows_servers_misses_and_money(run: Toolsight, transcript: Path) -> None:
    run("sessions", "import", str(transcript))
    report = run("sessions", "agents").stdout
    assert "1 session (1 from claude-code)" in report
    assert "at list prices" in report
    assert "2 searches, 1 missed" in report
    assert "1x login" in report
    told = json_of(run, "sessions", "agents")
    shop = next(one for one in told["servers"] if one["server"] == "shop")
    assert shop["loaded_never_called"] == ["shop:list_orders"]
    assert shop["definition_tokens"] is None
    assert told["cache_rewrites"][0]["cause"] == "the conversation was compacted"


def test_a_session_that_is_forgotten_can_be_imported_again(run: Toolsight, transcript: Path) -> None:
    run("sessions", "import", str(transcript))
    assert "deleted 1 session" in run("sessions", "forget", STORY).stdout
    assert json_of(run, "sessions") == []
    assert run("sessions", "forget", STORY).exit_code == 1
    assert json_of(run, "sessions", "import", str(transcript))["sessions"][0]["is_new"] is True


def test_an_odd_time_in_the_store_does_not_end_the_lists(run: Toolsight, database: Path) -> None:
    start = SessionStarted("", (), "", "m", "m", 0, origin=Origin("codex"))
    with SqliteStore(database) as store:
        store.append(Record("odd", 1, 9e15, start))
    for command in (
        ("sessions",),
        ("sessions", "show", "--as", "events", "odd"),
        ("sessions", "show", "odd"),
    ):
        shown = run(*command)
        assert shown.exit_code == 0, shown.stderr
    assert "?" in run("sessions").stdout
    assert content.rows(SqliteStore(database).sessions(), {}, {})[0].copy == "odd"
