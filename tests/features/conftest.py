"""A feature's tests run its commands and draw its pages."""

from tests.support.commands import (
    database,
    demo_vectors,
    file,
    labs,
    process,
    servers_in_process,
    toolsight,
    variables,
)
from tests.support.still_app import lean, still

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
