"""`toolsight diff`: what differs between two sessions, servers or snapshots."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from msgspec.structs import replace

from inspector.access.restriction import OpenedConfiguration
from inspector.cli.launch import headless
from inspector.cli.options import (
    APPROVE,
    DATABASE,
    PROFILE,
    SET,
    Options,
    as_json,
    require_nobody,
    session_command,
)
from inspector.cli.run import Exit, run
from inspector.cli.stores import open_store
from inspector.cli.table import show
from inspector.clients.client import NAMES
from inspector.config.client_format import OTHER_FORMATS
from inspector.config.configuration import Configuration
from inspector.config.file import is_file, names_a_server
from inspector.config.reader import REQUESTS
from inspector.core.error import ConfigError, ConnectError
from inspector.core.ports import EventStore
from inspector.core.server import ServerPhase
from inspector.core.tool import Catalog
from inspector.features.check.checking import snapshot_of
from inspector.features.check.lock import Snapshot, is_snapshot
from inspector.search.answer.expectation import Expectation, resolved, results
from inspector.search.answer.request_file import read_expectations
from inspector.session.difference import (
    KINDS,
    Difference,
    Side,
    aligned,
    difference,
    difference_json,
    difference_report,
)
from inspector.session.workbench import Workbench
from inspector.store.shared_session import is_shared, opened_session
from inspector.store.store import SqliteStore


@session_command("diff", takes=(DATABASE, PROFILE, SET, APPROVE))
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option(
    "--requests",
    type=click.Path(path_type=Path),
    help=f"Requests whose answers are compared, too. Default: {REQUESTS} beside A or B, or here.",
)
@as_json
def diff(first: str, second: str, requests: Path | None, chosen: Options) -> None:
    """Show what differs between A and B.

    Each is a session, a file of one (.toolsight), a server as after `--`, a stored list of tools, a
    configuration, or a snapshot of `check`. The exit code is 3 if anything differs.

    \b
    toolsight diff tools.lock.json server.py
    toolsight diff before.json after.json --requests mine.requests
    """
    if {first, second} & set(NAMES):
        raise click.UsageError(f"Compare clients with `toolsight clients {first} {second}`.")
    require_nobody(chosen)
    beside = [Path(word).absolute().parent for word in (first, second) if is_file(Path(word))]
    there = (folder / REQUESTS for folder in (*beside, Path.cwd()) if is_file(folder / REQUESTS))
    path = requests or next(there, None)
    found = run(_difference(first, second, read_expectations(path) if path else (), chosen))
    show(difference_json(found), difference_report(found))
    if not found.is_none:
        sys.exit(Exit.GATE)


async def _difference(first: str, second: str, wanted: Sequence[Expectation], options: Options) -> Difference:
    with open_store(options) as store:
        pair = aligned(*[await _side(word, options, store) for word in (first, second)])
    nothing = OpenedConfiguration(Configuration("", (), trusted=True))
    async with headless(options, nothing, listing=not wanted) as bench:
        return difference(*[await _measured(bench, one, wanted) for one in pair])


async def _side(word: str, options: Options, store: EventStore) -> Side:
    """What a word names. Raises ConfigError, StoreError, and ConnectError if a server of it failed."""
    path = Path(word)
    if is_shared(word):
        with opened_session(path) as (database, session), SqliteStore(database) as shared:
            return Side.of_session(word, shared.read(session, kinds=KINDS))
    if any(one.id == word for one in store.sessions()):
        return Side.of_session(word, store.read(word, kinds=KINDS))
    if is_file(path) and is_snapshot(path):
        return _of_snapshot(word, Snapshot.read(path))
    words = (word,) if is_file(path) else tuple(shlex.split(word))
    if not names_a_server(words):
        hint = "`toolsight sessions` lists the sessions; a command that starts a server goes in quotes."
        raise ConfigError(f"'{word}' is no session, file, address or command", hint=hint)
    own = {"config": path} if path.suffix in OTHER_FORMATS else {"server": words}
    async with headless(replace(options, **own), listing=True) as bench:
        if any(server.phase is ServerPhase.FAILED for server in bench.state.servers.values()):
            raise ConnectError(f"a server of {word} failed", hint="Its tools would all seem to be gone.")
        return _of_snapshot(word, snapshot_of(bench))


def _of_snapshot(name: str, snapshot: Snapshot) -> Side:
    return Side(name, snapshot.tools, snapshot.instructions)


async def _measured(bench: Workbench, side: Side, wanted: Sequence[Expectation]) -> Side:
    """The side with the tokens of its tools, and its answers: the same search over either."""
    tools, meter, retrieval = side.defined, bench.accounting.meter, bench.retrieval
    counted = side.counted(lambda tool: meter.cost(tool).tokens)
    if not wanted:
        return counted
    retrieval.update(tools, {}, side.instructions)
    await retrieval.settled()
    asked = [resolved(one, Catalog(tools), is_whole=False) for one in wanted]
    return replace(
        counted, answers=list(results(asked, retrieval.rankers, retrieval.ranker_name, retrieval.rules))
    )
