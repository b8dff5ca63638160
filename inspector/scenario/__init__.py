"""Scenarios with expectations, profiles side by side, and recorded runs."""
