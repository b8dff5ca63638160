"""The transcript of a chat: what it says about tokens."""

import pytest

from inspector.cli.chat import Transcript
from inspector.core.budget import TokenParts
from inspector.core.events import ModelRequested, ModelResponded, Record
from inspector.core.message import Usage
from inspector.core.prompt_cache import Charge


def printed(capsys: pytest.CaptureFixture[str], usage: Usage) -> str:
    transcript = Transcript()
    asked = ModelRequested(1, (), TokenParts(history=90), 1, charge=Charge(60, 30))
    for seq, said in enumerate((asked, ModelResponded(1, "Hi.", usage=usage)), start=1):
        transcript.on_record(Record("s", seq, 0.0, said))
    return capsys.readouterr().out


def test_reported_tokens_are_printed_beside_the_computed_ones(capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(capsys, Usage(95, 9, 55, 35, reasoning_tokens=4))
    line = "tokens: computed 90 (60 read, 30 written); reported 95 (55 read, 35 written); answer: 9 tokens"
    assert line in told
