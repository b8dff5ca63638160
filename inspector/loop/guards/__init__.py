"""The iteration guard and the redundant-search detector."""
