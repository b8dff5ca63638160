"""Kinds of failure: every error of a call has one, and a record says it in plain words."""

import pytest

from inspector.core.error import (
    ArgumentsRejected,
    AuthRequired,
    CallTimeout,
    ConnectError,
    FailureKind,
    ProtocolError,
    RateLimited,
    ServerExited,
    ToolsightError,
    failure_words,
)
from inspector.core.events import CallFinished
from inspector.reliability.breaker import failure_of, retry_after_of


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ServerExited("gone"), FailureKind.TRANSPORT),
        (ConnectError("refused"), FailureKind.TRANSPORT),
        (AuthRequired("401"), FailureKind.TRANSPORT),
        (ToolsightError("there is no server"), FailureKind.TRANSPORT),
        (CallTimeout("slow"), FailureKind.TIMEOUT),
        (RateLimited("429", retry_after=7), FailureKind.RATE_LIMIT),
        (ArgumentsRejected("-32602"), FailureKind.SCHEMA),
        (ProtocolError("-32603"), FailureKind.PROTOCOL),
    ],
)
def test_every_error_of_a_call_has_one_kind(error: ToolsightError, kind: FailureKind) -> None:
    assert failure_of(error) is kind


def test_only_what_may_pass_by_itself_is_transient() -> None:
    transient = {kind for kind in FailureKind if kind.is_transient}
    assert transient == {FailureKind.TRANSPORT, FailureKind.TIMEOUT, FailureKind.RATE_LIMIT}


def test_only_a_rate_limit_says_when_to_ask_again() -> None:
    assert retry_after_of(RateLimited("429", retry_after=7)) == 7
    assert retry_after_of(RateLimited("429")) is None
    assert retry_after_of(CallTimeout("slow")) is None


def test_a_failed_call_says_in_plain_words_what_went_wrong() -> None:
    timeout = CallFinished("c", "a:b", False, "", 60_000, failure=FailureKind.TIMEOUT)
    assert timeout.summary() == "a:b  timed out; it may have run  60.0 s"
    limited = CallFinished("c", "a:b", False, "", failure=FailureKind.RATE_LIMIT, retry_after=20)
    assert limited.summary() == "a:b  rate limited for 20 s"
    assert CallFinished("c", "a:b", True, "", attempts=2).summary() == "a:b  ok  after 2 attempts"
    assert all(failure_words(kind) for kind in FailureKind)


def test_a_failure_in_a_record_of_an_older_version_is_just_one() -> None:
    assert CallFinished("c", "a:b", False, "").summary() == "a:b  failed"
