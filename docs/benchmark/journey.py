"""Follows three journeys through the code as it runs, and prints the files, folders and rooms they pass.

`python -m docs.benchmark.journey`. One journey leads from enter in the search box until the rows are drawn
(a warm search for "late orders" on the demo), one from a model's tool call until its result is stored, and
one from a server's answer to `tools/list` until the page of the servers shows the tool that came.
Recorded by `sys.setprofile` in every thread; the standard library and packages are left out.
"""

import asyncio
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

from inspector.core.ports import ToolListing
from inspector.mcp.listing import list_tools
from inspector.mcp.pace import ChangePace
from screenshots.taking import goes, running, types, until
from widgets import RecordList

ROOT = Path(__file__).resolve().parents[2]
_OURS = (f"{ROOT}/inspector/", f"{ROOT}/widgets/")
QUERY = "late orders"
QUESTION = "Which orders shipped late? Mail the list to sales@example.com."


@dataclass
class Journey:
    """The files that a journey enters, in order; every change of file is a stay of its own."""

    title: str
    stays: list[str] = field(default_factory=list)

    @property
    def files(self) -> list[str]:
        return sorted(set(self.stays))

    @property
    def folders(self) -> list[str]:
        return sorted({str(Path(file).parent) for file in self.files})

    @property
    def changes(self) -> int:
        """How often the journey goes from one folder to another."""
        folders = [Path(file).parent for file in self.stays]
        return sum(before != after for before, after in pairwise(folders))

    @property
    def rooms(self) -> list[str]:
        return sorted({_room(file) for file in self.files})

    def report(self) -> str:
        """Return the numbers, then every room with its files."""
        lines = [
            f"{self.title}: {len(self.files)} files, {len(self.folders)} folders, "
            f"{self.changes} changes of folder, {len(self.rooms)} rooms"
        ]
        for room in self.rooms:
            lines.append(f"  {room}: {', '.join(file for file in self.files if _room(file) == room)}")
        return "\n".join(lines)


def _room(file: str) -> str:
    """The room of a file, which is a package below inspector; widgets are one."""
    parts = Path(file).parts
    return parts[0] if parts[0] == "widgets" or len(parts) < 3 else parts[1]


class Follower:
    """Records stays while a journey is under way; threads that start later are followed too."""

    def __init__(self) -> None:
        self._journey: Journey | None = None

    def install(self) -> None:
        sys.setprofile(self._seen)
        threading.setprofile(self._seen)

    def begin(self, journey: Journey) -> None:
        self._journey = journey

    def end(self) -> None:
        self._journey = None

    def end_when_drawn(self, rows: RecordList, is_there: Callable[[], bool]) -> asyncio.Event:
        """End the journey as soon as other rows, for which the condition holds, are drawn."""
        ended = asyncio.Event()

        def end() -> None:
            self.end()
            ended.set()

        def look() -> None:
            if is_there():
                rows.call_after_refresh(end)

        rows.watch(rows, "records", look, init=False)
        return ended

    def _seen(self, frame: FrameType, event: str, _argument: Any) -> None:
        journey, name = self._journey, frame.f_code.co_filename
        if journey is None or event not in ("call", "return") or not name.startswith(_OURS):
            return
        file = name.removeprefix(f"{ROOT}/")
        if not journey.stays or journey.stays[-1] != file:
            journey.stays.append(file)


async def _search(follower: Follower) -> Journey:
    journey = Journey(f"search for “{QUERY}”")
    async with running((120, 36)) as (pilot, _):
        await goes(pilot, "search")
        await types(pilot, QUERY)
        found = pilot.app.screen.query_one("#found", RecordList)
        await pilot.press("enter")
        await until(pilot, lambda: bool(found.records))
        await pilot.press("i")
        before = found.records
        follower.begin(journey)
        drawn = follower.end_when_drawn(found, lambda: found.records is not before)
        await pilot.press("enter")
        await drawn.wait()
    return journey


async def _call(follower: Follower) -> Journey:
    journey = Journey("a model's tool call")
    async with running((120, 36)) as (_, bench):
        entered: list[bool] = []

        def watch(record: Any) -> None:
            if record.kind == "response" and record.event.tool_calls and not entered:
                if any(call.name != "search_tools" for call in record.event.tool_calls):
                    entered.append(True)
                    follower.begin(journey)
            elif record.kind == "result" and entered:
                follower.end()

        bench.subscribe(watch)
        await bench.chat(QUESTION)
    return journey


async def _listing(follower: Follower) -> Journey:
    journey = Journey("a server's answer to tools/list")

    async def listed(*arguments: Any) -> ToolListing:
        answer = await list_tools(*arguments)
        follower.begin(journey)
        return answer

    async with running((120, 36)) as (pilot, bench):
        await goes(pilot, "servers")
        rows = pilot.app.screen.query_one("#catalog", RecordList)
        # The call that brings the tool is over when its server is asked for the list.
        with (
            patch("inspector.mcp.connection.list_tools", listed),
            patch.object(ChangePace, "pause", lambda _: 0.5),
        ):
            drawn = follower.end_when_drawn(
                rows, lambda: "clock:get_moon_phase" in [row.key for row in rows.records]
            )
            await bench.call("clock:wait", {"seconds": 0})
            await drawn.wait()
    return journey


async def main() -> None:
    follower = Follower()
    follower.install()
    for take in (_search, _call, _listing):
        sys.stdout.write((await take(follower)).report() + "\n")


if __name__ == "__main__":
    asyncio.run(main())
