"""What recorded results are taken for, and what breakers would have made of recorded calls."""

import json

import pytest

from docs.benchmark.recorded_failure import (
    Failure,
    counts_today,
    failure_of_result,
    refusals_of,
    repeats_of,
    unwrapped,
)
from inspector.core.error import FailureKind
from inspector.core.settings import BreakerSettings
from inspector.mcp.recorded_link import RecordedCall, RecordedMessage, RecordedRun, RecordedStep

TIMED_OUT = "Tool call timed out."


def enveloped(text: str, *, is_error: bool = False) -> str:
    inner = {"meta": None, "content": [{"type": "text", "text": text}], "isError": is_error}
    return json.dumps({"type": "text", "text": json.dumps(inner)})


def run_of(*results: str, tool: str = "load", arguments: dict[str, object] | None = None) -> RecordedRun:
    calls = [RecordedCall(tool, arguments or {}, result, server="music") for result in results]
    return RecordedRun(
        "run", "task", (RecordedMessage("", tuple(RecordedStep("", (one,)) for one in calls)),)
    )


@pytest.mark.parametrize(
    ("text", "kind", "seen"),
    [
        (TIMED_OUT, FailureKind.TIMEOUT, True),
        ("Error: Tool call 'execute_sql' timed out after 60 seconds", FailureKind.TIMEOUT, True),
        (
            "Error running tool a-b: Error invoking MCP tool b: Timed out while waiting",
            FailureKind.TIMEOUT,
            True,
        ),
        ("Failed to fetch https://shop.example: HTTP error: 503", FailureKind.TRANSPORT, False),
        ("Failed to fetch file:///tmp/Order.txt: fetch failed", FailureKind.TOOL, False),
        ("Failed to fetch https://shop.example - status code 429", FailureKind.RATE_LIMIT, False),
        ("Input validation error: 'ranges' is a required property", FailureKind.SCHEMA, False),
        ("Error executing tool execute-tool: MCP error -32602: Invalid arguments", FailureKind.SCHEMA, True),
        ("Error executing tool execute-tool: MCP error -32603: fetch failed", FailureKind.PROTOCOL, True),
        ('Error: column "timeout" does not exist', FailureKind.TOOL, False),
        ("ls: cannot access 'a'\nCommand completed with return code: 2", FailureKind.TOOL, False),
    ],
)
def test_an_error_has_the_kind_that_its_words_tell(text: str, kind: FailureKind, seen: bool) -> None:
    assert failure_of_result(text) == Failure(kind, seen)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "Subject: Login page returns 500 error intermittently",
        "the server timed out, says the log that was read",
        json.dumps({"id": 7, "errors": 2, "putouts": 1, "assists": 3}),
        json.dumps({"status": "success", "error": None, "message": "converted"}),
        "=== STDOUT ===\nError loading x\n=== EXECUTION INFO ===\nReturn code: 0",
        enveloped("4,120 lines read, errors: 0"),
    ],
)
def test_a_result_that_only_speaks_of_errors_is_none(text: str | None) -> None:
    assert failure_of_result(text) is None


def test_a_failure_is_found_in_its_envelopes() -> None:
    refused = json.dumps({"server_name": "Notion", "execution_result": {"Error": "no content"}})
    assert unwrapped(enveloped("no such table", is_error=True)) == ("no such table", True)
    assert failure_of_result(enveloped("no such table", is_error=True)) == Failure(FailureKind.TOOL, False)
    assert failure_of_result(enveloped(refused)) == Failure(FailureKind.TOOL, False)
    printed = (
        "meta=None content=[TextContent(type='text', text='no such table', annotations=None)] isError=True"
    )
    assert unwrapped(printed) == ("no such table", True)


def test_equal_calls_after_a_failure_are_its_repeats_until_one_succeeds() -> None:
    (repeat,) = repeats_of(run_of("fine", TIMED_OUT, TIMED_OUT, "fine", "fine"))
    assert [one.is_good for one in (repeat.first, *repeat.again)] == [False, False, True]
    assert repeat.is_next


def test_an_open_breaker_refuses_what_comes_within_its_cool_down() -> None:
    run = run_of(TIMED_OUT, TIMED_OUT, TIMED_OUT, "fine", "fine", "fine", "fine")
    refusals = refusals_of(run, BreakerSettings(), counts_today, pace=10)
    # The tool's and the server's; two calls come within 30 seconds, the next is the probe.
    assert (refusals.opened, [one.number for one in refusals.refused]) == (2, [3, 4])
    assert not refusals_of(run, BreakerSettings(), counts_today, pace=40).refused
    assert not refusals_of(run, BreakerSettings(), lambda _one: False, pace=10).opened
