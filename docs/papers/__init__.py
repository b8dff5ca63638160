"""Measures published tables again: generated catalogs and tasks, the methods, and the report's sections."""
