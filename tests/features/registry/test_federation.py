"""A search over several registries: what is merged, and what is left out and why."""

import threading
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.core.access import EVERYTHING, Grant, Scope, Sight
from inspector.core.error import StoreError
from inspector.core.tool import Tool
from inspector.features.registry.acceptance import Neighbour, RegisteredTool, embedded_text
from inspector.features.registry.federation import LATE, Federated, Member, search_all
from tests.support.memory_vectors import MemoryEmbedder

EMBEDDER = MemoryEmbedder()
WORDS = ("order", "parcel", "mail", "stock")


class Shelf:
    """A registry in memory; `model` embedded its tools, `near` replaces what is nearest."""

    def __init__(self, *tools: Tool, model: str = EMBEDDER.name, near: Sequence[Neighbour] = ()) -> None:
        self.tools, self.model, self.near = tools, model, tuple(near)

    def count(self, sight: Sight = EVERYTHING) -> int:
        return len(sight.of(self.tools))

    def embedded(self, model: str, sight: Sight = EVERYTHING) -> int:
        return self.count(sight) if model == self.model else 0

    def nearest(
        self,
        model: str,
        vector: Sequence[float],
        count: int,
        sight: Sight = EVERYTHING,
        *,
        floor: float = -1.0,
    ) -> tuple[Neighbour, ...]:
        if self.near:
            return self.near
        seen = sight.of(self.tools) if model == self.model else ()
        near = (one for one in (neighbour(tool, vector) for tool in seen) if one.similarity >= floor)
        return tuple(sorted(near, key=lambda one: (-one.similarity, one.found.tool.id))[:count])

    def close(self) -> None: ...


class Broken(Shelf):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def nearest(self, *_given: object, **_more: object) -> tuple[Neighbour, ...]:
        raise self.error


class Stuck(Shelf):
    """Answers when it is let go."""

    def __init__(self, *tools: Tool) -> None:
        super().__init__(*tools)
        self.go = threading.Event()

    def nearest(self, *given: object, **more: object) -> tuple[Neighbour, ...]:
        self.go.wait()
        return super().nearest(*given, **more)  # type: ignore[arg-type]


def neighbour(tool: Tool, vector: Sequence[float]) -> Neighbour:
    row = EMBEDDER.embed([embedded_text(tool)])[0]
    similarity = sum(map(float.__mul__, row, map(float, vector)))
    return Neighbour(RegisteredTool(tool, "file", 1, "h", 1.0), similarity)


def searched(own: Shelf, members: Sequence[Member], *, limit: int = 5, seconds: float = 60) -> Federated:
    return search_all(
        lambda one: own.nearest(one.model, one.vector, limit),
        members,
        EMBEDDER,
        "late order",
        limit,
        seconds=seconds,
    )


def member(name: str, registry: Shelf, sight: Sight = EVERYTHING) -> Member:
    return Member(name, lambda: registry, lambda: sight)  # type: ignore[arg-type,return-value]


def listed(done: Federated) -> list[tuple[str, str]]:
    return [(one.peer, one.neighbour.found.tool.id) for one in done.found]


def granted(*patterns: str) -> Sight:
    return Sight("ada", grants=(Grant(Scope.USER, "ada", "acme", patterns),) if patterns else ())


OWN = Tool("shop", "late_order", "Find a late order.")
THEIRS = Tool("post", "late_parcel", "Find the parcel of a late order.")
NAMES = st.sampled_from([f"{server}:{word}" for server in "ab" for word in WORDS])
TEXTS = st.lists(st.sampled_from((*WORDS, "late")), min_size=1, max_size=3).map(" ".join)
SHELVES = st.dictionaries(NAMES, TEXTS, max_size=6).map(
    lambda found: Shelf(*(Tool(name[0], name[2:], text) for name, text in found.items()))
)
SIGHTS = st.lists(st.sampled_from(["*", "a:*", "b:*", "?:order", "*mail"]), max_size=2).map(
    lambda patterns: granted(*patterns)
)


