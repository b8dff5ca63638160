"""Drawing that several pages share: plots, tables, the header line, budgets, errors."""
