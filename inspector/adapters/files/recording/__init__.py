"""Reads recorded runs of agents, one format a file, and the definitions of the tools they used."""

from inspector.adapters.files.recording.definition import read_definitions
from inspector.adapters.files.recording.reader import Recordings, read_runs

__all__ = ["Recordings", "read_definitions", "read_runs"]
