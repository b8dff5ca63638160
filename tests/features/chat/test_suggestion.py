"""What a chat without the app tells a person of the marketplace."""

import pytest
from msgspec.structs import replace

from inspector.core.events import MarketplaceSearched, Record
from inspector.core.marketplace import MarketplaceReport, Suggestion
from inspector.core.ranking import Score
from inspector.features.chat.command import Transcript
from inspector.features.marketplace.marketplace import suggestion
from tests.support.hostile import with_hostile_text
from tests.support.marketplace import CURRENCY
from tests.widgets.hostile import dangerous

RATES = "exchange rate of the euro"
FITS = suggestion(CURRENCY, 0.93, "convert_currency", Score("currency:convert_currency", 1.0))


def printed(capsys: pytest.CaptureFixture[str], *found: Suggestion) -> str:
    searched = MarketplaceSearched(MarketplaceReport(RATES, found), "for the model")
    Transcript().on_record(Record("s", 1, 0.0, searched))
    return capsys.readouterr().out


def test_a_suggested_plugin_is_shown_to_the_person(capsys: pytest.CaptureFixture[str]) -> None:
    title, plugin = printed(capsys, FITS).splitlines()
    assert title.startswith("  ◇ in the marketplace, not installed")
    assert plugin.startswith("    currency (Somebody, free, rated 4.5 of 5)  fits 93 %  Converts money")


@with_hostile_text
def test_the_texts_of_a_plugin_can_neither_harm_the_terminal_nor_fill_it(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = replace(FITS, plugin=text, description=text, publisher=text, category=text, tools=(text,))
    shown = printed(capsys, hostile)
    assert shown.count("\n") == 2
    assert not dangerous(shown.replace("\n", ""))
    assert len(shown) < 3_500
