"""The transcript of a chat: what it says about tokens and dollars."""

import pytest

from inspector.core.budget import Prices, TokenParts
from inspector.core.events import ModelRequested, ModelResponded, Record
from inspector.core.message import Usage
from inspector.core.prompt_cache import Charge
from inspector.features.chat.command import Transcript


def printed(capsys: pytest.CaptureFixture[str], usage: Usage, prices: Prices | None = None) -> str:
    transcript = Transcript(prices=lambda: prices)
    asked = ModelRequested(1, (), TokenParts(history=90), 1, charge=Charge(60, 30))
    for seq, said in enumerate((asked, ModelResponded(1, "Hi.", usage=usage)), start=1):
        transcript.on_record(Record("s", seq, 0.0, said))
    return capsys.readouterr().out


def test_reported_tokens_are_printed_beside_the_computed_ones(capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(capsys, Usage(95, 9, 55, 35, reasoning_tokens=4))
    line = "tokens: computed 90 (60 read, 30 written); reported 95 (55 read, 35 written); answer: 9 tokens"
    assert line in told


def test_what_a_call_cost_is_printed_where_its_price_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    prices = Prices("m", input=1e-4, output=1e-3, cache_read=1e-5)
    # 40 tokens at full price, 55 from the cache, and an answer of 9.
    assert (
        printed(capsys, Usage(95, 9, 55), prices)
        .rstrip()
        .endswith("answer: 9 tokens reported; $0.014 at m prices")
    )
    assert "$" not in printed(capsys, Usage(95, 9, 55))
