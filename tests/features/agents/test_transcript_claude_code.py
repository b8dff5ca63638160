"""Claude Code's transcripts: what happened, told once and in order."""

from inspector.core.message import Usage
from inspector.features.agents.transcript import (
    Answered,
    Asked,
    Begun,
    Called,
    Searched,
    ServerAnnounced,
    ServerTrouble,
    ToolsOffered,
    ToolsWithdrawn,
)
from inspector.features.agents.transcript_file.format import Format
from inspector.features.agents.transcript_file.reader import line_reader
from tests.support.transcripts import (
    NO_USAGE,
    Claude,
    called,
    fed,
    line,
    of,
    read,
    said,
)

CLAUDE = Format.CLAUDE_CODE
FLOUR = "mcp__bakery__order_flour"


def test_an_answer_in_pieces_is_one_and_is_paid_once() -> None:
    claude = Claude()
    pieces = (
        claude.answer("m", said("I order."), output=2, stop=None),
        claude.answer("m", called("a"), output=2, stop=None),
        claude.answer("m", called("b"), output=40, stop="tool_use"),
    )
    (answer,) = of(Answered, read(CLAUDE, *pieces))
    assert (answer.text, [call.id for call in answer.calls]) == ("I order.", ["a", "b"])
    assert answer.usage == Usage(240, 40, 200, 30)
    assert answer.finish_reason == "tool_use"


def test_a_result_that_comes_between_the_pieces_is_behind_the_answer() -> None:
    claude = Claude()
    entries = read(
        CLAUDE,
        claude.answer("m", called("a"), stop=None),
        claude.result("a", "done"),
        claude.answer("m", called("b"), stop="tool_use"),
        claude.result("b", "done too"),
    )
    assert [type(entry) for entry in entries] == [Begun, Answered, Called, Called]
    assert [call.id for answer in of(Answered, entries) for call in answer.calls] == ["a", "b"]


def test_usage_of_zeros_is_unknown_and_not_nothing() -> None:
    record = Claude().record("assistant", message={"id": "m", "content": "Hi.", "usage": {"input_tokens": 0}})
    (answer,) = of(Answered, read(CLAUDE, record))
    assert (answer.text, answer.usage) == ("Hi.", NO_USAGE)


def test_a_copy_under_new_uuids_is_neither_told_nor_paid_again() -> None:
    claude = Claude()
    reader = line_reader(CLAUDE)
    answers = [claude.answer("m", said("Hi."), called("a")), claude.result("a", "ok")] * 2
    copies = [{**record, "uuid": f"other-{number}"} for number, record in enumerate(answers)]
    entries = fed(reader, map(line, copies))
    assert [type(entry) for entry in entries] == [Begun, Answered, Called]
    assert reader.tally.left_out == {"copied history": 2}


def test_the_apis_own_tool_search_is_a_search_too() -> None:
    claude = Claude()
    name = "tool_search_tool_regex"
    call = {"type": "server_tool_use", "id": "s", "name": name, "input": {"query": "flour"}}
    refs = [{"type": "tool_reference", "tool_name": FLOUR}]
    found = {"type": "tool_search_tool_search_result", "tool_references": refs}
    result = {"type": "tool_search_tool_result", "tool_use_id": "s", "content": found}
    broken = {**result, "content": {"type": "tool_search_tool_result_error", "error_code": "unavailable"}}
    (search,) = of(Searched, read(CLAUDE, claude.answer("m", call, result)))
    assert (search.query, [tool.sent for tool in search.found], search.error) == ("flour", [FLOUR], "")
    (search,) = of(Searched, read(CLAUDE, claude.answer("n", call, broken)))
    assert (search.found, search.error) == ((), "unavailable")


def test_servers_in_trouble_are_told_when_it_begins_and_not_again() -> None:
    claude = Claude()
    failed = {
        "failedMcpServers": [{"name": "my ovens", "errorCode": "-32000"}],
        "needsAuthMcpServers": ["my post"],
    }
    better: dict[str, object] = {"failedMcpServers": [], "needsAuthMcpServers": None}
    states = (failed, failed, better, failed)
    told = of(
        ServerTrouble, read(CLAUDE, *(claude.attachment("deferred_tools_delta", **one) for one in states))
    )
    assert [(one.server, one.reason, one.needs_login) for one in told] == [
        ("my_ovens", "-32000", False),
        ("my_post", "needs a login", True),
    ] * 2


def test_offered_tools_come_and_go() -> None:
    claude = Claude()
    entries = read(
        CLAUDE,
        claude.attachment("deferred_tools_delta", addedNames=["Bash", FLOUR], removedNames=[]),
        claude.attachment("deferred_tools_delta", addedNames=[], removedNames=[FLOUR]),
        claude.attachment("prompt_snapshot", tools=[{"name": "Read", "description": "Reads.", "schema": {}}]),
        claude.attachment("mcp_instructions_delta", addedNames=["my bakery"], addedBlocks=["Ask first."]),
    )
    deferred, bound = of(ToolsOffered, entries)
    assert ([tool.name for tool in deferred.tools], deferred.deferred) == (["Bash", "order_flour"], True)
    assert ([tool.name for tool in bound.tools], bound.deferred) == (["Read"], False)
    assert of(ToolsWithdrawn, entries)[0].sent == (FLOUR,)
    (server,) = of(ServerAnnounced, entries)
    assert (server.server, server.instructions) == ("my_bakery", "Ask first.")


def test_only_what_a_person_wrote_was_asked() -> None:
    claude = Claude()
    entries = read(
        CLAUDE,
        claude.asked("<system-reminder>Be kind.</system-reminder>\nOrder flour."),
        claude.asked("a skill's text", isMeta=True),
        claude.asked("<command-name>/clear</command-name>"),
        claude.asked("the task has ended", origin={"kind": "task-notification"}),
        claude.attachment("queued_command", prompt="And yeast.", commandMode="prompt"),
        claude.attachment("queued_command", prompt="done", commandMode="task-notification"),
    )
    assert [asked.text for asked in of(Asked, entries)] == ["Order flour.", "And yeast."]


def test_a_sidechain_within_a_session_is_counted_and_left_out() -> None:
    claude = Claude()
    reader = line_reader(CLAUDE)
    aside = claude.answer("side", said("Aside."), isSidechain=True)
    entries = fed(reader, map(line, (claude.asked("Order."), aside)))
    assert not of(Answered, entries)
    assert reader.tally.left_out == {"sidechain": 1}


def test_what_follows_a_copied_head_is_the_forks_own_session() -> None:
    claude = Claude()
    head = [claude.asked("one"), claude.answer("m1", said("1"), stop=None)]
    own = [
        {**record, "sessionId": "fork"} for record in (claude.asked("two"), claude.answer("m2", said("2")))
    ]
    entries = read(CLAUDE, *head, *own)
    assert [type(one) for one in entries] == [Begun, Asked, Answered, Begun, Asked, Answered]
    assert [begun.session for begun in of(Begun, entries)] == ["s", "fork"]
