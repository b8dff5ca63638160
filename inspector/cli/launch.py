"""Opens a headless session with every server connected, tells what failed, and acts as a client does."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from inspector.cli.options import Options
from inspector.cli.run import Exit, run
from inspector.cli.stores import open_store
from inspector.cli.table import is_json, say
from inspector.clients.client import NAMES, Client, Topic, find_client
from inspector.clients.seen import as_sent, see
from inspector.config.configuration import setting_values
from inspector.core.error import ConfigError, ModelError, SettingProblem, Severity, command
from inspector.core.events import CallProgress, Failed, Record, SessionRenewed
from inspector.core.server import ServerPhase, skipped_lines
from inspector.core.session import ServerState
from inspector.core.tool import Tool

if TYPE_CHECKING:
    from inspector.access.restriction import OpenedConfiguration
    from inspector.session.workbench import Workbench


def problem_line(problem: SettingProblem) -> str:
    """How bad it is, what is wrong and what to do, on one line."""
    return f"{problem.severity}: {problem.full}"


def is_of_policy(problem: SettingProblem) -> bool:
    """Whether a pattern of the policy matches no tool."""
    return problem.path == "access.policy" and problem.severity is Severity.ERROR


def require_policy(problems: Iterable[SettingProblem]) -> None:
    """Raise ConfigError if a pattern of the policy matches no tool: it is not what its author meant."""
    wrong = list(filter(is_of_policy, problems))
    if wrong:
        told = "; ".join(f"{one.entry} {one.text}" for one in wrong)
        raise ConfigError(f"--policy: {told}", hint=" ".join(dict.fromkeys(one.hint for one in wrong)))


def say_failures(servers: Iterable[ServerState]) -> None:
    """Print which servers failed or lost tools, and why: these are missing from what follows."""
    for server in servers:
        missing = (one for one in server.skipped if one.kind not in ("cursor", "end"))
        is_failed, lost = server.phase is ServerPhase.FAILED, "; ".join(skipped_lines(missing))
        if is_failed or lost:
            what = f"failed: {server.reason}" if is_failed else f"lost {lost}"
            say(f"{server.name} {what.rstrip('.')}. Run {command('servers')} for details.", err=True)


def every_failed(servers: Collection[ServerState]) -> bool:
    """Whether there are servers, and none of them can be used."""
    return bool(servers) and all(server.phase is ServerPhase.FAILED for server in servers)


def say_news(record: Record) -> None:
    """Print what a server did that a result does not show."""
    if isinstance(record.event, SessionRenewed | CallProgress):
        say(record.event.summary(), err=True)


@asynccontextmanager
async def headless(
    options: Options,
    opened: "OpenedConfiguration | None" = None,
    *,
    record: bool = False,
    listing: bool = False,
    tell_problems: bool = True,
    requires_policy: bool = True,
) -> "AsyncIterator[Workbench]":
    """A workbench with every server ready or failed, and a complete index; see `make_workbench`.

    With `tell_problems`, servers that failed and the problems of the settings are printed on stderr. Raises
    ConfigError, with `requires_policy` also if a pattern of the policy matches no tool.
    """
    from inspector.cli.composition import make_workbench, open_memory
    from inspector.cli.configuration import read_configuration
    from inspector.cli.consent import TerminalApprover, require_consent

    opened = opened or read_configuration(options)
    memory = open_memory(options)
    require_consent(opened.unrestricted, memory, approve=options.approve)
    approver = TerminalApprover(yes=options.yes)
    bench = make_workbench(opened.unrestricted, options, approver, memory, record=record, listing=listing)
    try:
        async with bench:
            bench.subscribe(say_news)
            bench.connect()
            await bench.wait_connected()
            await bench.retrieval.settled()
            # In a part of the configuration, what is about no server may be about the rest.
            found = [one for one in bench.state.problems if one.server or not opened.is_part]
            if tell_problems:
                say_failures(bench.state.servers.values())
                for problem in found:
                    if not is_of_policy(problem):
                        say(problem_line(problem), err=True)
            if requires_policy:
                require_policy(found)
            yield bench
    finally:
        # What was refused before it began would be listed as a session in which nothing happened.
        if record and not (bench.state.calls or bench.state.conversation.items):
            with open_store(options) as store:
                store.cut(bench.session_id, 0)


def run_headless(
    options: Options,
    work: "Callable[[Workbench], Awaitable[None]]",
    *,
    record: bool = False,
    listing: bool = False,
    tell_problems: bool = True,
    requires_policy: bool = True,
) -> bool:
    """Connect, do the work, close; see `headless`. `listing` is for work that searches for nothing.

    Returns whether no server failed. If all of them did, the command ends with Exit.FAILED.
    """

    async def worked() -> Collection[ServerState]:
        opening = headless(
            options,
            record=record,
            listing=listing,
            tell_problems=tell_problems,
            requires_policy=requires_policy,
        )
        async with opening as bench:
            await work(bench)
            return bench.state.servers.values()

    servers = run(worked())
    if every_failed(servers):
        sys.exit(Exit.FAILED)
    return not any(server.phase is ServerPhase.FAILED for server in servers)


def model_failure(failed: Failed, session: str) -> ModelError:
    """The error to end with; its hint says where what came back can be read."""
    how = command("sessions", "show", session, "--kind", "error", "--json")
    more = f"{how} shows the reply." if failed.raw else ""
    return ModelError(failed.message, hint=" ".join(filter(None, (failed.hint, more))), raw=failed.raw)


# `--client`: a command behaves like a real client; its searches follow that client's rule.

_CHOICE = f"one of {', '.join(NAMES)}, or a file of `toolsight clients measure CLIENT`"
as_client = click.option(
    "--client",
    "client",
    default="",
    metavar="CLIENT",
    callback=lambda _context, _parameter, name: find_client(name) if name else None,
    help=f"Behave like this client: {_CHOICE}; see `toolsight clients`.",
)
as_clients = click.option(
    "--client",
    "clients",
    multiple=True,
    metavar="CLIENT",
    callback=lambda _context, _parameter, names: tuple(map(find_client, dict.fromkeys(names))),
    help="Behave like this client; see `toolsight clients`. Repeat to compare clients.",
)


def client_ranker(client: Client) -> str:
    """The ranker that follows a client's rule. Raises ConfigError if it has none, with the reason."""
    if not client.search.ranker:
        hint = "`toolsight clients` lists the clients whose search rule is known."
        raise ConfigError(f"cannot search as {client.title}: {client.search.none}", hint=hint)
    return client.search.ranker


