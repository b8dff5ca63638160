"""Calls that fail: breakers, retries, restarts and versions."""
