"""Reads what agents wrote while they worked, one format a module, as entries of `clients/transcript.py`."""
