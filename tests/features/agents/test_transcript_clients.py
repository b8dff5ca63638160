"""Sessions of eleven clients, each in its own shape: the same bread is baked in all of them."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from inspector.core.error import ConfigError
from inspector.core.message import Usage
from inspector.features.agents.importing import Importer
from inspector.features.agents.transcript import (
    TOTALS,
    Answered,
    Asked,
    Begun,
    Called,
    Counts,
    Interrupted,
    Searched,
    ToolsOffered,
    ToolsWithdrawn,
)
from inspector.features.agents.transcript_file.format import Format, files_of
from inspector.features.agents.transcript_file.reader import find_transcripts, line_reader, open_transcript
from inspector.store.store import MemoryStore
from tests.support.fakes import WordCounter
from tests.support.transcripts import (
    FILES,
    SMALL,
    WITHOUT_COSTS,
    Claude,
    called,
    event,
    of,
    read,
    records,
    said,
    whole,
)

CLIENTS = list(FILES)[5:]
every_client = pytest.mark.parametrize("kind", CLIENTS)
DEFINED = {Format.QWEN, Format.KIMI, Format.VIBE, Format.OPENHANDS}
SEARCHING = {Format.QWEN, Format.VIBE, Format.DROID}


@every_client
def test_calls_requests_tokens_and_costs_are_those_that_the_file_has(kind: Format) -> None:
    transcript = open_transcript(FILES[kind])
    run = Importer(MemoryStore(), lambda _: WordCounter()).run(transcript.entries(), file="f", at=1.0)
    [session] = run.sessions
    dollars = None if kind in WITHOUT_COSTS else pytest.approx(0.03)
    found = session.counts
    assert (session.agent, found.requests, found.calls, found.failed) == (kind, 3, 3, 1)
    assert (found.input, found.output) == (3300, 42)
    assert found.dollars == dollars
    lacks = ("no costs",) * (kind in WITHOUT_COSTS) + ("no tool definitions",) * (kind not in DEFINED)
    assert found.lacks == lacks
    assert not transcript.tally.unknown + transcript.tally.malformed


@every_client
def test_each_call_has_its_tool_its_arguments_and_what_came_back(kind: Format) -> None:
    entries = whole(FILES[kind])
    flour, bake = (one for one in of(Called, entries) if one.tool.server)
    server = "mcp" if kind is Format.CONTINUE else "bakery"
    assert [(one.tool.server, one.tool.name, one.ok) for one in (flour, bake)] == [
        (server, "order_flour", True),
        (server, "bake", False),
    ]
    assert flour.arguments == {"kind": "rye", "kilograms": 20}
    assert "ordered" in flour.text
    assert "the oven is cold" in bake.text
    assert [one.text for one in of(Asked, entries)] == ["Order 20 kg of rye flour, and bake."]
    answers = [one for one in of(Answered, entries) if one.finish_reason != TOTALS]
    assert [one.text for one in answers] == ["I look.", "", "The flour is ordered; the oven is cold."]
    assert sum(one.usage.cached_tokens or 0 for one in of(Answered, entries)) == 1900
    [begun] = of(Begun, entries)
    assert begun.session.removeprefix("ses_") == ("" if kind is Format.GPTME else "5e55-bakery")
    names = ["order_flour", "bake"] * (kind in SEARCHING)
    assert [tool.name for one in of(Searched, entries) for tool in one.found] == names


def test_a_transcript_of_several_files_is_found_once(tmp_path: Path) -> None:
    shutil.copytree(SMALL, tmp_path / "all")
    history = tmp_path / "all" / "fast-agent" / "history_baker.json"
    shutil.copy(history, history.with_name("history_baker_previous.json"))
    found = [open_transcript(path).format for path in find_transcripts(tmp_path / "all")]
    assert sorted(found) == sorted([*FILES, Format.CLAUDE_CODE, Format.CODEX])
    last = max((tmp_path / "all" / "openhands" / "events").iterdir())
    assert list(open_transcript(last).entries()) == whole(FILES[Format.OPENHANDS])
    alone = Path(shutil.copy(last, last.with_name("copy.json")))
    assert open_transcript(alone).path == alone, "what else is in a folder is not its conversation"


def test_another_agent_of_fast_agents_session_is_a_session_below_it(tmp_path: Path) -> None:
    shutil.copytree(FILES[Format.FAST_AGENT].parent, tmp_path / "s")
    (tmp_path / "s" / "history_baker.json").rename(tmp_path / "s" / "history_miller.json")
    [begun] = of(Begun, list(open_transcript(tmp_path / "s" / "history_miller.json").entries()))
    assert (begun.session, begun.parent) == ("5e55-bakery/miller", "5e55-bakery")


def test_another_agent_of_kimis_session_is_a_session_below_it() -> None:
    state, *own = records(FILES[Format.KIMI])
    helper = [{**one, "agentId": "helper"} if "agentId" in one else one for one in own]
    [begun] = of(Begun, read(Format.KIMI, state, *helper))
    assert (begun.session, begun.parent) == ("5e55-bakery/helper", "5e55-bakery")


def test_what_a_call_of_vibes_code_returned_is_not_what_the_model_read() -> None:
    calls = of(Called, whole(FILES[Format.VIBE]))
    assert [(one.tool.name, one.unread) for one in calls] == [
        ("order_flour", True),
        ("bake", True),
        ("run_typescript", False),
    ]


def database(path: Path, document: dict[str, Any]) -> sqlite3.Connection:
    """An export as opencode has it in its database, which stays open."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(
        "PRAGMA journal_mode = WAL;"
        "CREATE TABLE session (id, parent_id, directory, version, time_created);"
        "CREATE TABLE message (id, session_id, time_created, data);"
        "CREATE TABLE part (id, message_id, session_id, data);"
    )
    info = document["info"]
    told = (info["id"], None, info["directory"], info["version"], info["time"]["created"])
    connection.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?)", told)
    for message in reversed(document["messages"]):
        write(connection, message)
    return connection


