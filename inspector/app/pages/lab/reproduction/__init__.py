"""Reproduction: published tables beside our own numbers."""
