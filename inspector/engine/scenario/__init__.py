"""A scenario on a workbench: its clock, its changes, its totals, and profiles side by side."""
