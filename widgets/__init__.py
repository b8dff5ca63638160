"""Reusable Textual widgets that trust no text: hidden characters become visible, and nothing is markup."""

from widgets.bars import stacked
from widgets.confirm import Choice, Confirm
from widgets.filter_bar import FilterBar
from widgets.form_field import NOTHING, Field
from widgets.key_bar import KeyBar
from widgets.meter import Meter, Segment, legend, short_number
from widgets.plain_input import PlainInput
from widgets.record import Column, Record, Tone
from widgets.record_list import RecordList
from widgets.record_rows import RecordRows
from widgets.schema_form import SchemaForm
from widgets.schema_tree import SchemaTree
from widgets.text import highlight, middle, plain, safe, shorten, visible
from widgets.text_view import TextView

__all__ = [
    "NOTHING",
    "Choice",
    "Column",
    "Confirm",
    "Field",
    "FilterBar",
    "KeyBar",
    "Meter",
    "PlainInput",
    "Record",
    "RecordList",
    "RecordRows",
    "SchemaForm",
    "SchemaTree",
    "Segment",
    "TextView",
    "Tone",
    "highlight",
    "legend",
    "middle",
    "plain",
    "safe",
    "short_number",
    "shorten",
    "stacked",
    "visible",
]
