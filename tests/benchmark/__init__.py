"""Measurements that are run by hand: `make bench`, `make bench-retrieval`, and the scripts that fit."""
