"""What several pages draw: plots, tables, the header line, budgets, failures."""
