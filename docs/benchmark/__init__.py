"""Measurements that are run by hand: `make bench`, `make bench-retrieval`, and the scripts that fit."""

import sys


def say(text: str = "") -> None:
    """One line on stdout, at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
