"""The transitions in the sessions of this machine's database, and in a seed file."""

from collections.abc import Callable
from pathlib import Path

from inspector.cli.composition import database_path, load_seeds
from inspector.cli.options import Options
from inspector.core.inertia import InertiaGraph
from inspector.store.call_history import SqliteCallHistory


class RecordedFlows:
    """A FlowLibrary over the database."""

    def __init__(self, options: Options) -> None:
        self._history = SqliteCallHistory(database_path(options))

    def graphs(self, seed: str = "", stopped: Callable[[], bool] = lambda: False) -> dict[str, InertiaGraph]:
        """See `FlowLibrary`; if it is stopped, what was read so far. Raises ConfigError and StoreError."""
        graphs = load_seeds(Path(seed)) if seed else {}
        for task in self._history.tasks():
            if stopped():
                break
            graphs.setdefault(task.persona, InertiaGraph()).add(task)
        return graphs
