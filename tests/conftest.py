"""Settings for every test."""

import os

from hypothesis import settings

# A busy machine is no bug; and what CI tries is the same each time, so that a failure there can be repeated.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("ci" if os.environ.get("CI") else "here")
