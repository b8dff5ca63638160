"""`toolsight sessions metrics` and the export of spans, over own and imported sessions."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from inspector.config.reader import read
from inspector.core.error import ConfigError
from inspector.core.events import SessionStarted, UserSaid
from inspector.features.trace.command import since
from inspector.store.store import SqliteStore
from tests.core.test_event import records
from tests.session.test_timeline import STORY
from tests.support.commands import Toolsight
from tests.support.transcripts import NOON, story, written

OWN, SECRET = "20260101-a", "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"
STARTED = SessionStarted("c", (), "", "m", "m", 0, profile="prd")


@pytest.fixture(scope="module")
def run(toolsight: Toolsight, database: Path, tmp_path_factory: pytest.TempPathFactory) -> Toolsight:
    """Commands over a database with one session of each kind."""
    with SqliteStore(database) as store:
        store.append_all(records([STARTED, *STORY], OWN))
    file = written(tmp_path_factory.mktemp("agent") / "story.jsonl", story())
    assert toolsight("sessions", "import", str(file)).exit_code == 0
    return toolsight


def json_of(run: Toolsight, *arguments: str) -> Any:
    done = run(*arguments, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_statistics_are_of_own_and_imported_sessions(run: Toolsight) -> None:
    said = run("sessions", "metrics").stdout
    assert any(f"2 sessions (1 from {agent}, " in said for agent in ("claude-code", "toolsight"))
    assert all(
        title in said
        for title in ("Discovery", "Tools used", "Latency", "Failures and breakers", "Unmet requests")
    )
    told = json_of(run, "sessions", "metrics")
    assert (told["sessions"], told["discovery"]["searches"]) == (2, 3)
    assert told["discovery"]["used"] == {"count": 1, "of": 2, **_interval(told["discovery"]["used"])}
    assert told["calls"]["tools"]["shop:list"]["latency_ms"]["p50"] == 12.0


def _interval(share: dict[str, Any]) -> dict[str, float]:
    assert 0 <= share["low"] <= share["share"] == 0.5 <= share["high"] <= 1
    return {name: share[name] for name in ("share", "low", "high")}


@pytest.mark.parametrize(
    ("chosen", "sessions"),
    [
        ((), 2),
        ((OWN,), 1),
        (("--agent", "toolsight"), 1),
        (("--agent", "claude-code"), 1),
        (("--since", "2026-01-01"), 1),
        (("--since", "1d"), 0),
    ],
)
def test_sessions_are_chosen_by_name_agent_and_age(
    run: Toolsight, chosen: tuple[str, ...], sessions: int
) -> None:
    assert json_of(run, "sessions", "metrics", *chosen)["sessions"] == sessions


def test_the_backlog_tells_what_was_asked_for_and_found_instead(run: Toolsight) -> None:
    found = {one["queries"][0]: one for one in json_of(run, "sessions", "metrics")["backlog"]}
    missed = found["overdue deliveries"]
    assert (missed["found"], missed["called_instead"]) == ({"shop:list_orders": 1}, {"shop:late_orders": 1})
    assert (missed["causes"], missed["count"]) == ({"searched again": 1}, 1)
    assert found["orders"]["causes"] == {"found nothing": 1}


def test_searches_in_vain_are_offered_as_phrases_that_a_configuration_takes(
    run: Toolsight, tmp_path: Path
) -> None:
    said = run("sessions", "metrics", "--phrases").stdout
    assert re.search(r"1 +shop +overdue deliveries +shop:late_orders +late orders", said)
    offered = json_of(run, "sessions", "metrics", "--phrases")
    assert offered == {"shop": {"orders": "list", "overdue deliveries": "late orders"}}
    own = ("sessions", "metrics", "--phrases", "--agent", "toolsight")
    assert json_of(run, *own) == {"shop": {"orders": "list"}}
    assert "No search was in vain" in run("sessions", "metrics", "--phrases", "--since", "1d").stdout
    file = tmp_path / "c.json"
    file.write_text(json.dumps({"mcpServers": {"shop": {"command": "x", "phrases": offered["shop"]}}}))
    assert read(file, environment={}).servers[0].phrases == offered["shop"]


def test_a_session_is_printed_as_spans_without_and_with_what_was_said(run: Toolsight) -> None:
    [imported] = [one["id"] for one in json_of(run, "sessions") if one["agent"]]
    plain = run("sessions", "show", imported, "--as", "spans").stdout
    full = run("sessions", "show", imported, "--content").stdout
    assert len(json.loads(full)["resourceSpans"][0]["scopeSpans"][0]["spans"]) > 3
    assert ("late?" in plain, "late?" in full) == (False, True)
    assert SECRET not in full


def test_what_an_older_version_recorded_is_redacted_before_it_leaves(run: Toolsight, database: Path) -> None:
    with SqliteStore(database) as store:
        store.append_all(records([STARTED, UserSaid(f"my key is {SECRET}")], "20250101-old"))
    assert "my key is [redacted]" in run("sessions", "show", "20250101-old", "--content").stdout
    run("sessions", "forget", "20250101-old")


def test_options_of_spans_and_of_events_are_not_mixed(run: Toolsight) -> None:
    assert run("sessions", "show", OWN, "--content", "--as", "events").exit_code == 2
    assert run("sessions", "show", OWN, "--content", "--limit", "3").exit_code == 2


def test_ages_and_dates_are_moments() -> None:
    assert since("7d", NOON) == NOON - 7 * 86_400
    assert since("2026-01-01", NOON) == 1_767_225_600
    assert since("2026-01-01T00:00:00+01:00", NOON) == 1_767_222_000
    assert since("999999999999999d", NOON) == 0.0
    with pytest.raises(ConfigError):
        since("d", NOON)
