"""Rankers measured on labelled requests."""
