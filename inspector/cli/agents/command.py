"""`toolsight sessions agents`: what real agents did with their servers, over the newest imported sessions."""

from pathlib import Path

import click

from inspector.adapters.clock import SystemClock
from inspector.cli.agents.library import MachineLibrary
from inspector.cli.agents.report import report_json, say_report
from inspector.cli.composition import open_store
from inspector.cli.options import Options, as_json as json_option, database
from inspector.cli.progress import Progress
from inspector.cli.render import say, say_json
from inspector.engine.agents.report import agent_report

_LAST = 50


@click.command()
@click.option(
    "--last", type=click.IntRange(min=1), default=_LAST, show_default=True, help="Only the N newest sessions."
)
@json_option
@database
def agents(last: int, as_json: bool, database: Path | None) -> None:
    """Summarize how agents used each server.

    Counts the tools that were known, loaded, called, never called and missed, with their tokens. Costs are
    list prices for the tokens that providers reported. Import sessions with `toolsight sessions import`.

    \b
    toolsight sessions agents --last 20
    """
    options = Options(database=database)
    stored = [one.id for one in open_store(options).sessions() if one.agent][:last]
    if not stored and not as_json:
        say("No agent sessions imported yet. Import some with `toolsight sessions import --agent NAME`.")
        return
    library, progress = MachineLibrary(options), Progress(SystemClock())
    found = []
    for number, session in enumerate(stored, start=1):
        progress("reading sessions", number, len(stored))
        found.append(library.findings(session))
    progress.clear()
    report = agent_report(found)
    say_json(report_json(report)) if as_json else say_report(report)
