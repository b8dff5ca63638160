"""Measures rankers over labelled requests."""
