"""Reads recorded runs of agents, one format a file, and the definitions of the tools they used."""

from inspector.mcp.tool_file import read_definitions
from inspector.scenario.recording.reader import Recordings, read_runs

__all__ = ["Recordings", "read_definitions", "read_runs"]
