"""How often a property is tried, as a share of the profile's examples (see `tests/conftest.py`)."""

from hypothesis import settings

_FEWEST = 3


def examples(*, share: float) -> settings:
    """Settings for a property that is slower than others, or that must be tried more often."""
    return settings(max_examples=max(_FEWEST, round(settings().max_examples * share)))
