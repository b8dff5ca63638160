"""A phrasebook: what people say beside the words of an interface, and what it makes of a request's vector.

People say “go to example.com”, tools “navigate to a URL”. A request is read in two steps, both learned from
the phrases (`phrases.tsv`; docs/benchmark/phrasebook.py makes the tables):

    u  =  unit(v M)                                       v: the vector as the model gives it
    r  =  unit((1 - s c) u  +  s c * sum of w_i t_i)      t_i: what the NEAR nearest phrases mean
    v' =  unit((1 - a) v  +  a r)

M is a linear map, trained contrastively so that requests come to lie near their meaning (InfoNCE: van den
Oord, Li and Vinyals 2018). c is the cosine of u with the nearest mapped phrase, w the softmax of such cosines
over TEMPERATURE, s the SHARE and a the TRUST. Tools are not moved.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from inspector.search.index import packaged_model
from inspector.search.index.document import Vector
from inspector.search.index.semantics import StaticEmbedder
from inspector.search.index.vocabulary import terms

NEAR, TEMPERATURE = 8, 0.08
SHARE, TRUST = 0.4, 0.8
FOLDER = files("inspector.search") / "phrases"
TEXT = "phrases.tsv"
# By the name of the model that made the vectors.
TABLES = {packaged_model.NAME: "sentence.npz", packaged_model.STATIC_NAME: "static.npz"}


@dataclass(frozen=True, slots=True)
class Phrase:
    """A request in everyday words, and what it asks for as a tool would say it."""

    request: str
    meaning: str

    def __str__(self) -> str:
        return f"{self.request} → {self.meaning}"


@dataclass(frozen=True)
class PhraseVectors:
    """The tables of one kind of vectors of `d` dimensions, a row a phrase.

    `mapping` is (d, d). `basis` (d, k) and `centre` (k) lead to a space in which near phrases are looked for;
    `keys` (n, k) are the mapped requests there. `meanings` (n, d) are unit vectors, with int8 times `unit`.
    """

    mapping: NDArray[np.float32]
    basis: NDArray[np.float32]
    centre: NDArray[np.float32]
    keys: NDArray[np.float32]
    meanings: NDArray[np.int8]
    unit: float

    def read(self, vector: Vector) -> Vector:
        """A request's unit vector, moved to where tools say such things; one without words stays as it is."""
        if not vector.any():
            return vector
        mapped = _unit(vector @ self.mapping)
        near, weights, nearest = self._nearest(mapped)
        meaning = weights @ (self.meanings[near] * np.float32(self.unit))
        share = SHARE * max(nearest, 0.0)
        moved = _unit((1 - share) * mapped + share * meaning)
        return _unit((1 - TRUST) * vector + TRUST * moved)

    def near(self, vector: Vector) -> Sequence[tuple[int, float]]:
        """The numbers of the phrases nearest to a request, nearest first, and their weights."""
        near, weights, _nearest = self._nearest(_unit(vector @ self.mapping))
        return list(zip(near.tolist(), weights.tolist(), strict=True))

    def _nearest(self, mapped: Vector) -> tuple[NDArray[np.intp], NDArray[np.float32], float]:
        """The nearest phrases, nearest first, their weights, and the cosine of the first."""
        cosines = self.keys @ _unit(mapped @ self.basis - self.centre)
        found = np.argpartition(-cosines, NEAR)[:NEAR]
        found = found[np.argsort(-cosines[found], kind="stable")]
        weights = np.exp((cosines[found] - cosines[found[0]]) / TEMPERATURE)
        return found, weights / weights.sum(), float(cosines[found[0]])


@cache
def phrases() -> Sequence[Phrase]:
    """The phrases that come with Toolsight."""
    lines = (FOLDER / TEXT).read_text(encoding="utf-8").splitlines()
    return [Phrase(*line.split("\t")) for line in lines]


@cache
def phrase_vectors(model: str) -> PhraseVectors | None:
    """The tables for a model's vectors; None if none come with Toolsight for that model."""
    if model not in TABLES:
        return None
    with (FOLDER / TABLES[model]).open("rb") as file, np.load(file) as stored:
        return read_tables(stored)


def read_tables(stored: Mapping[str, NDArray[np.generic]]) -> PhraseVectors:
    """Tables as they are stored: small, in half precision or int8."""
    mapping, basis, centre, keys = (
        stored[name].astype(np.float32) for name in ("mapping", "basis", "centre", "keys")
    )
    keys /= np.linalg.norm(keys, axis=1, keepdims=True)
    return PhraseVectors(
        mapping, basis, centre, keys, stored["meanings"].astype(np.int8), float(stored["unit"])
    )


def _unit(vector: NDArray[np.floating]) -> NDArray[np.float32]:
    length = np.linalg.norm(vector)
    return (vector / length if length else vector).astype(np.float32)


class Phrasebook:
    """The shipped phrases for the vectors of one model and for static ones; either may be missing."""

    def __init__(self, model: str, static: StaticEmbedder | None) -> None:
        self._model = phrase_vectors(model)
        self._static = static
        self._static_vectors = phrase_vectors(static.name) if static is not None else None

    def read(self, vectors: Sequence[Vector]) -> Sequence[Vector]:
        """The model's vectors of requests, moved."""
        return vectors if self._model is None else [self._model.read(vector) for vector in vectors]

    def read_static(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The static vectors of requests, moved."""
        assert self._static is not None
        rows = self._static.embed(texts)
        if self._static_vectors is None:
            return rows
        return np.array([self._static_vectors.read(row) for row in rows], np.float32).reshape(rows.shape)

    def like(self, text: str, vector: Vector | None) -> Phrase | None:
        """The phrase that a request is read like, by the model's vector of it or else by its static one."""
        near = self._near_static(text) if vector is None or self._model is None else self._model.near(vector)
        return phrases()[near[0][0]] if near else None

    def meant(self, text: str) -> Mapping[str, float]:
        """The terms of what the phrases near to a request mean, by static vectors, and their weights."""
        found: dict[str, float] = {}
        for number, weight in self._near_static(text):
            for term in dict.fromkeys(terms(phrases()[number].meaning)):
                found[term] = found.get(term, 0.0) + weight
        return found

    def _near_static(self, text: str) -> Sequence[tuple[int, float]]:
        if self._static is None or self._static_vectors is None:
            return ()
        return self._static_vectors.near(self._static.embed([text])[0])
