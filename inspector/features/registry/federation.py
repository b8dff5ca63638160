"""Searches one's own registry and those of peers at once (semantic tool discovery, section 13).

A peer is another organisation's: it is read, never written, as the user that it knows us as; what it gives
can be looked at and nothing else. Cosines are comparable where both texts were embedded by the same model, so
that a peer without vectors of ours is left out. What a peer says of a result is checked with its text.

A file of peers:

    peers:
      acme:
        database: ../acme/toolsight.db       # or postgresql://…; ${VARIABLE} is one of the environment
        policy: acme-access.yaml             # what the peer grants to whom
        user: ada                            # as whom we search there
        expert: billing
"""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from time import monotonic
from typing import Annotated

from pydantic import AfterValidator, Field

from inspector.access.policy_file import load_policy, load_yaml
from inspector.config.file import dotted
from inspector.config.problem import Location, NullAsAbsent, not_empty, refusal, validated
from inspector.config.server_entry import Scope
from inspector.core.access import EVERYTHING, Sight
from inspector.core.error import ConfigError, ToolsightError
from inspector.core.settings import FederationSettings
from inspector.features.registry.acceptance import Neighbour, embedded_text
from inspector.features.registry.source import is_address
from inspector.features.registry.tool_registry import SearchableRegistry
from inspector.search.index.document import MAX_EMBEDDED
from inspector.search.index.ports import Embedder


@dataclass(frozen=True, slots=True)
class Peer:
    """Another Toolsight's registry: a file of SQLite, or an address of PostgreSQL.

    With a `policy`, a file, only what it grants to `user`, and through `expert` if one is named, is searched.
    """

    name: str
    database: str
    policy: str = ""
    user: str = ""
    expert: str = ""


@dataclass(frozen=True, slots=True)
class Located:
    """A tool that was found, and the peer whose registry has it; "" for one's own."""

    peer: str
    neighbour: Neighbour


@dataclass(frozen=True, slots=True)
class PeerAnswer:
    """What a peer added: how many of the results are its tools, and `why` it added none where it failed.

    `refused` counts tools of its answer that were left out: with a vector that is not that of their text,
    with a text beyond all measure, twice, or such as its policy does not grant.
    """

    peer: str
    found: int = 0
    refused: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class Federated:
    """The nearest tools of all registries, nearest first, and the answer of each peer in their order."""

    found: tuple[Located, ...] = ()
    answers: tuple[PeerAnswer, ...] = ()


MAX_PEER_NAME, MAX_PEERS = 40, 50


def _short(name: str) -> str:
    if len(not_empty(name)) > MAX_PEER_NAME or not name.isprintable():
        raise refusal(f"must have at most {MAX_PEER_NAME} printable characters", "Choose another name.")
    return name


_Text = Annotated[str, AfterValidator(not_empty)]


class _Peer(NullAsAbsent):
    database: Annotated[
        _Text, Field(description="Specify an SQLite file or postgresql://USER@HOST/DATABASE.")
    ]
    policy: Annotated[_Text, Field(description="Name the file with the peer's access rules.")] | None = None
    user: Annotated[_Text, Field(description="Name a user from the policy.")] | None = None
    expert: Annotated[_Text, Field(description="Name an expert from the policy.")] | None = None


class _File(NullAsAbsent):
    peers: Annotated[
        dict[Annotated[str, AfterValidator(_short)], _Peer],
        Field(min_length=1, max_length=MAX_PEERS, description="List the other registries by name."),
    ]


def load_peers(path: Path, environment: Mapping[str, str]) -> tuple[Peer, ...]:
    """The peers in a file, in its order; relative paths are relative to it. Raises ConfigError."""
    data, place = load_yaml(path, "peers")
    model = validated(_File, {} if data is None else data, place)
    scope = Scope(path.absolute().parent, environment)

    def read(name: str, entry: _Peer) -> Peer:
        loc: Location = ("peers", name)
        shown = f"{place(loc)}: {dotted('peers', name)}"
        if (entry.policy is None) != (entry.user is None):
            lacking, given = ("policy", "user") if entry.policy is None else ("user", "policy")
            hint = "Set both or neither: without them, the whole registry is searched."
            raise ConfigError(f"{shown} has a {given} but no {lacking}", hint=hint)
        if entry.expert is not None and entry.policy is None:
            raise ConfigError(f"{shown} has an expert but no policy", hint="Set policy and user, too.")
        database = scope.expand(entry.database, f"{shown}.database")
        if not is_address(database):
            database = str(scope.folder / database)
        policy = str(scope.folder / entry.policy) if entry.policy else ""
        return Peer(name, database, policy, entry.user or "", entry.expert or "")

    return tuple(read(name, entry) for name, entry in model.peers.items())


