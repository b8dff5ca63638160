"""Makes the phrasebook's tables from its phrases: `make phrases`.

For each kind of vectors: a linear map is trained so that each request lies nearer to its own meaning than to
others' (InfoNCE, in batches; meanings that are nearly the same are no counter-examples), held near the
identity. Everything is computed in double precision by one thread: the same phrases give the same bytes.
"""

import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from docs.benchmark import say
from docs.benchmark.data import ROOT, embedder
from inspector.cli.composition import make_static_embedder
from inspector.search.index.packaged_model import keep_to_one_thread
from inspector.search.index.phrasebook import FOLDER, TABLES, phrases

ROUNDS, BATCH, RATE = 8, 1_024, 2e-3
TEMPERATURE, TWINS, HELD = 0.05, 0.85, 3e-3
KEYS = 64
WORDS = ROOT / "inspector" / "search" / "words"
_MOST = 127
Rows = NDArray[np.float64]


def trained(requests: Rows, meanings: Rows) -> Rows:
    """The map, by Adam (Kingma and Ba 2015)."""
    order = np.random.default_rng(0)
    identity = np.eye(requests.shape[1])
    mapping, first, second, step = identity.copy(), np.zeros_like(identity), np.zeros_like(identity), 0
    for _ in range(ROUNDS):
        shuffled = order.permutation(len(requests))
        for start in range(0, len(requests) - min(BATCH, len(requests)) + 1, BATCH):
            batch = shuffled[start : start + BATCH]
            gradient = _gradient(requests[batch], meanings[batch], mapping) + 2 * HELD * (mapping - identity)
            step += 1
            first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
            rate = RATE / (1 - 0.9**step)
            mapping = mapping - rate * first / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return mapping


def _gradient(requests: Rows, meanings: Rows, mapping: Rows) -> Rows:
    moved = requests @ mapping
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    unit, own = moved / lengths, np.arange(len(requests))
    likely = unit @ meanings.T / TEMPERATURE
    twins = meanings @ meanings.T > TWINS
    twins[own, own] = False
    likely[twins] = -np.inf
    likely = np.exp(likely - likely.max(axis=1, keepdims=True))
    likely /= likely.sum(axis=1, keepdims=True)
    likely[own, own] -= 1
    of_unit = likely @ meanings / TEMPERATURE / len(requests)
    of_moved = (of_unit - (of_unit * unit).sum(axis=1, keepdims=True) * unit) / lengths
    gradient: Rows = requests.T @ of_moved
    return gradient


def tables(requests: Rows, meanings: Rows) -> dict[str, Any]:
    """The tables of PhraseVectors as they are stored."""
    mapping = trained(requests, meanings).astype(np.float16)
    mapped = _units(requests @ mapping.astype(np.float64))
    centre = mapped.mean(axis=0)
    # The directions in which mapped requests differ most.
    _values, directions = np.linalg.eigh((mapped - centre).T @ (mapped - centre))
    basis = directions[:, : -KEYS - 1 : -1]
    basis = (basis * np.sign(basis[np.abs(basis).argmax(axis=0), range(KEYS)])).astype(np.float16)
    wide = basis.astype(np.float64)
    keys = _units((mapped - centre) @ wide)
    unit = np.abs(meanings).max() / _MOST
    return {
        "mapping": mapping,
        "basis": basis,
        "centre": (centre @ wide).astype(np.float32),
        "keys": np.round(keys * _MOST / np.abs(keys).max()).astype(np.int8),
        "meanings": np.round(meanings / unit).astype(np.int8),
        "unit": np.float32(unit),
    }


def _units(rows: Rows) -> Rows:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units: Rows = rows / np.where(lengths > 0, lengths, 1)
    return units


def vectors(texts: Sequence[str], *, static: bool) -> Rows:
    """The vectors of texts by the packaged model, or static ones."""
    made = make_static_embedder() if static else embedder()
    assert made is not None
    return np.asarray(made.embed(texts), np.float64)


def spelt() -> list[str]:
    """The words of several phrases that the packaged model does not know whole."""
    words = re.compile(r"(?<![\w'’-])[a-z]{4,}(?![\w'’-])")
    counts = Counter(word for phrase in phrases() for word in set(words.findall(str(phrase).lower())))
    known = frozenset(embedder().words())
    return sorted(word for word, count in counts.items() if count > 1 and word not in known)


def main() -> int:
    keep_to_one_thread()
    known = phrases()
    (WORDS / "spelt.txt").write_text("".join(f"{word}\n" for word in spelt()), encoding="utf-8")
    for static in (False, True):
        made = make_static_embedder() if static else embedder()
        assert made is not None
        requests = vectors([phrase.request for phrase in known], static=static)
        meanings = vectors([phrase.meaning for phrase in known], static=static)
        path = Path(str(FOLDER)) / TABLES[made.name]
        np.savez(path, **tables(requests, meanings))
        say(f"{path.name}: {len(known):,} phrases, {path.stat().st_size:,} bytes, for {made.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
