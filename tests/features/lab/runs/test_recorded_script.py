"""What of a recorded run goes into one script: only what could be written before its results were read."""

from typing import Any

from inspector.features.lab.runs.recorded_script import scripts_of, words
from inspector.mcp.recorded_link import RecordedCall, RecordedStep
from inspector.tokens.script import Part

KNOWN = words("Read page seven of the atlas, please.")
PAGES = '{"pages": [{"id": "page-4711", "title": "Volcanoes"}]}'


def step(*calls: RecordedCall) -> RecordedStep:
    return RecordedStep("I look.", calls)


def call(tool: str, result: str = "ok", *, failed: bool = False, **arguments: Any) -> RecordedCall:
    return RecordedCall(tool, arguments, result, failed, "atlas")


FIND = step(call("find", PAGES, query="atlas"))


def test_a_step_joins_whose_values_are_known_or_parts_of_results_and_what_is_passed_on_stays_away() -> None:
    (script,), done = scripts_of(
        (FIND, step(call("open", page="page-4711", depth=2, parts=["atlas"]))), KNOWN
    )
    assert done == 2
    passed = {"page": Part("r0", ("pages", 0, "id")), "depth": 2, "parts": ["atlas"]}
    assert script.calls[1].arguments == passed
    assert script.returns == Part("r1")


def test_a_step_that_needed_a_reader_does_not_join() -> None:
    for page, expected in (("a made up title", 1), (4711, 1), (71, 2), ("Volcanoes page", 1)):
        (script,), done = scripts_of((FIND, step(call("open", page=page))), KNOWN)
        assert (done, len(script.calls)) == (expected, expected)


def test_calls_of_one_step_are_all_made_and_all_returned_and_a_failure_ends_a_script() -> None:
    both = step(call("find", query="anything new"), call("open", page="whatever"))
    (script,), _ = scripts_of((both,), KNOWN)
    assert script.returns == [Part("r0"), Part("r1")]
    failing = step(call("find", "Error", failed=True), call("open", page="x"))
    scripts, done = scripts_of((failing, step(call("close", failed=True)), FIND), KNOWN)
    assert done == 2
    assert [[one.tool for one in script.calls] for script in scripts] == [
        ["atlas__find"],
        ["atlas__open", "atlas__close"],
    ]
