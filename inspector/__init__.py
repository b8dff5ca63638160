"""Toolsight: see what tools an LLM agent sees, what they cost, and why a search finds them or not."""

__version__ = "0.1.0"
