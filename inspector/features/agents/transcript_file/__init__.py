"""Reads what agents wrote while they worked, one format a module, as entries of `agents/transcript.py`."""
