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
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Annotated

from msgspec import Struct
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
from inspector.features.registry.tool_registry import ToolRegistry
from inspector.search.index.embedded_text import MAX_EMBEDDED
from inspector.search.index.semantics import Embedder


class Located(Struct, frozen=True):
    """A tool that was found, and the peer whose registry has it; "" for one's own."""

    peer: str
    neighbour: Neighbour


class PeerAnswer(Struct, frozen=True):
    """What a peer added: how many of the results are its tools, and `why` it added none where it failed.

    `refused` counts tools of its answer that were left out: with a vector that is not that of their text,
    with a text beyond all measure, twice, or such as its policy does not grant.
    """

    peer: str
    found: int = 0
    refused: int = 0
    why: str = ""


class Federated(Struct, frozen=True):
    """The nearest tools of all registries, nearest first, and the answer of each peer in their order."""

    found: tuple[Located, ...] = ()
    answers: tuple[PeerAnswer, ...] = ()


MAX_PEER_NAME, MAX_PEERS = 40, 50


def _short(name: str) -> str:
    if len(not_empty(name)) > MAX_PEER_NAME or not name.isprintable():
        raise refusal(f"must have at most {MAX_PEER_NAME} printable characters", "Choose another name.")
    return name


_Text = Annotated[str, AfterValidator(not_empty)]


class Peer(NullAsAbsent):
    """Another Toolsight's registry: a file of SQLite, or an address of PostgreSQL.

    With a `policy`, a file, only what it grants to `user`, and through `expert` if one is named, is searched.
    """

    database: Annotated[
        _Text, Field(description="Specify an SQLite file or postgresql://USER@HOST/DATABASE.")
    ]
    policy: Annotated[_Text, Field(description="Name the file with the peer's access rules.")] | None = None
    user: Annotated[_Text, Field(description="Name a user from the policy.")] | None = None
    expert: Annotated[_Text, Field(description="Name an expert from the policy.")] | None = None


class _File(NullAsAbsent):
    peers: Annotated[
        dict[Annotated[str, AfterValidator(_short)], Peer],
        Field(min_length=1, max_length=MAX_PEERS, description="List the other registries by name."),
    ]


def load_peers(path: Path, environment: Mapping[str, str]) -> dict[str, Peer]:
    """The peers in a file, in its order; relative paths are relative to it. Raises ConfigError."""
    data, place = load_yaml(path, "peers")
    model = validated(_File, {} if data is None else data, place)
    scope = Scope(path.absolute().parent, environment)
    for name, peer in model.peers.items():
        loc: Location = ("peers", name)
        shown = f"{place(loc)}: {dotted('peers', name)}"
        if (peer.policy is None) != (peer.user is None):
            lacking, given = ("policy", "user") if peer.policy is None else ("user", "policy")
            hint = "Set both or neither: without them, the whole registry is searched."
            raise ConfigError(f"{shown} has a {given} but no {lacking}", hint=hint)
        if peer.expert is not None and peer.policy is None:
            raise ConfigError(f"{shown} has an expert but no policy", hint="Set policy and user, too.")
        database = scope.expand(peer.database, f"{shown}.database")
        peer.database = database if is_address(database) else str(scope.folder / database)
        peer.policy = str(scope.folder / peer.policy) if peer.policy else None
    return model.peers


OWN = ""
# A quantised model gives slightly different vectors on another processor.
TOLERANCE = 0.05
MAX_NAME, MAX_DESCRIPTION = 1_000, 100_000
_SECONDS = 5.0
LATE = "it did not answer in time"


class Member(Struct, frozen=True):
    """A peer that can be searched. `sight` says what we may see there; both raise ToolsightError.

    They are called in a thread of the peer's own.
    """

    name: str
    registry: Callable[[], ToolRegistry]
    sight: Callable[[], Sight] = lambda: EVERYTHING


class PeerQuestion(Struct, frozen=True):
    """What all registries are asked: the `limit` tools nearest to a vector of a model."""

    model: str
    vector: Sequence[float]
    limit: int


def search_all(
    own: Callable[[PeerQuestion], Sequence[Neighbour]],
    members: Sequence[Member],
    embedder: Embedder,
    query: str,
    limit: int,
    *,
    seconds: float = _SECONDS,
) -> Federated:
    """The `limit` tools nearest to the query in all registries; equal ones in the registries' order.

    `own` searches one's own registry. Raises what it raises, and ModelError; whatever goes wrong in a peer is
    told in its answer. All peers together have so many `seconds`, as a person waits.
    """
    question = PeerQuestion(embedder.name, embedder.embed([query[:MAX_EMBEDDED]])[0], limit)
    deadline = monotonic() + seconds
    asking = [_Asking(member, question) for member in members]
    mine = own(question)
    answers = {one.member.name: one.until(deadline) for one in asking}
    named = [(name, answer.near) for name, answer in answers.items()]
    found, forged = _merged(mine, named, embedder, question)
    told = (
        PeerAnswer(name, sum(one.peer == name for one in found), answer.refused + forged[name], answer.why)
        for name, answer in answers.items()
    )
    return Federated(found, tuple(told))