def write(connection: sqlite3.Connection, message: dict[str, Any]) -> None:
    """A message and its parts."""
    info = message["info"]
    row = (info["id"], info["sessionID"], info["time"]["created"], json.dumps(info))
    connection.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
    for number, part in reversed(list(enumerate(message["parts"]))):
        row = (f"{info['id']}-{number}", info["id"], info["sessionID"], json.dumps(part))
        connection.execute("INSERT INTO part VALUES (?, ?, ?, ?)", row)


def test_a_database_is_read_while_it_is_open_and_after(tmp_path: Path) -> None:
    [document] = records(FILES[Format.OPENCODE])
    *before, last = document["messages"]
    path = tmp_path / "opencode.db"
    connection = database(path, {**document, "messages": before})
    there = sorted(tmp_path.iterdir())
    transcript = open_transcript(path)
    full = whole(FILES[Format.OPENCODE])
    assert list(transcript.entries()) == full[:-1]
    write(connection, last)
    assert list(transcript.entries()) == full
    assert sorted(tmp_path.iterdir()) == there
    connection.close()
    data = path.read_bytes()
    assert list(transcript.entries()) == full
    assert (sorted(tmp_path.iterdir()), path.read_bytes()) == ([path], data)


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("CREATE TABLE session (id)")
    with pytest.raises(ConfigError, match="not a transcript"):
        open_transcript(tmp_path / "a.db")


Damage = Callable[[bytes], bytes]
damages: st.SearchStrategy[Damage] = st.one_of(
    st.floats(0, 1).map(lambda cut: lambda data: data[: int(len(data) * cut)]),
    st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=40)).map(
        lambda pair: (
            lambda data: (
                data[: int(len(data) * pair[0])] + pair[1] + data[int(len(data) * pair[0]) + len(pair[1]) :]
            )
        )
    ),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kind=st.sampled_from(CLIENTS), as_database=st.booleans(), damage=damages, data=st.data())
