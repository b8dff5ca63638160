"""Recorded runs of real agents, played again in one or more setups."""
