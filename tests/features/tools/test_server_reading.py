"""Resources, templates and prompts as views of a server: listed, read, filled in, followed, and broken."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from textual.pilot import Pilot

from inspector.app.replay import Replay
from inspector.core.error import ProtocolError
from inspector.core.tool import Tool
from inspector.features.tools.panel import SERVER_VIEWS as VIEWS
from inspector.features.tools.server_reading import ReadingPanel, offer_heading, offer_row
from inspector.mcp.port import Opening
from inspector.mcp.reading import MOST_LISTED, Argument, Offer, Offered, Offers, Read
from inspector.schema.json_value import JsonObject
from tests.support.app import seen, until
from tests.support.hostile import with_hostile_text
from tests.support.memory_servers import MemoryLink, MemoryServer
from tests.support.tools_page import (
    BYTES,
    GUIDE,
    IN_TURNS,
    LOGO,
    choose,
    offering,
    rows,
    says,
    strip,
    tools_page,
)
from tests.widgets.hostile import dangerous
from widgets import PlainInput
from widgets.record import cell_text


def panel(pilot: Pilot[None], kind: str = "resources") -> ReadingPanel:
    return pilot.app.screen.query_one(f"#server-{kind}", ReadingPanel)


async def listed(pilot: Pilot[None], kind: str = "resources", number: int = 3) -> ReadingPanel:
    """Wait for the list, and go to it."""
    await until(pilot, lambda: len(panel(pilot, kind).rows.records) == number)
    await choose(pilot, kind)
    return panel(pilot, kind)


async def test_a_server_has_the_views_that_it_declares_and_their_counts() -> None:
    servers = offering()
    servers["plain"] = MemoryServer([Tool("plain", "go", "Go.")])
    async with tools_page("library", servers=servers) as (pilot, _):
        await until(pilot, lambda: strip(pilot).counts == {"resources": "3", "prompts": "2"})
        assert strip(pilot).views == ("about", "resources", "prompts", *VIEWS[1:])
        await says(pilot, "resources 3  prompts 2")
        await choose(pilot, "prompts")
        pilot.app.screen._select("server plain")  # type: ignore[attr-defined]
    async with tools_page("plain", servers=servers) as (pilot, _):
        assert strip(pilot).views == VIEWS


async def test_bytes_are_a_note_with_type_and_size_and_are_saved_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with tools_page("library", servers=offering()) as (pilot, _):
        await listed(pilot)
        await pilot.press("down", "enter")
        await says(pilot, f"[resource {LOGO} image/png, 8 B]")
        await pilot.press("x", "enter")
        await until(pilot, lambda: (tmp_path / "logo.png").is_file())
        assert (tmp_path / "logo.png").read_bytes() == BYTES


async def test_a_template_asks_for_its_variables_and_proposes_what_the_server_does() -> None:
    servers = offering()
    async with tools_page("library", servers=servers) as (pilot, _):
        resources = await listed(pilot)
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: "↓  978-1  978-2  123" in seen(pilot))
        await pilot.press("9")
        await until(pilot, lambda: "↓  978-1  978-2" in seen(pilot) and "123" not in seen(pilot))
        await pilot.press("down", "down", "enter")
        await says(pilot, "About library://books/978-2")
        assert resources.reading.form.query_one(PlainInput).value == "978-2"
        await pilot.press("shift+tab", "shift+tab", "escape")
        await until(pilot, lambda: resources.rows.rows.has_focus)
        pilot.app.screen._came_from_elsewhere = False  # type: ignore[attr-defined]
        await pilot.press("escape")
        await until(pilot, lambda: rows(pilot).rows.has_focus)


async def test_a_prompt_gets_its_arguments_and_shows_its_messages_with_their_roles() -> None:
    servers = offering()
    async with tools_page("library", servers=servers, size=IN_TURNS) as (pilot, _):
        prompts = await listed(pilot, "prompts", 2)
        await pilot.press("enter", "enter")
        await says(pilot, "required: enter a value")
        asked = servers["library"].requests

        def has_context() -> bool:
            return {"arguments": {"book": "Emma"}} in [params.get("context") for _, params in asked]

        await pilot.press(*"Emma", "tab", *"dry")
        await until(pilot, has_context)
        await pilot.press("ctrl+r")
        await says(pilot, "user:")
        assert prompts.reading.text.text == "user:\nReview Emma.\n\nuser:\n[image image/png, 3 B]"
        assert ("prompts/get", {"name": "review", "arguments": {"book": "Emma", "tone": "dry"}}) in asked


async def test_what_was_read_is_gone_in_a_replay() -> None:
    async with tools_page("library", servers=offering()) as (pilot, _):
        resources = await listed(pilot)
        await pilot.press("enter")
        await says(pilot, "Open all day.")
        replay: Replay = pilot.app.replay  # type: ignore[attr-defined]
        stream = replay.catch_up()
        replay.show(stream, stream.last, replay.moment(stream, stream.last))
        await says(pilot, "Not connected.")
        assert "Open all day." not in seen(pilot)
        assert resources.rows.records == ()


async def never(_params: JsonObject) -> JsonObject:
    await asyncio.Event().wait()
    raise AssertionError


async def test_a_list_that_is_never_answered_keeps_no_key_waiting_and_says_so() -> None:
    servers = offering(**{"resources/list": never})
    async with tools_page("library", servers=servers) as (pilot, _):
        await choose(pilot, "resources")
        await says(pilot, "Listing …")
        await choose(pilot, "prompts")
        await pilot.press("down", "enter")
        await says(pilot, "Review nothing.")
    link = MemoryLink(servers["library"], Opening())
    found = await Offers(link, 0.01).listed("resources")
    assert found.troubles == ("resources/list was not answered within 0.01 s",)


def pages(number: int, size: int) -> Any:
    """The resources of a list with so many pages; the last one names the first as the next."""

    def page(params: JsonObject) -> JsonObject:
        at = int(params.get("cursor", 0))
        entries = [{"uri": f"x:{at}/{one}", "name": "x"} for one in range(size)]
        return {"resources": entries, "nextCursor": str((at + 1) % number)}

    return page


def nested(inner: Any) -> Any:
    keys = st.sampled_from(
        ["uri", "name", "text", "blob", "mimeType", "role", "content", "type", "arguments"]
    )
    return st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=5)


def offers(**answers: Any) -> Offers:
    """What is offered by a server with these answers."""
    return Offers(MemoryLink(offering(**answers)["library"], Opening()), 5.0)


@pytest.mark.parametrize(
    ("page", "number", "trouble"),
    [
        (pages(3, 2), 6, "resources/list has more pages: the last one read lists nothing new"),
        (pages(6, 5_000), MOST_LISTED, f"resources/list has more pages: at most {MOST_LISTED:,} are shown"),
        (
            {"resources": [{"uri": f"x:{n}"} for n in range(50_000)]},
            MOST_LISTED,
            "40,000 more left out: at most 10,000 are shown",
        ),
        ({"resources": [{"uri": "x:a"}, {"uri": 3}, None, {"name": "b"}]}, 1, "3 entries left out: invalid"),
        ({"resources": "none"}, 0, "a page has no resources"),
        (None, 0, "resources/list: Method not found (-32601)"),
    ],
)
async def test_a_broken_list_says_in_a_line_what_is_wrong(page: Any, number: int, trouble: str) -> None:
    listing = offers(**{"resources/list": page, "resources/templates/list": None})
    found = await listing.listed("resources")
    assert (len(found.offers), found.troubles[0]) == (number, trouble)
    assert len(listing.link._server.requests) <= 5  # type: ignore[attr-defined]


@given(raw=st.recursive(st.none() | st.integers() | st.text(max_size=5), nested, max_leaves=8))
async def test_no_answer_breaks_more_than_itself(raw: Any) -> None:
    ones = offers(
        **{"resources/read": lambda _: {"contents": raw}, "prompts/get": lambda _: {"messages": raw}}
    )
    ones.link._server.answers |= {"prompts/list": lambda _: {"prompts": raw}}  # type: ignore[attr-defined]
    assert isinstance(await ones.listed("prompts"), Offered)
    for reading in (ones.read(GUIDE), ones.prompt("review", {})):
        (read,) = await asyncio.gather(reading, return_exceptions=True)
        assert isinstance(read, Read | ProtocolError)


@with_hostile_text
def test_hostile_text_is_shown_and_not_obeyed(text: str) -> None:
    offer = Offer("resources", text, text, text, text, 3)
    prompt = Offer("prompts", text, text, text, arguments=(Argument(text),))
    for one in (offer, prompt):
        row = offer_row(one, text)
        shown = [cell_text(cell) for cell in row.cells]
        for content in (*shown, offer_heading(one).plain):
            assert not [letter for letter in dangerous(content) if letter not in "\n\t"]
