"""The hostile strings' names as parameters; strings of a megabyte are for the slow tier."""

import pytest

from fixtures.hostile import HOSTILE, HUGE

EVERY_NAME = [pytest.param(name, marks=pytest.mark.slow) if name in HUGE else name for name in HOSTILE]
