"""Scenarios played step by step, with the guards' counts."""
