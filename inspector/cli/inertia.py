"""`toolsight sessions next`: what is called after what, by whom, and how sure that is."""

from collections.abc import Callable, Sequence
from pathlib import Path

import click

from inspector.cli.configuration import load_seeds
from inspector.cli.location import database_path
from inspector.cli.options import Options, as_json, database as database_option
from inspector.cli.table import is_json, say, say_json, show
from inspector.core.error import ConfigError
from inspector.core.inertia import Aging, InertiaGraph
from inspector.core.ports import SystemClock
from inspector.core.report import COUNT, Column, Table
from inspector.core.settings import InertiaSettings
from inspector.core.text import closest
from inspector.reliability.flow import Flow, exported, flows, following, warmth
from inspector.store.call_history import SqliteCallHistory


class RecordedFlows:
    """A FlowLibrary over the database."""

    def __init__(self, options: Options) -> None:
        self._history = SqliteCallHistory(database_path(options))

    def graphs(self, seed: str = "", stopped: Callable[[], bool] = lambda: False) -> dict[str, InertiaGraph]:
        """See `FlowLibrary`; if it is stopped, what was read so far. Raises ConfigError and StoreError."""
        graphs = load_seeds(seed) if seed else {}
        for task in self._history.tasks():
            if stopped():
                break
            graphs.setdefault(task.persona, InertiaGraph()).add(task)
        return graphs


_DEFAULTS = InertiaSettings()
_PERSONAS = (
    Column("persona"),
    Column("tasks", lambda one: warmth(one.tasks, _DEFAULTS.warm_up)),
    Column("calls", kind=COUNT),
    Column("tools", lambda one: len(one.tools), COUNT),
)


@click.command("next")
@click.option("--persona", default="", help="Whose habits to show: an agent, a toolset or a name.")
@click.option("--export", "exports", is_flag=True, help="Print JSON for the setting inertia.seed.")
@as_json
@database_option
def next_tools(persona: str, exports: bool, database: Path | None) -> None:
    """Show which tools are called next, and how likely each is.

    \b
    toolsight sessions next --persona claude-code
    """
    graphs = RecordedFlows(Options(database=database)).graphs()
    found = flows(graphs, Aging(SystemClock().now(), _DEFAULTS.half_life_days))
    if exports:
        say_json({"personas": [exported(one) for one in _chosen(found, persona)]})
    elif found or is_json():
        chosen = _chosen(found, persona)
        show(list(map(exported, chosen)), (Table.of(_PERSONAS, found), following(chosen[0])) if found else ())
    else:
        say("No calls recorded yet. Import real agents' calls with `toolsight sessions import --agent NAME`.")


def _chosen(found: Sequence[Flow], persona: str) -> Sequence[Flow]:
    """The flow of that persona; all of them without a name. Raises ConfigError, with the nearest names."""
    chosen = [one for one in found if persona in ("", one.persona)]
    if not chosen and persona:
        names = [one.persona for one in found]
        near = closest(persona, names) or tuple(names) or ("none",)
        raise ConfigError(f"there is no persona '{persona}'", hint=f"Recorded personas: {', '.join(near)}.")
    return chosen
