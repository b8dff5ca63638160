"""Scenarios, profiles side by side, the race, and recorded runs."""
