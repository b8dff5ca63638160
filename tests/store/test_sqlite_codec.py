"""Every event comes back from the database as it went in."""

import json
import math
from itertools import count

import pytest
from hypothesis import given, strategies as st

from inspector.core.events import EVENT_TYPES, CallFinished, CallStarted
from inspector.store.codec import UnreadableEvent, decode, encode
from tests.core.test_event import events_by_kind
from tests.support.examples import examples

_SESSIONS = count()


@pytest.mark.parametrize("kind", EVENT_TYPES)
@examples(share=0.5)
@given(data=st.data())
def test_every_kind_of_event_comes_back_equal(kind: str, data: st.DataObject) -> None:
    event = data.draw(events_by_kind[kind])
    text = encode(event)
    assert text.isascii()
    assert decode(kind, text) == event
    assert encode(decode(kind, text)) == text


@pytest.mark.parametrize("kind", ["request", "response"])
@examples(share=0.5)
@given(data=st.data())
def test_a_model_call_that_was_stored_as_a_turn_is_read(kind: str, data: st.DataObject) -> None:
    event = data.draw(events_by_kind[kind])
    payload = {
        ("turn" if name == "call" else name): value for name, value in json.loads(encode(event)).items()
    }
    assert "call" not in payload
    assert decode(kind, json.dumps(payload)) == event


def test_a_number_that_json_lacks_comes_back() -> None:
    event = CallFinished("c", "a:b", True, "", math.inf, {"low": [-math.inf], "$number": "inf"})
    assert decode("result", encode(event)) == event
    undefined = decode("call", encode(CallStarted("c", "a:b", {"x": math.nan})))
    assert isinstance(undefined, CallStarted)
    assert math.isnan(undefined.arguments["x"])


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("telepathy", "{}"),
        ("user", "{}"),
        ("user", "[]"),
        ("user", "{"),
        ("user", '{"text": 1}'),
        ("user", "[" * 9999),
        ("user", '{"text": {"$number": "much"}}'),
    ],
)
def test_what_cannot_be_read_is_told_apart(kind: str, payload: str) -> None:
    with pytest.raises(UnreadableEvent):
        decode(kind, payload)


def test_a_result_of_an_older_version_has_no_kind_of_failure_and_one_attempt() -> None:
    old = (
        '{"call_id": "c", "tool": "a:b", "ok": false, "text": "no", "milliseconds": 5.0, "structured": null}'
    )
    result = decode("result", old)
    assert isinstance(result, CallFinished)
    assert (result.failure, result.retry_after, result.attempts) == (None, None, 1)