async def search_as(bench: "Workbench", client: Client, tool: Tool | None = None) -> None:
    """Search as the client from now on: its ranker, as many results, over what its model can get.

    It prints by whose rule is searched, and how sure that rule is, but not for programs. Raises ConfigError,
    also if the client refuses the `tool` that is looked for.
    """
    if tool is not None:
        require_offered(client, tool)
    bench.change_setting("discovery.ranker", client_ranker(client))
    bench.change_setting("discovery.max_search_results", client.search.results)
    index = bench.retrieval.index
    bench.retrieval.update(as_sent(client, index.tools), index.summaries, index.instructions)
    await bench.retrieval.settled()
    if not is_json():
        say_search_as(client)


def options_as(options: Options, client: Client | None, searching: Sequence[Client] = ()) -> Options:
    """The options with what the client declares, unless `--set` says otherwise."""
    return replace(options, implied=implied_by(client, searching))


def implied_by(client: Client | None, searching: Sequence[Client]) -> dict[str, Any]:
    """The settings by path that clients bring: what one declares, and no vectors for searches without."""
    from inspector.search.ranker.ranker_list import INFO

    implied = setting_values(client.declares) if client is not None else {}
    if searching and not any(INFO[client_ranker(one)].uses_vectors for one in searching):
        implied["discovery.embedding_model"] = "none"
    return implied


def say_search_as(client: Client, *, err: bool = False) -> None:
    """Print by whose rule was searched, and how sure that rule is."""
    sure = client.confidence(Topic.SEARCH).told
    rule = f"{client.search.ranker}, {client.search.results} results ({sure})"
    say(f"searching as {client.title}: {rule}", err=err)


def require_offered(client: Client, tool: Tool) -> None:
    """Raises ConfigError if no search of the client finds a tool, with the reason."""
    seen = see(client, tool)
    hint = f"See what it gets with {command('tools', tool.id, '--client', client.name)}."
    if seen.refused:
        raise ConfigError(f"{client.title} refuses {tool.id}: {seen.refused}", hint=hint)
    if seen.bound:
        raise ConfigError(f"{client.title} loads {tool.id} at once and never searches for it", hint=hint)


def search_json(client: Client | None) -> dict[str, Any]:
    """By whose rule was searched, and how sure that rule is, for programs; nothing without a client."""
    if client is None:
        return {}
    return {"as": {"client": client.name, "confidence": client.confidence(Topic.SEARCH)}}
