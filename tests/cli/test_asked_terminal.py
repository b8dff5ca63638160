"""A question on a terminal is not answered by what was typed before it was there."""

import os
import pty
import sys
from select import select

import pytest

from inspector.cli.run import interruptible


def test_what_was_typed_before_a_question_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "wb", buffering=0) as person, os.fdopen(theirs) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        person.write(b"y\n")
        assert select([terminal], [], [], 5)[0]
        with interruptible():
            assert not select([terminal], [], [], 0)[0]
