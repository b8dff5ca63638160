"""Every implementation of the registry's port; one line adds another."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from inspector.features.registry.sqlite import SqliteRegistry
from inspector.features.registry.tool_registry import ToolRegistry
from tests.support.postgres import empty_registry

Opener = Callable[[], AbstractContextManager[ToolRegistry]]


@contextmanager
def sqlite() -> Iterator[ToolRegistry]:
    with TemporaryDirectory() as folder:
        registry = SqliteRegistry(Path(folder) / "toolsight.db")
        yield registry
        registry.close()


# Each opens an empty registry, and leaves nothing of it behind.
OPENERS: Mapping[str, Opener] = {"sqlite": sqlite, "postgres": empty_registry}


@pytest.fixture(params=list(OPENERS))
def opener(request: pytest.FixtureRequest) -> Opener:
    """Opens an empty registry; for properties, which need one for every example."""
    return OPENERS[request.param]


@pytest.fixture
def registry(opener: Opener) -> Iterator[ToolRegistry]:
    """An empty registry."""
    with opener() as opened:
        yield opened