OWN = ""
# A quantised model gives slightly different vectors on another processor.
TOLERANCE = 0.05
MAX_NAME, MAX_DESCRIPTION = 1_000, 100_000
LATE = "it did not answer in time"
BUSY = "it is still busy with an earlier search"


@dataclass(frozen=True, slots=True)
class Member:
    """A peer that can be searched. `sight` says what we may see there; both raise ToolsightError.

    They are called in a thread of the peer's own, for every search.
    """

    name: str
    registry: Callable[[], SearchableRegistry]
    sight: Callable[[], Sight] = lambda: EVERYTHING


@dataclass(frozen=True, slots=True)
class _Question:
    model: str
    vector: Sequence[float]
    limit: int
    floor: float


class Federation:
    """The peers of a registry. A search waits `seconds` for all of them, and one of them at a time."""

    def __init__(self, members: Sequence[Member], *, seconds: float) -> None:
        self.members = tuple(members)
        self._seconds = seconds
        self._asking: dict[str, _Asking] = {}

    def search(
        self,
        own: Callable[[str, Sequence[float]], Sequence[Neighbour]],
        embedder: Embedder,
        query: str,
        *,
        limit: int,
        floor: float = -1.0,
    ) -> Federated:
        """The `limit` tools nearest to the query in all registries; equal ones in the registries' order.

        `own` searches one's own registry for the nearest to a vector of a model. Raises what it raises, and
        ModelError; whatever goes wrong in a peer is told in its answer.
        """
        vector = embedder.embed([query[:MAX_EMBEDDED]])[0]
        question = _Question(embedder.name, vector, limit, floor)
        deadline = monotonic() + self._seconds
        asked = [self._ask(member, question) for member in self.members]
        mine = own(embedder.name, vector)
        answers = [
            asking.until(deadline) if isinstance(asking, _Asking) else _Answer(why=asking) for asking in asked
        ]
        named = [(member.name, answer.near) for member, answer in zip(self.members, answers, strict=True)]
        found, forged = _merged(mine, named, embedder, vector, limit)
        told = (
            PeerAnswer(
                member.name,
                sum(one.peer == member.name for one in found),
                answer.refused + forged.get(member.name, 0),
                answer.why,
            )
            for member, answer in zip(self.members, answers, strict=True)
        )
        return Federated(found, tuple(told))

    def _ask(self, member: Member, question: _Question) -> "_Asking | str":
        """The question on its way, or why it was not asked."""
        before = self._asking.get(member.name)
        if before is not None and before.is_busy:
            return BUSY
        asking = self._asking[member.name] = _Asking(member, question)
        return asking


@dataclass(frozen=True, slots=True)
class _Answer:
    near: tuple[Neighbour, ...] = ()
    refused: int = 0
    why: str = ""


@dataclass
class _Asking:
    """One question to a peer, in a thread that nobody has to wait for."""

    member: Member
    question: _Question
    _answer: _Answer = field(default_factory=lambda: _Answer(why=LATE))

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._run, name=f"peer {self.member.name}", daemon=True)
        self._thread.start()

    @property
    def is_busy(self) -> bool:
        return self._thread.is_alive()

    def until(self, deadline: float) -> _Answer:
        """The answer, or that it did not come in time."""
        self._thread.join(max(0.0, deadline - monotonic()))
        return self._answer

    def _run(self) -> None:
        try:
            self._answer = _answered(self.member, self.question)
        except ToolsightError as error:
            self._answer = _Answer(why=f"{error.message}. {error.hint}".rstrip(". "))
        except Exception as error:
            # Another program wrote what is read here: nothing that is wrong with it may stop this one.
            self._answer = _Answer(why=f"it cannot be searched: {error}")


