"""`toolsight clients measure` and `diff`: what the person's own client does, and what became different."""

import asyncio
import os
import shlex
import sys
import tempfile
from collections.abc import Coroutine, Iterator
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from inspector.cli.location import fixtures_path
from inspector.cli.options import as_json
from inspector.cli.run import interruptible, run
from inspector.cli.table import Progress, say, show, write_file
from inspector.clients.client import NAMES, Client, Topic, find_client, read_client
from inspector.core.error import ConfigError, ProtocolError
from inspector.core.number import count
from inspector.core.redaction import learn_environment, open_private, private_folder
from inspector.core.report import NAME, Column, Table
from inspector.features.clients.facts import today
from inspector.features.clients.measured.conversation import Conversation
from inspector.features.clients.measured.marks import ServerLog
from inspector.features.clients.measured.program import (
    STARTS,
    Setting,
    Start,
    by_hand_text,
    installed,
    running,
    server_commands,
    write,
)
from inspector.features.clients.measured.reading import Reading
from inspector.features.clients.measured.stand_in import StandIn, listening
from inspector.mcp.reaper import Reaper

_LAST_WORDS = 2_000
_SERVER_LOG = "server.jsonl"


@click.command()
@click.argument("name", metavar="CLIENT")
@click.option(
    "--model", default="", metavar="MODEL", help="Have the client ask for this model. Default: its own."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("measured.toml"),
    show_default=True,
    help="Write the client's file here.",
)
@click.option(
    "--requests",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep the run in this new folder: the client's requests, without secrets, and what the server saw.",
)
@click.option(
    "--timeout",
    type=click.IntRange(min=1),
    default=300,
    show_default=True,
    help="Give up after so many seconds.",
)
@click.option("--quick", is_flag=True, help="Leave out the calls that take 7 and 70 seconds.")
@click.option("--by-hand", is_flag=True, help="Print what to start your client with, and wait for it.")
@click.option("--yes", is_flag=True, help="Start the client without asking.")
@as_json
def measure(
    name: str,
    model: str,
    output: Path,
    requests: Path | None,
    timeout: int,
    *,
    quick: bool,
    by_hand: bool,
    yes: bool,
) -> None:
    """Measure what your own client does with tools.

    It starts the client (claude-code or codex; any other with --by-hand) with a server made for this and, in
    place of its model, a stand-in on this machine that has it search and call tools. That needs no key and no
    network, and your own configuration stays as it is. The outcome is a file for --client.

    \b
    toolsight clients measure claude-code
    toolsight tools --client ./measured.toml
    """
    if not by_hand and name not in STARTS:
        hint = f"Only {' and '.join(STARTS)} can be started here; add --by-hand to start yours yourself."
        raise ConfigError(f"there is no command known for '{name}'", hint=hint)
    if requests is not None and requests.exists():
        raise ConfigError(f"{requests} exists already", hint="Choose a new folder.")
    with tempfile.TemporaryDirectory(prefix="toolsight-") as temporary, Progress() as progress:
        folder = Path(temporary) if requests is None else requests.resolve()
        private_folder(folder)
        # The server appends to it.
        open_private(folder / _SERVER_LOG, "w").close()
        talk = Conversation(ServerLog(folder / _SERVER_LOG))
        stand_in = StandIn(talk, folder / "requests", partial(progress, "measuring"))
        learn_environment(os.environ)
        try:
            servers = server_commands(fixtures_path())
            log = folder / _SERVER_LOG
            setting = Setting(folder, "", servers, log, model, slow=not quick)
            run(_measure(stand_in, name, setting, timeout, asks=not yes, by_hand=by_hand))
            text = _file(name, talk)
        finally:
            _clean(folder)
    measured = read_client(str(output), text)
    write_file(output, text)
    told = f"{measured.title}: {count(len(measured.facts), 'fact')} in {output}"
    if name in NAMES:
        told += f"; `toolsight clients diff {name} {output}` compares it with what was known"
    show({"file": str(output), "title": measured.title, "facts": len(measured.facts)}, [told])


def _clean(folder: Path) -> None:
    """Take the secrets out of what others wrote there: the client, and the server of what it heard."""
    for path in (folder / _SERVER_LOG, folder / "output.txt"):
        if path.exists():
            write_file(path, path.read_text(encoding="utf-8", errors="replace"))


async def _measure(
    stand_in: StandIn, name: str, setting: Setting, timeout: int, *, asks: bool, by_hand: bool
) -> None:
    """Have the conversation. Raises ToolsightError if it does not come to its end."""
    async with listening(stand_in):
        setting = replace(setting, address=stand_in.address)
        if by_hand:
            say(by_hand_text(setting), err=True, exact=True)
            await _wait(timeout, stand_in.done.wait())
        else:
            await _start(stand_in, name, setting, timeout, asks=asks)
    if stand_in.failure is not None:
        raise stand_in.failure


