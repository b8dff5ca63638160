"""Hostile text for tests: every string in one test, or by kind for tests that draw several pages a text."""

from collections.abc import Callable
from functools import wraps
from inspect import signature

import pytest

from fixtures.hostile import HOSTILE, HUGE, MARKUP, SIZE, TERMINAL, UNICODE

# A megabyte in a dozen places is slow to draw, and shows nothing that 20 kB do not.
_LONG = 20_000
KINDS = {
    "markup": " | ".join(MARKUP.values()),
    "terminal": " | ".join(TERMINAL.values()),
    "unicode": " | ".join(UNICODE.values()),
    "size": " | ".join(text for name, text in SIZE.items() if name not in HUGE),
}
LONG_KINDS = {**KINDS, **{name: SIZE[name][:_LONG] for name in sorted(HUGE)}}

# Where one text takes long, all of a kind are one text.
by_hostile_kind = pytest.mark.parametrize("text", LONG_KINDS.values(), ids=LONG_KINDS)


def with_hostile_text(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test with every hostile string as its argument `text`; a failure says which one it was."""

    @wraps(test)
    def every(**fixtures: object) -> None:
        for name, text in HOSTILE.items():
            try:
                test(text=text[:_LONG], **fixtures)
            except BaseException as error:
                error.add_note(f"the hostile text is {name!r}")
                raise

    takes = signature(test)
    others = [parameter for name, parameter in takes.parameters.items() if name != "text"]
    every.__signature__ = takes.replace(parameters=others)  # type: ignore[attr-defined]
    return every
