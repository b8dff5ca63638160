"""What servers of an earlier session left running: reported before any server starts."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from inspector.cli.options import as_json, owner_options, shared
from inspector.cli.outcome import Exit
from inspector.cli.run import interruptible
from inspector.cli.table import say, say_json
from inspector.core.number import count
from inspector.core.ports import Leftovers
from inspector.core.server import Leftover, ended_text, since_text

_LATER = "`toolsight doctor orphans` lists them; --end ends them."


def ask_about_leftovers(leftovers: Leftovers) -> None:
    """Ask whether to end what an earlier run left; without a terminal only say on stderr that it is there."""
    found = leftovers.find()
    if not found:
        return
    if not sys.stdin.isatty():
        servers = ", ".join(dict.fromkeys(each.server for each in found))
        say(f"left running by an earlier session: {servers}; {_LATER}", err=True)
        return
    say("Left running by an earlier session:", err=True)
    _say_leftovers(found, err=True)
    with interruptible():
        is_wanted = click.confirm("End these?", default=False, err=True)
    if is_wanted:
        say(ended_text(leftovers.end(found), found), err=True)
    else:
        say(f"Left running. {_LATER}", err=True)


@click.command()
@click.option("--end", is_flag=True, help="End them with SIGTERM, then SIGKILL after two seconds.")
@click.option("--keep", is_flag=True, help="Leave them running and never report them again.")
@shared
@as_json
def orphans(end: bool, keep: bool, as_json: bool, **values: Any) -> None:
    """List or end processes that servers left behind.

    They keep running if Toolsight is killed along with its reaper, or if they leave their server's process
    group. Servers of a running Toolsight are not listed. The exit code is 1 if a process could not be ended.

    \b
    toolsight doctor orphans --end
    """
    if end and keep:
        raise click.UsageError("use either --end or --keep, not both")
    from inspector.cli.composition import open_leftovers

    store = open_leftovers(owner_options(**values))
    found = store.find()
    left = store.end(found) if end else found
    if keep:
        store.keep(found)
    if as_json:
        say_json([asdict(each) for each in left])
    elif end and found:
        say(ended_text(left, found))
    else:
        _say_leftovers(found)
        say(f"{count(len(found), 'server')} left processes running" + (", kept" if keep and found else ""))
    if end and left:
        sys.exit(Exit.FAILED)


def _say_leftovers(found: Sequence[Leftover], *, err: bool = False) -> None:
    for each in found:
        pids = ", ".join(map(str, each.pids))
        kind = "detached from its server" if each.detached else "its server's process group"
        say(f"  {each.server}\n    command  {each.command}", err=err)
        say(f"    started  {since_text(each)}\n    pid      {pids} ({kind})", err=err)
