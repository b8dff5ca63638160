"""Recorded runs of agents, played under profiles."""
