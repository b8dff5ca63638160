"""Settings for every test.

How many examples a property tries: `HYPOTHESIS_PROFILE` names the profile; without it, `ci` where `CI` is
set, and `default` for people. A property that costs more than others takes a share of them, see
`tests.support.examples`.
"""

import os

from hypothesis import settings

# A busy machine is no bug; and what CI tries is the same each time, so that a failure there can be repeated.
settings.register_profile("default", deadline=None, max_examples=50)
settings.register_profile("ci", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("nightly", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default"))
