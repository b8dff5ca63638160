"""How often a property is tried, as a share of what the profile tries (see `tests/conftest.py`)."""

from hypothesis import settings

_FEWEST = 3


def examples(*, share: float) -> settings:
    """Settings for a property that costs more than others, or that has to be tried more often."""
    return settings(max_examples=max(_FEWEST, round(settings().max_examples * share)))