@given(
    own=SHELVES,
    peers=st.lists(st.tuples(SHELVES, SIGHTS), max_size=3),
    limit=st.integers(1, 8),
)
def test_the_results_are_the_nearest_of_what_each_registry_permits(
    own: Shelf, peers: list[tuple[Shelf, Sight]], limit: int
) -> None:
    vector = EMBEDDER.embed(["late order"])[0]
    everyone = [(own, EVERYTHING), *peers]
    naive = sorted(
        (-near.similarity, place, near.found.tool.id)
        for place, (shelf, sight) in enumerate(everyone)
        for near in (neighbour(tool, vector) for tool in sight.of(shelf.tools))
    )
    done = searched(own, [member(str(at), *peer) for at, peer in enumerate(peers, 1)], limit=limit)
    expected = [(str(place) if place else "", tool_id) for _, place, tool_id in naive]
    assert listed(done) == expected[:limit]
    assert [one.found for one in done.answers] == [
        sum(peer == one.peer for peer, _ in expected[:limit]) for one in done.answers
    ]
    assert all(one.refused == 0 for one in done.answers)


def test_a_peer_with_vectors_of_another_model_is_left_out_and_says_so() -> None:
    done = searched(Shelf(OWN), [member("acme", Shelf(THEIRS, model="another"))])
    assert listed(done) == [("", OWN.id)]
    assert "none of its tools are embedded with memory" in done.answers[0].why


def test_a_peer_with_vectors_of_other_dimensions_is_left_out_and_says_so() -> None:
    class Flat(Shelf):
        def nearest(self, *_given: object, **_more: object) -> tuple[Neighbour, ...]:
            return ()

    done = searched(Shelf(OWN), [member("acme", Flat(THEIRS))])
    assert done.answers[0].why == "its vectors differ from those of memory in their number of dimensions"


@pytest.mark.parametrize("error", [StoreError("it is locked", hint="Wait."), ValueError("odd bytes")])
def test_a_peer_that_fails_is_told_and_the_others_are_found(error: Exception) -> None:
    done = searched(Shelf(OWN), [member("acme", Broken(error)), member("post", Shelf(THEIRS))])
    assert listed(done) == [("", OWN.id), ("post", THEIRS.id)]
    assert str(error) in done.answers[0].why


def test_a_policy_that_cannot_be_read_shows_nothing_of_its_peer() -> None:
    def unread() -> Sight:
        raise StoreError("the policy is gone")

    done = searched(Shelf(OWN), [Member("acme", lambda: Shelf(THEIRS), unread)])  # type: ignore[arg-type,return-value]
    assert (listed(done), done.answers[0].why) == ([("", OWN.id)], "the policy is gone")


@pytest.fixture
def stuck() -> Iterator[Stuck]:
    shelf = Stuck(THEIRS)
    yield shelf
    shelf.go.set()


def test_a_peer_that_is_slow_is_not_waited_for(stuck: Stuck) -> None:
    done = searched(Shelf(OWN), [member("acme", stuck)], seconds=0.001)
    assert (listed(done), done.answers[0].why) == ([("", OWN.id)], LATE)


def test_a_vector_that_is_not_that_of_its_text_promotes_nothing() -> None:
    forged = replace(neighbour(THEIRS, EMBEDDER.embed(["late order"])[0]), similarity=1.0)
    done = searched(Shelf(OWN), [member("acme", Shelf(THEIRS, near=[forged]))], limit=1)
    assert (listed(done), done.answers[0].refused) == ([("", OWN.id)], 1)


@pytest.mark.parametrize(
    "tool",
    [
        replace(THEIRS, name="n" * 2000),
        replace(THEIRS, description="late order " * 20_000),
        Tool("hidden", "late_order", "Find a late order."),
    ],
)
def test_texts_beyond_measure_and_what_is_not_granted_are_left_out_and_counted(tool: Tool) -> None:
    vector = EMBEDDER.embed(["late order"])[0]
    shelf = Shelf(
        THEIRS, near=[neighbour(THEIRS, vector), neighbour(tool, vector), neighbour(THEIRS, vector)]
    )
    done = searched(Shelf(OWN), [member("acme", shelf, granted("post:*"))])
    assert listed(done) == [("", OWN.id), ("acme", THEIRS.id)]
    assert done.answers[0].refused == 2
