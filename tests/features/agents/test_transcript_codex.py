"""Codex rollouts: model calls found between their items, and paid once."""

import pytest

from inspector.features.agents.transcript import (
    Answered,
    Asked,
    Begun,
    Called,
    ToolsOffered,
)
from inspector.features.agents.transcript_file.format import Format
from inspector.features.agents.transcript_file.reader import line_reader
from tests.support.transcripts import (
    event,
    fed,
    item,
    line,
    of,
    read,
    token_count,
)

CODEX = Format.CODEX


def call(call_id: str, name: str = "shell", **fields: object) -> dict[str, object]:
    """A call as Codex writes it."""
    return item("function_call", name=name, arguments="{}", call_id=call_id, **fields)


def answer(text: str) -> dict[str, object]:
    """What the model said."""
    return item("message", role="assistant", content=[{"type": "output_text", "text": text}])


def test_records_of_usage_count_instead_of_the_counts_beside_them() -> None:
    paid = {"response_id": "resp-1", "usage": {"input_tokens": 70, "output_tokens": 1}}
    record = {"type": "token_usage_record", "payload": paid}
    count = token_count(70, 70)
    for records in ((record, count), (count, record), (record, record, count)):
        answers = of(Answered, read(CODEX, answer("a"), *records))
        assert [one.usage.input_tokens for one in answers] == [70]


def test_calls_of_one_answer_stay_together_and_what_comes_after_their_results_is_the_next() -> None:
    entries = read(
        CODEX,
        *(answer("I look."), call("a"), call("b")),
        *(item("function_call_output", call_id=one, output="ok") for one in "ab"),
        answer("Done."),
    )
    assert [type(entry) for entry in entries] == [Begun, Answered, Called, Called, Answered]
    assert [one.text for one in of(Answered, entries)] == ["I look.", "Done."]


@pytest.mark.parametrize(
    "name", [{"name": "order", "namespace": "mcp__mill__"}, {"name": "mcp__mill__order"}]
)
def test_a_server_is_known_by_namespace_and_by_name(name: dict[str, str]) -> None:
    made = item("function_call", arguments="{}", call_id="a", **name)
    (called,) = of(Called, read(CODEX, made, item("function_call_output", call_id="a", output="ok")))
    assert (called.tool.server, called.tool.name, called.tool.sent) == ("mill", "order", "mcp__mill__order")


@pytest.mark.parametrize(
    ("duration", "milliseconds"),
    [({"secs": 2, "nanos": 500000}, 2000.5), ("420ms", 420.0), ("1.5s", 1500.0), (3, None), ("soon", None)],
)
def test_a_duration_is_read_in_each_way_it_is_written(duration: object, milliseconds: float | None) -> None:
    invocation = {"server": "mill", "tool": "grind", "arguments": None}
    end = event(
        "mcp_tool_call_end", call_id="exec-1", invocation=invocation, duration=duration, result={"Err": "x"}
    )
    (called,) = of(Called, read(CODEX, end))
    assert (called.tool.sent, called.ok, called.text) == ("mcp__mill__grind", False, "x")
    assert called.milliseconds == milliseconds


@pytest.mark.parametrize(
    ("output", "ok"),
    [
        ("Exit code: 1\nWall time: 0 s\nOutput:\nno", False),
        ("Exit code: 0\nok", True),
        ('{"output":"no","metadata":{"exit_code":2}}', False),
        ("anything", True),
    ],
)
def test_a_shell_call_failed_if_its_output_says_so(output: str, ok: bool) -> None:
    (called,) = of(Called, read(CODEX, call("a"), item("function_call_output", call_id="a", output=output)))
    assert called.ok is ok


def test_what_a_fork_took_over_is_left_out() -> None:
    reader = line_reader(CODEX)
    meta = {"id": "child", "parent_thread_id": "parent", "timestamp": "2026-10-06T09:00:10Z"}
    own = {**answer("mine"), "timestamp": "2026-10-06T09:00:11Z"}
    copied = {**answer("my parent's"), "timestamp": "2026-10-06T09:00:01Z"}
    parents = {"type": "session_meta", "payload": {"id": "parent"}}
    entries = fed(reader, map(line, ({"type": "session_meta", "payload": meta}, parents, copied, own)))
    assert [(one.session, one.parent) for one in of(Begun, entries)] == [("child", "parent")]
    assert [one.text for one in of(Answered, entries)] == ["mine"]
    assert reader.tally.left_out == {"copied history": 2}


def told(text: str) -> dict[str, object]:
    """What a person wrote."""
    return item("message", role="user", content=[{"type": "input_text", "text": text}])


PARENTS = (told("theirs"), answer("theirs"), token_count(40_000, 40_000), token_count(50_000, 90_000))
OWN = (told("and mine"), answer("mine"), token_count(4_000, 94_000))


