"""A text that costs nothing while it stays as it is, and looks like any other."""

from typing import Any

import pytest
from textual.content import Content
from textual.widgets import Static

from tests.widgets.screen import Host
from widgets import StillText

WIDTH = 12


class CountedText(StillText):
    """Notes for each refresh whether it lays the page out again."""

    def __init__(self) -> None:
        self.layouts: list[bool] = []
        super().__init__(Content(""), markup=False)

    def refresh(self, *regions: Any, layout: bool = False, **more: Any) -> Any:
        self.layouts.append(layout)
        return super().refresh(*regions, layout=layout, **more)


async def cost(before: Content, after: Content, styles: str = "width: 1fr") -> list[bool]:
    """The refreshes that the change from one text to another takes."""
    app = Host(text := CountedText(), Static("the end"))
    app.CSS = f"Static {{ {styles} }}"  # type: ignore[misc]
    async with app.run_test(size=(WIDTH, 10)) as pilot:
        text.update(before)
        await pilot.pause()
        text.layouts.clear()
        text.update(after)
        return text.layouts


async def test_the_same_text_again_is_no_refresh() -> None:
    bold = Content.styled("three", "bold")
    assert await cost(bold, Content.styled("three", "bold")) == []
    assert await cost(bold, Content.styled("three", "red")) == [False]


@pytest.mark.parametrize(
    ("before", "after", "styles"),
    [
        ("one", "three", "width: 1fr"),
        ("one\ntwo", "three\nfour", "width: 1fr"),
        ("one", "two", "width: auto"),
        ("one of three servers", "two of three servers", "width: 1fr"),
        ("one", "three", "display: none"),
    ],
)
async def test_another_text_of_the_same_size_does_not_lay_the_page_out_again(
    before: str, after: str, styles: str
) -> None:
    assert await cost(Content(before), Content(after), styles) == [False]
