"""The memory of the process."""

from contextlib import suppress


def give_back() -> None:
    """Give the system what was taken for a moment, such as to load a model: glibc would keep it."""
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
