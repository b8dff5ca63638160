"""Text from outside is harmless and readable; wrapped lines and shortened names keep what matters."""

from time import perf_counter

import pytest
from hypothesis import example, given, strategies as st
from rich.cells import cell_len
from textual.content import Content

from tests.widgets.hostile import HOSTILE, LONG, dangerous
from widgets import Hanging, middle, plain, safe, shortened, visible

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


@given(ANY_TEXT)
def test_content_keeps_its_styles_on_the_same_letters(text: str) -> None:
    content = safe(Content.assemble((text, "bold"), "tail"))
    assert content.plain == visible(content.plain)
    if text.isprintable() and text:
        assert content.spans[0].end <= len(content.plain) - len("tail")


def test_markup_in_text_stays_text() -> None:
    assert plain("[@click=app.quit()]x[/]").plain == "[@click=app.quit()]x[/]"
    assert plain("[b]x[/b]").spans == []


def test_a_megabyte_is_fast() -> None:
    started = perf_counter()
    visible(LONG)
    visible(LONG, limit=2_000_000)
    visible("\x1b" * 1_000_000, limit=1_000_000)
    middle(LONG, 40)
    assert perf_counter() - started < 1.5


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


parts = st.text("ab_é漢", max_size=12)
ids = st.builds("{}:{}".format, parts, parts) | parts
lists = st.lists(ids, unique=True, max_size=30)
LIGHTS = ["home-automation:get_lights", "home-automation:set_lights"]
DOORS = ["home-automation:lock_door", "home-automation:unlock_door"]


@given(lists, st.integers(4, 40))
@example([f"{'a' * 20}{number}{'b' * 20}" for number in range(99)], 4)
@example([*LIGHTS, *DOORS], 4)
def test_two_rows_are_never_shortened_to_the_same_text(names: list[str], width: int) -> None:
    assert len(set(shortened(names, width).values())) == len(names)


@given(st.lists(parts.filter(bool), unique=True, max_size=12), st.sampled_from(["shop", "home-automation"]))
def test_a_server_looks_the_same_in_all_names_that_are_too_long(tools: list[str], server: str) -> None:
    names = ["mail:read", *(f"{server}:{tool * 4}" for tool in tools)]
    cut = [text for name, text in shortened(names, 20).items() if cell_len(name) > 20]
    assert len({text.partition(":")[0] for text in cut}) <= 1
    assert all(text.startswith(("shop:", "home-…:")) for text in cut)


@given(lists, st.integers(0, 40))
def test_what_fits_loses_nothing_but_a_server_that_all_share(names: list[str], width: int) -> None:
    fitting = {name: text for name, text in shortened(names, width).items() if cell_len(name) <= width}
    assert all(text in (name, name.partition(":")[2]) for name, text in fitting.items())


def test_tools_of_one_server_are_shown_without_it_where_any_does_not_fit() -> None:
    bare = ["get_lights", "set_lights", "lock_door", "unlock_door"]
    assert list(shortened([*LIGHTS, *DOORS], 18).values()) == bare
    assert list(shortened(["a:b", *LIGHTS], 18).values())[1:] == ["home-…:get_lights", "home-…:set_lights"]
    assert list(shortened(LIGHTS, 11).values()) == ["get_lights", "set_lights"]
    assert list(shortened(LIGHTS, 8).values()) == ["get_…hts", "set_…hts"]
