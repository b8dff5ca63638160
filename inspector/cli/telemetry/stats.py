"""`toolsight stats`: what was searched, used, how fast it was and what failed, over any recorded sessions."""

import click

from inspector.cli.options import as_json as json_option
from inspector.cli.render import say, say_json
from inspector.cli.telemetry.choice import Chosen, choosing
from inspector.cli.telemetry.json import stats_json
from inspector.cli.telemetry.text import NOTHING, say_report_table
from inspector.domain.report import Section
from inspector.engine.telemetry.gathering import KINDS, telemetry
from inspector.engine.telemetry.section import MOST, overview, sections


@click.command()
@choosing
@click.option(
    "--most", type=click.IntRange(min=1), default=MOST, show_default=True, help="Rows of each table of tools."
)
@json_option
def stats(chosen: Chosen, most: int, as_json: bool) -> None:
    """Sum up sessions, recorded here and imported: by default all of them, or each SESSION.

    Candidates and what was used of them, scores of what was called, searches a turn and those without a use,
    latencies, failures by tool and server, retries and breakers, predictions, tokens of definitions, and what
    was asked for and not served. Shares have 95 % intervals.
    """
    gathered = telemetry(chosen.records(KINDS))
    if as_json:
        say_json(stats_json(gathered))
    elif not gathered.records:
        say(NOTHING)
    else:
        say(overview(gathered))
        for section in sections(gathered, most):
            _say(section)


def _say(section: Section) -> None:
    if not section.tables:
        return
    say(f"\n{section.title}")
    for table in section.tables:
        say_report_table(table)
