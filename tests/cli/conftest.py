"""The command line, run by `main` in this process or in one of its own."""

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

__all__ = [
    "database",
    "demo_vectors",
    "file",
    "labs",
    "process",
    "servers_in_process",
    "toolsight",
    "variables",
]
