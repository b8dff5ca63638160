"""The adapters on which recorded runs are played."""

from functools import cache
from pathlib import Path

from inspector.adapters.clock import SystemClock
from inspector.cli.composition import make_embedder, make_prices, make_static_embedder, open_vectors
from inspector.cli.models import counter_for, model_for
from inspector.cli.options import Options
from inspector.engine.ports import Ports


def recorded_ports(database: Path | None) -> Ports:
    """The adapters for playing recorded runs; only vectors are stored, because they take long to compute."""
    from inspector.adapters.memory.fakes import FixedApprover, MemoryServerMemory, MemoryStore
    from inspector.adapters.memory.servers import MemoryConnector

    counters = cache(counter_for)
    return Ports(
        connector=MemoryConnector({}),
        store=MemoryStore(),
        memory=MemoryServerMemory(),
        clock=SystemClock(),
        approver=FixedApprover(),
        model_for=model_for,
        counter_for=counters,
        embedder_for=make_embedder,
        static=make_static_embedder(),
        vectors=open_vectors(Options(database=database)),
        prices=make_prices(),
    )
