"""Runs scenarios on a workbench: clock, catalog changes, totals, and profiles side by side."""
