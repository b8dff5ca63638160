"""`toolsight sessions unmet`: what models searched for and got no use of, by the words that they share."""

import click

from inspector.cli.options import as_json as json_option
from inspector.cli.sessions.choice import Chosen, choosing
from inspector.cli.sessions.metrics_json import NOTHING, group_json, say_report_table
from inspector.cli.table import say, say_json
from inspector.clients.miss import BacklogGroups, unused
from inspector.core.number import count
from inspector.core.turns import ACTS
from inspector.measure.telemetry.section import backlog_table

_MOST = 20


@click.command()
@choosing
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=_MOST,
    show_default=True,
    help="Maximum number of requests to print.",
)
@json_option
def unmet(chosen: Chosen, most: int, as_json: bool) -> None:
    """List unmet requests: searches that led to no call.

    A search counts if it found nothing, or if the model searched again or the turn ended before any tool it
    found was called. Searches with words in common count as one request. By default, covers all sessions.

    \b
    toolsight sessions unmet --since 7d
    """
    groups = BacklogGroups()
    for miss in unused(chosen.records(ACTS)):
        groups.add(miss)
    found = groups.groups
    if as_json:
        say_json({"sessions": len(chosen.sessions), "backlog": [group_json(one) for one in found]})
    elif not chosen.sessions:
        say(NOTHING)
    elif not found:
        say(f"No unmet requests in {count(len(chosen.sessions), 'session')}.")
    else:
        times = sum(one.count for one in found)
        told = f"{count(times, 'search', 'searches')} that led to no call"
        say(f"{told} in {count(len(chosen.sessions), 'session')}, {count(len(found), 'request')}")
        say_report_table(backlog_table(found, most))
