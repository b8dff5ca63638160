"""Wrapped lines that keep their indent."""

from hypothesis import given, strategies as st
from textual.content import Content

from widgets import Hanging, plain


def rows(text: str, width: int) -> list[str]:
    return [row.plain.rstrip() for row in Hanging(Content(text)).rows(width)]


def test_a_wrapped_line_begins_where_its_text_began() -> None:
    assert rows("  one two three four", 12) == ["  one two", "  three four"]
    assert rows("▸ shop:list_orders city=Oslo", 20) == ["▸ shop:list_orders", "  city=Oslo"]
    assert rows("You\n  hello there, you", 12) == ["You", "  hello", "  there, you"]


def test_with_an_indent_no_wrapped_row_begins_further_left() -> None:
    drawn = Hanging(Content("! PATH  one two three four"), 8).rows(16)
    assert [row.plain.rstrip() for row in drawn] == ["! PATH  one two", "        three", "        four"]


@given(st.text(st.characters(exclude_categories=["C"]), max_size=200), st.integers(1, 60))
def test_rows_fit_and_lose_no_letter(text: str, width: int) -> None:
    content = plain(text)
    drawn = Hanging(content).rows(width)
    assert all(row.cell_length <= max(width, 2) for row in drawn)
    assert "".join("".join(row.plain.split()) for row in drawn) == "".join(content.plain.split())