async def _start(stand_in: StandIn, name: str, setting: Setting, timeout: int, *, asks: bool) -> None:
    """Start the client, after a yes, and wait until the conversation or the client has ended."""
    start = STARTS[name](setting)
    start = replace(start, argv=(installed(name, start.argv[0]), *start.argv[1:]))
    if asks and not _agreed(start):
        hint = "Run the command in a terminal to confirm, or add --yes."
        raise ConfigError(f"{name} was not started", hint=hint)
    write(start)
    reaper = Reaper()
    try:
        async with running(start, setting, reaper) as process:
            await _wait(timeout, stand_in.done.wait(), process.wait())
    finally:
        reaper.close()
    if not stand_in.done.is_set():
        said = (setting.folder / "output.txt").read_text(encoding="utf-8", errors="replace")
        heard = count(len(stand_in.conversation.exchanges), "request")
        told = f"the client ended after {heard} to its model, before all was asked"
        raise ProtocolError(told, hint=said[-_LAST_WORDS:].strip())


async def _wait(timeout: int, *ends: Coroutine[Any, Any, object]) -> None:
    """Until one of these has ended. Raises ProtocolError after so many seconds."""
    tasks = [asyncio.ensure_future(end) for end in ends]
    try:
        done, _ = await asyncio.wait(tasks, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
    if not done:
        hint = "--timeout gives it longer; --requests keeps what it sent."
        raise ProtocolError(f"the client was not done after {count(timeout, 'second')}", hint=hint)


def _agreed(start: Start) -> bool:
    if not sys.stdin.isatty():
        return False
    say("This starts a program, with nothing of your own configuration:", err=True)
    say(f"  {shlex.join(start.argv)}", err=True, exact=True)
    for name, value in start.variables.items():
        say(f"  {name}={value}", err=True, exact=True)
    with interruptible():
        return click.confirm("Start it?", default=False, err=True)


def _file(name: str, talk: Conversation) -> str:
    """The client's file; searches as a known client does, if it does."""
    reading = Reading(talk)
    if name in NAMES:
        reading.compare(find_client(name), today())
    return reading.toml(find_client(name).title if name in NAMES else name, today())


@click.command()
@click.argument("first", metavar="CLIENT")
@click.argument("second", metavar="CLIENT")
@as_json
def diff(first: str, second: str) -> None:
    """Compare two clients, or one as known and as measured.

    \b
    toolsight clients diff claude-code ./measured.toml
    """
    pair = find_client(first), find_client(second)
    rules = [(name, *values) for name, values in _rules(*pair) if values[0] != values[1]]
    facts = {one.name: _only_in(one, other) for one, other in (pair, pair[::-1])}
    show(
        {
            "rules": [{"rule": name, "first": a, "second": b} for name, a, b in rules],
            "facts": facts,
        },
        _diff_report(pair, rules, facts),
    )


def _rules(first: Client, second: Client) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Every rule of both, by its path."""
    a, b = asdict(first), asdict(second)
    for table, values in a.items():
        if table != "fidelity" and isinstance(values, dict):
            yield from ((f"{table}.{key}", (value, b[table][key])) for key, value in values.items())
        elif table in ("follows_changes", "news_reach", "protocol"):
            yield table, (values, b[table])


def _only_in(one: Client, other: Client) -> list[dict[str, Any]]:
    """What one says and the other does not, with what it was seen with and whether it is stale."""
    said = {(fact.topic, fact.says) for fact in other.facts}
    return [
        {
            "topic": fact.topic,
            "says": fact.says,
            "evidence": fact.evidence(today()),
            "stale": fact.is_stale(today()),
        }
        for fact in one.facts
        if (fact.topic, fact.says) not in said
    ]


def _diff_report(
    pair: tuple[Client, Client],
    rules: list[tuple[str, Any, Any]],
    facts: dict[str, list[dict[str, Any]]],
) -> Iterator[str | Table]:
    columns = (
        Column("rule", lambda row: row[0], NAME),
        Column(pair[0].name, lambda row: _shown(row[1])),
        Column(pair[1].name, lambda row: _shown(row[2])),
    )
    yield Table.of(columns, rules) if rules else "every rule is the same"
    for topic in Topic:
        for name, said in facts.items():
            for fact in said:
                if fact["topic"] == topic:
                    yield f"\n{topic}, {name}: {fact['says']}\n  {fact['evidence']}"


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
