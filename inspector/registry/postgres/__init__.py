"""PostgreSQL with pgvector, through psycopg: a registry of tools for many."""