@pytest.mark.parametrize("named", ["forked_from_id", "parent_thread_id"])
@pytest.mark.parametrize("copied", [PARENTS, PARENTS[2:], ()])
@pytest.mark.parametrize("step", [0.0, 0.01])
def test_a_fork_pays_for_nothing_that_was_there_in_the_instant_it_began(
    named: str, copied: tuple[dict[str, object], ...], step: float
) -> None:
    meta = {"type": "session_meta", "timestamp": 5.0, "payload": {"id": "child", named: "parent"}}
    head = [{**one, "timestamp": 5.1 + step * at} for at, one in enumerate((*copied, OWN[0]))]
    reader = line_reader(CODEX)
    entries = fed(reader, map(line, (meta, *head, *({**one, "timestamp": 15.0} for one in OWN[1:]))))
    assert [one.text for one in of(Asked, entries)] == ["and mine"]
    assert [(one.text, one.usage.input_tokens) for one in of(Answered, entries)] == [("mine", 4_000)]
    assert reader.tally.left_out["copied history"] == len(copied)


def test_a_fork_goes_on_from_its_parents_token_counts() -> None:
    meta = {"type": "session_meta", "timestamp": 5.0, "payload": {"id": "child", "forked_from_id": "parent"}}
    parents, again = ({**token_count(50_000, 90_000), "timestamp": at} for at in (5.1, 9.0))
    assert of(Answered, read(CODEX, meta, parents, again)) == []


def completed(kind: str, **fields: object) -> dict[str, object]:
    """An item of a turn that ended, as Codex writes it since 0.147."""
    return event("item_completed", item={"type": kind, **fields})


CODE = item("custom_tool_call", name="exec", input="await tools.mcp__bakery__bake()", call_id="code")


def ran(*words: str, **fields: object) -> dict[str, object]:
    """What came back from code."""
    parts = [{"type": "input_text", "text": one} for one in words]
    return item("custom_tool_call_output", call_id="code", output=parts, **fields)


def test_a_call_that_code_made_and_that_failed_says_why() -> None:
    failed = completed(
        "McpToolCall", id="e", server="s", tool="t", status="failed", error={"message": "closed"}
    )
    (called,) = of(Called, read(CODEX, failed))
    assert (called.text, called.ok) == ("closed", False)


def test_a_completed_item_only_repeats_what_the_model_called_itself() -> None:
    repeated = completed("CommandExecution", id="a", command=["ls"], status="completed")
    entries = read(CODEX, call("a"), repeated, item("function_call_output", call_id="a", output="b"))
    assert [(one.tool.name, one.text) for one in of(Called, entries)] == [("shell", "b")]


def test_a_note_of_running_code_is_not_its_result() -> None:
    reader = line_reader(CODEX)
    note = ran("half way", name="exec")
    entries = fed(reader, map(line, (CODE, note, ran("Script completed\nOutput:\n", "done"))))
    assert [one.text for one in of(Called, entries)] == ["Script completed\nOutput:\n\ndone"]
    assert reader.tally.left_out == {"a note of running code": 1}


@pytest.mark.parametrize(
    ("output", "ok"),
    [
        ("Script failed\nWall time 0.1 seconds\nOutput:\n", False),
        ("Script running with cell ID 3\nWall time 10.0 seconds\nOutput:\n", True),
        ("Chunk ID: 8c9\nWall time: 1.0 seconds\nProcess exited with code 3\nOutput:\n", False),
        ("Wall time: 1.0 seconds\nProcess exited with code 0\nOutput:\nScript failed\n", True),
    ],
)
def test_code_and_commands_say_themselves_whether_they_failed(output: str, ok: bool) -> None:
    (called,) = of(Called, read(CODEX, CODE, ran(output)))
    assert called.ok is ok


def test_each_tool_that_code_can_call_has_its_own_part_of_the_description() -> None:
    words = (
        "Runs code.\n\n### `exec_command`\nRuns it.\n\n## bakery\nBakes.\n\n### `mcp__my_bakery__bake` "
        "(`mcp__my-bakery__bake`)\nBakes bread.\n\nexec tool declaration:\n```ts\ndeclare const tools;\n```"
    )
    tools = [{"type": "custom", "name": "exec", "description": words}]
    (offered,) = of(ToolsOffered, read(CODEX, item("additional_tools", role="developer", tools=tools)))
    told = [(one.server, one.name, (one.definition or {})["description"]) for one in offered.tools]
    assert told[0] == ("", "exec", "Runs code.")
    assert [one[:2] for one in told[1:]] == [("", "exec_command"), ("my-bakery", "bake")]
    assert told[2][2] == "Bakes bread.\n\nexec tool declaration:\n```ts\ndeclare const tools;\n```"


def test_a_message_that_code_delivered_is_no_answer_of_a_model() -> None:
    delivered = {**answer("Hello"), "metadata": {"delivered_assistant_message": "v1"}}
    assert read(CODEX, delivered) == []
