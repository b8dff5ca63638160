"""The results of a query, what missed, and where the person's own tool stands."""
