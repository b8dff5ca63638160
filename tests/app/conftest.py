"""A still and quick app."""

from tests.support.still_app import lean, still

__all__ = ["lean", "still"]
