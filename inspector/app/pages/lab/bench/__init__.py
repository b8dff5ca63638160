"""The bench: rankers measured on labelled requests."""
