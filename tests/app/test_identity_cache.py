"""A cache by identity."""

import gc
import weakref
from collections.abc import Sequence

from hypothesis import given, strategies as st

from inspector.app.draw.line import IdentityCache


class Thing:
    """Something that equals everything and has no hash."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, _: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class Maker:
    """Makes the number of a thing, and counts."""

    def __init__(self) -> None:
        self.made: list[int] = []

    def __call__(self, thing: Thing) -> int:
        self.made.append(thing.number)
        return thing.number


def test_an_object_never_gets_what_was_made_of_another_that_is_gone() -> None:
    cache = IdentityCache(Maker(), most=10)
    # Each is gone before the next one is made, which would take over its identity.
    assert [cache(Thing(number)) for number in range(1_000)] == list(range(1_000))


@given(st.integers(2, 9), st.lists(st.integers(0, 9), max_size=60))
def test_the_newest_half_is_kept_and_never_more_than_the_most(most: int, asked: Sequence[int]) -> None:
    maker = Maker()
    cache = IdentityCache(maker, most=most)
    things = [Thing(number) for number in range(10)]
    newest: list[int] = []
    for number in asked:
        before = len(maker.made)
        assert cache(things[number]) == number
        if number in newest[: most // 2]:
            assert len(maker.made) == before
        newest = [number, *(other for other in newest if other != number)]
    alive = [weakref.ref(thing) for thing in things]
    things.clear()
    gc.collect(0)
    assert sum(each() is not None for each in alive) <= most