class _Answer(Struct, frozen=True):
    near: tuple[Neighbour, ...] = ()
    refused: int = 0
    why: str = ""


class _Asking:
    """One question to a peer, in a thread that nobody has to wait for."""

    def __init__(self, member: Member, question: PeerQuestion) -> None:
        self.member, self._question, self._answer = member, question, _Answer(why=LATE)
        self._thread = threading.Thread(target=self._run, name=f"peer {member.name}", daemon=True)
        self._thread.start()

    def until(self, deadline: float) -> _Answer:
        """The answer, or that it did not come in time."""
        self._thread.join(max(0.0, deadline - monotonic()))
        return self._answer

    def _run(self) -> None:
        try:
            self._answer = _answered(self.member, self._question)
        except ToolsightError as error:
            self._answer = _Answer(why=f"{error.message}. {error.hint}".rstrip(". "))
        except Exception as error:
            # Another program wrote what is read here: nothing that is wrong with it may stop this one.
            self._answer = _Answer(why=f"it cannot be searched: {error}")


def _answered(member: Member, question: PeerQuestion) -> _Answer:
    registry, sight = member.registry(), member.sight()
    try:
        near = registry.nearest(question.model, question.vector, question.limit, sight)
        if not near:
            return _Answer(why=_why_nothing(registry, question.model, sight))
    finally:
        # So that others can replace or move its file.
        registry.close()
    kept: dict[str, Neighbour] = {}
    for one in near[: question.limit]:
        if _is_sound(one, sight):
            kept.setdefault(one.found.tool.id, one)
    return _Answer(tuple(kept.values()), refused=len(near) - len(kept))


def _why_nothing(registry: ToolRegistry, model: str, sight: Sight) -> str:
    if not registry.count(sight):
        return "it has no tools, or none that its policy grants us"
    if registry.embedded(model, sight):
        return f"its vectors differ from those of {model} in their number of dimensions"
    return (
        f"none of its tools are embedded with {model}, and cosines from different models cannot be compared"
    )


def _is_sound(one: Neighbour, sight: Sight) -> bool:
    tool = one.found.tool
    # What is no number is not between -1 and 1.
    is_readable = -1.0 <= one.similarity <= 1.0 and (
        len(tool.id) + len(one.found.origin) <= MAX_NAME and len(tool.description) <= MAX_DESCRIPTION
    )
    return is_readable and sight.permits(tool.id)


def _merged(
    own: Sequence[Neighbour],
    answers: Sequence[tuple[str, Sequence[Neighbour]]],
    embedder: Embedder,
    question: PeerQuestion,
) -> tuple[tuple[Located, ...], Counter[str]]:
    """The nearest of all, and how many of each peer's were left out as their vectors are not their texts'."""
    waiting = [Located(peer, one) for peer, near in ((OWN, own), *answers) for one in near]
    # The sort is stable: equal ones stay in the order of the registries, and of their answers.
    waiting.sort(key=lambda one: -one.neighbour.similarity)
    found: list[Located] = []
    forged = Counter[str]()
    for one in waiting:
        if len(found) == question.limit:
            break
        if one.peer != OWN and _is_forged(one.neighbour, embedder, question.vector):
            forged[one.peer] += 1
        else:
            found.append(one)
    return tuple(found), forged


def _is_forged(one: Neighbour, embedder: Embedder, vector: Sequence[float]) -> bool:
    """Whether its similarity is not that of its text to the query: a peer could name any vector."""
    row = embedder.embed([embedded_text(one.found.tool)])[0]
    true = sum(map(float.__mul__, map(float, row), map(float, vector)))
    return abs(true - one.similarity) > TOLERANCE


def open_members(settings: FederationSettings) -> tuple[Member, ...]:
    """The peers that a file names; none without one. Nothing is opened yet. Raises ConfigError."""
    peers = load_peers(Path(settings.peers), os.environ) if settings.peers else {}
    return tuple(Member(name, partial(_opened, one), partial(_sight, one)) for name, one in peers.items())


def _opened(peer: Peer) -> ToolRegistry:
    if not is_address(peer.database):
        from inspector.features.registry.sqlite import ReadOnlyDatabase, SqliteRegistry

        path = Path(peer.database)
        return SqliteRegistry(path, reader=ReadOnlyDatabase(path, seconds=_SECONDS))
    from inspector.features.registry.postgres import open_peer

    return open_peer(peer.database, seconds=_SECONDS)


def _sight(peer: Peer) -> Sight:
    """What its policy grants us."""
    if peer.policy is None:
        return EVERYTHING
    return load_policy(Path(peer.policy)).sight(peer.user or "", peer.expert or "")
