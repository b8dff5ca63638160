"""`toolsight race --client`: what the gateway's search saves in an installed client."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from inspector.cli.composition import lent, open_memory
from inspector.cli.configuration import read_configuration
from inspector.cli.consent import require_consent
from inspector.cli.options import Options
from inspector.cli.run import run
from inspector.cli.table import Progress, show
from inspector.clients.client import NAMES, find_client
from inspector.core.number import count, saving, tokens
from inspector.core.redaction import learn_environment
from inspector.core.report import Block, Table
from inspector.features.clients.measured.program import installed, require_start
from inspector.features.clients.measured.race import Gateway, Lane, Raced, race
from inspector.features.clients.measured.start import Setting, client_start

_ALL_BOUND = {"discovery.enabled": False}
_LONGEST = 50
_NOTES = (
    "Tokens are o200k's of the JSON that the client sent; its own model counts and caches its own way.",
    "A stand-in plays the model: it calls the tool that the search ranks first, with made-up arguments.",
)


def race_client(client: str, question: str, options: Options) -> None:
    """Run an installed client with all tools and with the gateway's search, and show both side by side.

    Raises ToolsightError.
    """
    require_start(client)
    nowhere = Setting(Path(), "", {}, Path())
    installed(client, client_start(client, nowhere))
    learn_environment(os.environ)
    require_consent(read_configuration(options).unrestricted, open_memory(options), approve=options.approve)

    def open_gateway(binds_all: bool) -> AbstractAsyncContextManager[Gateway]:
        values = {**options.values, **(_ALL_BOUND if binds_all else {})}
        opened: AbstractAsyncContextManager[Gateway] = lent("gateway")(replace(options, values=values))
        return opened

    with tempfile.TemporaryDirectory(prefix="race-") as folder, Progress() as progress:
        raced = run(
            race(
                *(client, question, Path(folder).resolve(), open_gateway),
                lambda what, done: progress(f"{client} {what}: model call {done}", 0, 0),
            )
        )
    show(race_json(raced), race_report(raced))


def verdict(raced: Raced) -> str:
    """The result in a sentence."""
    every, search = raced.every, raced.search
    sent = f"{tokens(search.tokens)} tokens instead of {tokens(every.tokens)}"
    more = len(search.calls) - len(every.calls)
    beside = f", and {count(more, 'more model call')}" if more > 0 else ""
    return f"With the gateway's search, {_title(raced)} sends {saving(raced.saved)}: {sent}{beside}."


def _title(raced: Raced) -> str:
    title = find_client(raced.client).title if raced.client in NAMES else raced.client
    return f"{title} {raced.version}".strip()


def race_report(raced: Raced) -> Iterator[Block]:
    """Both runs side by side, and what to know of the numbers."""
    yield f"{_title(raced)}: {raced.question}"
    yield verdict(raced)
    every, search = _cells(raced.every), _cells(raced.search)
    rows = tuple((head, every[head], search[head]) for head in every)
    yield Table("", ("", "all tools", "search"), rows, frozenset({1, 2}))
    for note in notes(raced):
        yield f"· {note}"


def _cells(lane: Lane) -> dict[str, str]:
    with_tools = [call for call in lane.calls if call.tools]
    first, further = with_tools[0], with_tools[1:]
    return {
        "tools listed": f"{lane.listed:,}",
        "model calls": f"{len(lane.calls)}",
        "tool tokens, first call": f"{first.tool_tokens:,}",
        "tool tokens, further calls": ", ".join(f"{call.tool_tokens:,}" for call in further),
        "tokens of all requests": f"{lane.tokens:,}",
        "tool calls": f"{len(lane.tool_calls)}",
        "seconds": f"{lane.seconds:.1f}",
        "answer": lane.answer[:_LONGEST],
    }


def notes(raced: Raced) -> list[str]:
    """What to know before trusting the numbers."""
    told = [*_NOTES]
    if raced.every.own_search:
        told.append(
            f"{_title(raced)} has a search of its own for tools, and the gateway's comes on top of it."
        )
    if why := raced.every.refused or raced.search.refused:
        told.append(f"{raced.tool} was not called: {why}. --yes allows such calls; each would run twice.")
    return told


def race_json(raced: Raced) -> dict[str, Any]:
    """A race for programs."""
    lanes = {"every": raced.every, "search": raced.search}
    return {
        **to_builtins(raced),
        **{name: {**to_builtins(lane), "tokens": lane.tokens} for name, lane in lanes.items()},
        "saved": raced.saved,
        "verdict": verdict(raced),
        "notes": notes(raced),
    }