def _answered(member: Member, question: _Question) -> _Answer:
    registry, sight = member.registry(), member.sight()
    model, vector = question.model, question.vector
    near = registry.nearest(model, vector, question.limit, sight, floor=question.floor)[: question.limit]
    if not near and not registry.nearest(model, vector, 1, sight):
        return _Answer(why=_why_nothing(registry, model, sight))
    kept: dict[str, Neighbour] = {}
    for one in near:
        # What is no number is not above the floor.
        if _is_sound(one, sight) and one.similarity >= question.floor:
            kept.setdefault(one.found.tool.id, one)
    return _Answer(tuple(kept.values()), refused=len(near) - len(kept))


def _why_nothing(registry: SearchableRegistry, model: str, sight: Sight) -> str:
    if not registry.count(sight):
        return "it has no tools, or none that its policy grants us"
    if registry.embedded(model, sight):
        return f"its vectors differ from those of {model} in their number of dimensions"
    return (
        f"none of its tools are embedded with {model}, and cosines from different models cannot be compared"
    )


def _is_sound(one: Neighbour, sight: Sight) -> bool:
    tool = one.found.tool
    is_readable = (
        len(tool.id) + len(one.found.origin) <= MAX_NAME and len(tool.description) <= MAX_DESCRIPTION
    )
    return is_readable and sight.permits(tool.id)


def _merged(
    own: Sequence[Neighbour],
    answers: Sequence[tuple[str, Sequence[Neighbour]]],
    embedder: Embedder,
    vector: Sequence[float],
    limit: int,
) -> tuple[tuple[Located, ...], dict[str, int]]:
    """The nearest of all, and how many of each peer's were left out as their vectors are not their texts'."""
    waiting = [Located(peer, one) for peer, near in ((OWN, own), *answers) for one in near]
    # The sort is stable: equal ones stay in the order of the registries, and of their answers.
    waiting.sort(key=lambda one: -one.neighbour.similarity)
    found: list[Located] = []
    forged: dict[str, int] = {}
    while waiting and len(found) < limit:
        size = limit - len(found)
        next_ones, waiting = waiting[:size], waiting[size:]
        theirs = [one for one in next_ones if one.peer != OWN]
        wrong = {id(one) for one in _forged(theirs, embedder, vector)}
        found += [one for one in next_ones if id(one) not in wrong]
        for one in theirs:
            if id(one) in wrong:
                forged[one.peer] = forged.get(one.peer, 0) + 1
    return tuple(found), forged


def _forged(theirs: Sequence[Located], embedder: Embedder, vector: Sequence[float]) -> list[Located]:
    """Those whose similarity is not that of their text to the query: a peer could name any vector."""
    if not theirs:
        return []
    rows = embedder.embed([embedded_text(one.neighbour.found.tool) for one in theirs])
    true = (sum(map(float.__mul__, map(float, row), map(float, vector))) for row in rows)
    return [
        one
        for one, value in zip(theirs, true, strict=True)
        if abs(value - one.neighbour.similarity) > TOLERANCE
    ]


# How long a search waits for all peers: a person waits with it; later answers are dropped.
_SECONDS = 5.0


def open_federation(settings: FederationSettings) -> Federation:
    """The peers that a file names; none without one. Nothing is opened yet. Raises ConfigError."""
    peers = load_peers(Path(settings.peers), os.environ) if settings.peers else ()
    members = (Member(peer.name, cache(partial(_opened, peer)), partial(_sight, peer)) for peer in peers)
    return Federation(tuple(members), seconds=_SECONDS)


def _opened(peer: Peer) -> SearchableRegistry:
    if not is_address(peer.database):
        from inspector.features.registry.peer import SqlitePeer

        return SqlitePeer(Path(peer.database), seconds=_SECONDS)
    from inspector.features.registry.postgres import open_peer

    return open_peer(peer.database, seconds=_SECONDS)


def _sight(peer: Peer) -> Sight:
    """What its policy grants us, read for each search: a grant that goes is gone at once."""
    return load_policy(Path(peer.policy)).sight(peer.user, peer.expert) if peer.policy else EVERYTHING