def test_a_damaged_file_never_raises_anything_but_a_config_error(
    kind: Format,
    as_database: bool,
    damage: Damage,
    data: st.DataObject,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    if as_database:
        database(folder / "opencode.db", records(FILES[Format.OPENCODE])[0]).close()
        path = folder / "opencode.db"
        hurt = path
    else:
        shutil.copytree(SMALL, folder, dirs_exist_ok=True)
        path = folder / FILES[kind].relative_to(SMALL)
        hurt = data.draw(st.sampled_from(files_of(kind, path)))
    hurt.write_bytes(damage(hurt.read_bytes()))
    with suppress(ConfigError):
        transcript = open_transcript(path)
        assert list(transcript.entries()) or transcript.tally.unknown + transcript.tally.malformed
    shutil.rmtree(folder)


IN_ROLES = {Format.CLINE, Format.CONTINUE, Format.DROID, Format.FAST_AGENT, Format.GPTME}


@pytest.mark.parametrize("kind", sorted(IN_ROLES | {Format.OPENCODE, Format.OPENHANDS}))
def test_a_message_of_another_role_is_counted_by_it(kind: Format) -> None:
    def novel(value: Any) -> Any:
        if isinstance(value, dict):
            odd = {"role": "novelty"} if value.get("role") == "assistant" else {}
            return {key: novel(inner) for key, inner in {**value, **odd}.items()}
        return [novel(one) for one in value] if isinstance(value, list) else value

    reader = line_reader(kind)
    for one in records(FILES[kind]):
        reader.read(novel(one))
    assert reader.tally.unknown["message of novelty"]


def test_a_request_of_claude_code_tells_what_was_bound_in_its_call() -> None:
    claude = Claude()

    def tool(name: str, **more: Any) -> dict[str, Any]:
        return {"name": name, "description": f"{name} it.", "input_schema": {"type": "object"}, **more}

    def shape(hash_: str, *tools: dict[str, Any]) -> dict[str, Any]:
        return {"type": "api-request-shape", "sessionId": "s", "shapeHash": hash_, "shape": {"tools": tools}}

    def request(id_: str, hash_: str) -> dict[str, Any]:
        return {"type": "api-request", "sessionId": "s", "id": id_, "shapeHash": hash_}

    bash, flour = tool("Bash"), tool("mcp__bakery__order_flour", defer_loading=True)
    entries = read(
        Format.CLAUDE_CODE,
        claude.asked("Flour?"),
        shape("one", bash, flour),
        {"type": "api-request-blob", "sessionId": "s", "hash": "b", "message": {"role": "user"}},
        request("r1", "one"),
        {"type": "tools-used", "tools": ["Bash"], "sessionId": "s"},
        claude.answer("m1", called("c1"), requestRef="r1"),
        claude.result("c1", "ordered"),
        request("r2", "one"),
        claude.answer("m2", said("Done."), requestRef="r2"),
        shape("two", flour),
        request("r3", "two"),
        claude.answer("m3", said("Bye."), requestRef="r3"),
        {"type": "cost-state", "sessionId": "s", "totalCostUSD": 0.25},
        {"type": "cost-state", "sessionId": "s", "totalCostUSD": 0.4},
    )
    kinds = [type(one) for one in entries]
    assert kinds[2:5] == [ToolsOffered, ToolsOffered, Answered], "they are known before the answer"
    bound, deferred = of(ToolsOffered, entries)
    assert [tool.name for tool in bound.tools] == ["Bash"]
    assert bound.tools[0].definition == {
        "name": "Bash",
        "description": "Bash it.",
        "parameters": {"type": "object"},
    }
    assert (deferred.deferred, [tool.name for tool in deferred.tools]) == (True, ["order_flour"])
    assert kinds[-4] is ToolsWithdrawn
    assert of(ToolsWithdrawn, entries)[0].sent == ("Bash",)
    counts = Counts()
    for entry in entries:
        counts.add(entry)
    assert counts.requests == 3
    assert counts.dollars == pytest.approx(0.4)


def test_a_usage_record_of_copilot_is_its_answers_and_leaves_nothing_for_the_totals() -> None:
    def one(id_: str, kind: str, **data: Any) -> dict[str, Any]:
        return {"type": kind, "data": data, "id": id_, "timestamp": "2026-10-09T08:00:00Z"}

    used = {"inputTokens": 900, "outputTokens": 20, "cacheReadTokens": 400, "cacheWriteTokens": 0}
    entries = read(
        Format.COPILOT,
        one("e1", "session.start", sessionId="s", copilotVersion="1.0.102", selectedModel="gpt-5.5"),
        one("e2", "session.usage_record", usage={**used, "model": "gpt-5.5", "apiCallId": "a1"}),
        one("e3", "assistant.message", content="Done.", apiCallId="a1", model="gpt-5.5"),
        one("e4", "session.shutdown", modelMetrics={"gpt-5.5": {"usage": {**used, "inputTokens": 950}}}),
    )
    answer, totals = of(Answered, entries)
    assert answer.usage == Usage(900, 20, 400, 0)
    assert (totals.finish_reason, totals.usage.input_tokens, totals.usage.output_tokens) == (TOTALS, 50, 0)


def test_codex_names_a_model_that_was_chosen_in_between() -> None:
    settings_ = event("thread_settings_applied", thread_settings={"model": "gpt-5.6"})
    reply = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}
    item = {"timestamp": "2026-10-06T09:00:00Z", "type": "response_item", "payload": reply}
    [answer] = of(Answered, read(Format.CODEX, settings_, item))
    assert answer.model == "gpt-5.6"


def test_a_stopped_answer_of_opencode_is_the_users_doing(tmp_path: Path) -> None:
    [document] = records(FILES[Format.OPENCODE])
    document["messages"][-1]["info"]["error"] = {
        "name": "MessageAbortedError",
        "data": {"message": "stopped"},
    }
    (tmp_path / "a.json").write_text(json.dumps(document))
    [stopped] = of(Interrupted, whole(tmp_path / "a.json"))
    assert (stopped.message, stopped.by_user) == ("stopped", True)
