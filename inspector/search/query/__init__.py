"""What a query says: its clauses, its steps, and its wording without literals."""
