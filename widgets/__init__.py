"""Reusable Textual widgets that trust no text: hidden characters become visible, and nothing is markup.

A name is imported when it is asked for: what only prints text does not wait for Textual.
"""

# ruff: noqa: F401 - the names a type checker reads are handed on.
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from widgets.blocks import Blocks
    from widgets.guarded import Choice, Confirm, Guarded, GuardedConfirm
    from widgets.key_bar import FilterBar, FocusBorder, FocusFrame, KeyBar
    from widgets.meter import BigNumber, Meter, Segment, legend, short_number, stacked
    from widgets.prompt import PlainInput, Prompt
    from widgets.record import Column, Record, Tone
    from widgets.record_list import RecordList
    from widgets.record_rows import RecordRows
    from widgets.schema_form import NOTHING, Field, SchemaForm
    from widgets.schema_tree import JsonTree, outline
    from widgets.terminal_text import cover_with, visible
    from widgets.text import Hanging, link, middle, plain, safe, shorten, shortened
    from widgets.text_view import TextView
    from widgets.view_strip import StillText, ViewPanel, ViewStrip

_MODULES = {
    "blocks": ("Blocks",),
    "guarded": ("Choice", "Confirm", "Guarded", "GuardedConfirm"),
    "key_bar": ("FilterBar", "FocusBorder", "FocusFrame", "KeyBar"),
    "meter": ("BigNumber", "Meter", "Segment", "legend", "short_number", "stacked"),
    "prompt": ("PlainInput", "Prompt"),
    "record": ("Column", "Record", "Tone"),
    "record_list": ("RecordList",),
    "record_rows": ("RecordRows",),
    "schema_form": ("NOTHING", "Field", "SchemaForm"),
    "schema_tree": ("JsonTree", "outline"),
    "terminal_text": ("cover_with", "visible"),
    "text": ("Hanging", "link", "middle", "plain", "safe", "shorten", "shortened"),
    "text_view": ("TextView",),
    "view_strip": ("StillText", "ViewPanel", "ViewStrip"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    return found
