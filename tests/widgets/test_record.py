"""The widths of columns, and the headings that a filter keeps."""

import pytest
from hypothesis import given, strategies as st
from textual.content import Content

from tests.widgets.hostile import HOSTILE, LONG
from widgets import Column, Record
from widgets.key_bar import RecordFilter
from widgets.record import GAP, layout, natural_widths, silent_columns

COLUMNS = st.lists(
    st.builds(
        Column,
        key=st.just("k"),
        width=st.none() | st.integers(1, 30),
        align=st.sampled_from(["left", "right"]),
        min_width=st.integers(1, 20),
        weight=st.integers(1, 9),
        hide_below=st.none() | st.integers(1, 120),
        yields=st.booleans(),
    ),
    min_size=1,
    max_size=7,
)


@given(COLUMNS, st.data(), st.integers(1, 200))
def test_widths_and_gaps_never_exceed_the_list(
    columns: list[Column], data: st.DataObject, width: int
) -> None:
    naturals = data.draw(st.lists(st.integers(0, 60), min_size=len(columns), max_size=len(columns)))
    widths = layout(columns, naturals, width)
    assert sum(widths.values()) + GAP * max(0, len(widths) - 1) <= width
    assert all(part > 0 or not naturals[index] for index, part in widths.items())
    if len(widths) > 1:
        for index, part in widths.items():
            if columns[index].align == "right":
                assert part >= naturals[index]
        if any(columns[index].width is None and columns[index].align == "left" for index in widths):
            assert sum(widths.values()) + GAP * (len(widths) - 1) == width


def test_a_narrow_list_leaves_the_lightest_column_out_and_never_the_first() -> None:
    columns = (
        Column("name", weight=1),
        Column("about", min_width=10, weight=2),
        Column("n", align="right", weight=3),
    )
    assert list(layout(columns, (20, 40, 5), 60)) == [0, 1, 2]
    assert list(layout(columns, (20, 40, 5), 16)) == [0, 2]
    assert list(layout(columns, (20, 40, 5), 6)) == [0]


def test_a_column_that_yields_goes_before_a_name_is_cut() -> None:
    columns = (
        Column("rank", align="right"),
        Column("name", shorten="name"),
        Column("bar", width=10, yields=True),
    )
    assert list(layout(columns, (2, 20, 10), 36)) == [0, 1, 2]
    assert layout(columns, (2, 20, 10), 35) == {0: 2, 1: 31}


def test_a_number_column_is_as_wide_as_its_widest_number() -> None:
    columns = (Column("name"), Column("n", "N", align="right"))
    records = [Record(str(n), ("x", f"{n:,}")) for n in (1, 1_000_000, 20)]
    assert natural_widths(columns, records)[1] == len("1,000,000")


@pytest.mark.parametrize("said", ["", "pinned"])
def test_a_column_that_is_empty_or_says_the_same_in_every_row_gives_way_before_a_name_does(said: str) -> None:
    columns = (Column("tool", shorten="name"), Column("last", "last"), Column("n", width=4))
    records = [
        Record("a", ("shop:list_orders", said, "1")),
        Record("b", ("shop:get_order", Content(said), "2")),
    ]
    naturals, silent = natural_widths(columns, records), silent_columns(columns, records)
    assert silent == {1}
    assert list(layout(columns, naturals, 30, silent)) == [0, 1, 2]
    assert layout(columns, naturals, 24, silent) == {0: 18, 2: 4}
    assert silent_columns(columns, ()) == frozenset()


def test_names_and_what_a_color_stands_for_never_give_way() -> None:
    columns = (Column("mark", width=1), Column("tool", shorten="name"), Column("state", "state"))
    cells = ("✕", "shop:list_orders", "failed")
    plain, failed = ([Record(key, cells, tone) for key in "ab"] for tone in ("", "error"))
    assert silent_columns(columns, plain) == {0, 2}
    assert silent_columns(columns, failed) == frozenset()
    assert silent_columns(columns, [plain[0], failed[1]]) == {0, 2}


def test_hostile_cells_can_be_measured() -> None:
    records = [Record(text, (text, Content(text))) for text in (*HOSTILE, LONG)]
    widths = natural_widths((Column("a", align="right"), Column("b", align="right")), records)
    assert all(0 < width < 10_000 for width in widths)


WORDS = st.sampled_from(["apple", "pear", "plum"])
RECORDS = st.lists(st.tuples(WORDS, st.booleans()), max_size=12).map(
    lambda rows: tuple(
        Record(str(number), (word,), is_heading=heading) for number, (word, heading) in enumerate(rows)
    )
)


@given(RECORDS, WORDS)
def test_a_heading_is_kept_if_it_matches_or_a_row_of_its_group_does(
    records: tuple[Record, ...], word: str
) -> None:
    found = RecordFilter().apply(records, word)
    wanted: set[str] = set()
    heading: Record | None = None
    for record in records:
        heading = record if record.is_heading else heading
        if word in record.haystack():
            wanted |= {record.key} | ({heading.key} if heading else set())
    assert [record.key for record in found] == [record.key for record in records if record.key in wanted]
