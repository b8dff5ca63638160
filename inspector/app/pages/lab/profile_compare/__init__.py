"""Comparison of profiles on one scenario."""
