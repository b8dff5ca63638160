"""Headings of a list: a filter keeps those above what it finds, and the cursor passes over them."""

from hypothesis import given, strategies as st

from widgets import Record
from widgets.key_bar import RecordFilter

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
