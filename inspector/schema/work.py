"""How much work a comparison of schemas may still take: it ends whatever it reads."""

from collections.abc import Mapping

MOST_WORK = 100_000
# So many characters of a text are one step.
_CHARACTERS = 64


class TooLarge(Exception):
    """More work than a comparison may take."""


class Work:
    """One budget for a whole comparison; a step is about a value that is looked at."""

    def __init__(self, most: int = MOST_WORK) -> None:
        self._left = most

    def spend(self, steps: int) -> None:
        """Take some steps. Raises TooLarge if they are not left."""
        self._left -= steps
        if self._left < 0:
            raise TooLarge

    def read(self, *values: object) -> None:
        """Take as many steps as there are values in these, in all depths. Raises TooLarge."""
        for value in values:
            self.spend(size(value, self._left))


def size(value: object, most: int) -> int:
    """How many values there are in one, and itself; counted no further than a little beyond `most`."""
    waiting, steps = [value], 0
    while waiting and steps <= most:
        one = waiting.pop()
        steps += 1
        if isinstance(one, str):
            steps += len(one) // _CHARACTERS
        elif isinstance(one, Mapping):
            steps += len(one)
            if steps <= most:
                waiting.extend(one.values())
        elif isinstance(one, list | tuple):
            steps += len(one)
            if steps <= most:
                waiting.extend(one)
    return steps
