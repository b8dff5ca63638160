"""A still and quick app: no animations, no waits by the clock."""

import gc
from itertools import count

import pytest
from textual import constants

from inspector.app import place, stream
from inspector.features.search.draft import DescriptionArea
from inspector.mcp.pace import Coalesced
from tests.support.idle import quicken
from tests.support.picture import draw_when_read, read_styles_once
from widgets import Guarded, PlainInput, Prompt


@pytest.fixture(scope="session", autouse=True)
def lean() -> None:
    """What is imported by now stays for good; without it, a fifth of every test is collecting garbage."""
    assert place.SCREENS
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "_GATHERED", 0.03)
    monkeypatch.setattr(stream, "_GATHERED_AS_SERVERS_CONNECT", 0.03)
    monkeypatch.setattr(constants, "TEXTUAL_ANIMATIONS", "none")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for field in (PlainInput, DescriptionArea, Prompt):
        monkeypatch.setattr(field, "cursor_blink", False)
    # Every look at the clock is ten seconds later: a question takes its answer at once.
    monkeypatch.setattr(Guarded, "clock", count(0, 10).__next__)
    # What is drawn is drawn soon, however long it takes on a busy machine.
    # Every change of a server is an event of the catalog, however fast servers follow each other.
    monkeypatch.setattr(Coalesced, "soon", lambda changes: changes.act())
    quicken(monkeypatch)
    draw_when_read(monkeypatch)
    read_styles_once(monkeypatch)
