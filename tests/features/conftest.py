"""A feature's tests run its commands and draw its pages."""

from tests.app.conftest import lean, still
from tests.cli.conftest import (
    database,
    demo_vectors,
    file,
    labs,
    process,
    servers_in_process,
    toolsight,
    variables,
)

__all__ = [
    "database",
    "demo_vectors",
    "file",
    "labs",
    "lean",
    "process",
    "servers_in_process",
    "still",
    "toolsight",
    "variables",
]
