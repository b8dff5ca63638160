"""Text from outside becomes visible and stays what it was."""

from time import perf_counter

import pytest
from hypothesis import given, strategies as st
from rich.cells import cell_len
from textual.content import Content

from tests.widgets.hostile import HOSTILE, LONG, dangerous
from widgets import highlight, middle, plain, safe, visible

ANY_TEXT = st.text(st.characters())


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_harmless_in_one_line(text: str) -> None:
    assert dangerous(visible(text, newlines=False)) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", r"\x1b[2J"),
        ("a\0b", r"a\x00b"),
        ("a\rb", r"a\x0db"),
        ("\u202e", r"\u202e"),
        ("\U000e0041", r"\U000e0041"),
        ("\ud800", r"\ud800"),
        ("\u200b\u3164", r"\u200b\u3164"),
        ("ünï 漢字 ok 🎉", "ünï 漢字 ok 🎉"),
        ("a\n\tb", "a\n\tb"),
    ],
)
def test_a_hidden_character_becomes_its_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_what_is_cut_off_is_counted() -> None:
    assert visible("x" * 30, limit=10) == "x" * 10 + "… [20 more characters]"


def test_a_pile_of_marks_is_taken_down_after_four() -> None:
    shown = visible("z" + "\u0301" * 6)
    assert shown == "z" + "\u0301" * 4 + r"\u0301\u0301"


@given(ANY_TEXT)
def test_visible_text_is_printable_and_stays_as_it_is(text: str) -> None:
    shown = visible(text)
    assert dangerous(shown.replace("\n", "").replace("\t", "")) == []
    assert visible(shown) == shown
    shown.encode()


@given(ANY_TEXT, st.integers(0, 40))
def test_a_name_shortened_in_the_middle_fits_and_keeps_its_ends(text: str, width: int) -> None:
    short = middle(text, width)
    line = visible(text, newlines=False)
    assert cell_len(short) <= width
    if cell_len(line) <= width:
        assert short == line
    elif width:
        head, _, tail = short.partition("…")
        assert line.startswith(head)
        assert "…" in tail or line.endswith(tail)


def test_wide_letters_are_never_split() -> None:
    assert middle("漢字漢字漢字", 6) == "漢…字"


@given(ANY_TEXT)
def test_content_keeps_its_styles_on_the_same_letters(text: str) -> None:
    content = safe(Content.assemble((text, "bold"), "tail"))
    assert content.plain == visible(content.plain)
    if text.isprintable() and text:
        assert content.spans[0].end <= len(content.plain) - len("tail")


def test_markup_in_text_stays_text() -> None:
    assert plain("[@click=app.quit()]x[/]").plain == "[@click=app.quit()]x[/]"
    assert plain("[b]x[/b]").spans == []


def test_every_word_of_the_needle_is_marked() -> None:
    content = highlight("List late Orders [late]", "LATE orders")
    marked = [content.plain[span.start : span.end] for span in content.spans]
    assert marked == ["late", "Orders", "late"]


def test_a_megabyte_is_fast() -> None:
    started = perf_counter()
    visible(LONG)
    visible(LONG, limit=2_000_000)
    visible("\x1b" * 1_000_000, limit=1_000_000)
    middle(LONG, 40)
    assert perf_counter() - started < 1.5
