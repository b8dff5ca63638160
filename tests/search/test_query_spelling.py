"""Misspelt words are read as what was meant; what is known, a name or a value stays as it is."""

import pytest
from hypothesis import given, strategies as st

from inspector.search.semantics import Spelling

COMMON = (
    "turn",
    "lights",
    "light",
    "cancel",
    "order",
    "home",
    "page",
    "weather",
    "tomorrow",
    "the",
    "off",
    "homage",
)
CATALOG = frozenset({"thermostat", "refund", "ordex"})
SPELLING = Spelling(COMMON)


def read(text: str) -> str:
    return SPELLING.corrected(text, lambda: CATALOG)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("turn off the lihgts", "turn off the lights"),
        ("cancle the ordr", "cancel the order"),
        ("refnud the order", "refund the order"),
        ("the wether tommorow", "the weather tomorrow"),
        ("themrostatt off", "thermostat off"),
    ],
)
def test_a_typing_error_is_read_as_the_nearest_known_word(written: str, meant: str) -> None:
    assert read(written) == meant


@pytest.mark.parametrize(
    "text",
    [
        "mail Ligts about it",
        "open the homepage",
        "ask ordex",
        "turned lighted ordering",
        "see ordr@shop.com, /var/ordr and ordr.md",
        "plumber",
    ],
)
def test_names_known_words_joined_words_and_values_stay(text: str) -> None:
    assert read(text) == text


def test_of_equally_near_words_the_one_of_the_catalog_is_meant() -> None:
    assert Spelling(("cart",)).corrected("show the carz", lambda: frozenset({"card"})) == "show the card"


def test_the_catalog_is_read_only_where_the_model_does_not_know_a_word() -> None:
    def unread() -> frozenset[str]:
        raise AssertionError("nothing is unknown here")

    assert SPELLING.corrected("turn off the lights", unread) == "turn off the lights"


@given(st.text(max_size=80))
def test_a_corrected_text_is_not_corrected_again(text: str) -> None:
    once = read(text)
    assert read(once) == once


def test_without_known_words_nothing_is_corrected() -> None:
    assert Spelling(()).corrected("turn off the lihgts", frozenset) == "turn off the lihgts"
