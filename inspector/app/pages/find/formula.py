"""Each ranker's formula in one line."""

from inspector.engine.discovery.rankers.fusion import FusionWeights

_FUSION = FusionWeights()
FORMULAS = {
    "hybrid": (
        f"{_FUSION.lexical:.2f} z(BM25F) + {_FUSION.summary:.2f} z(cosine) + "
        f"{_FUSION.best_passage:.2f} z(best passage)"
    ),
    "bm25": "BM25F: Σ idf · 2.5 x / (x + 1.5), x = Σ weight · tf / norm",
    "dense": "cosine of query and summary, at or above a floor",
    "rrf": "1 / (60 + rank by words) + 1 / (60 + rank by cosine)",
    "z-fusion": "0.30 z(BM25, one field) + 1.00 z(cosine of the summary)",
    "two-stage": "cosine of the tool + 1 on the three best servers",
    "two-stage-product": "(s · t) · max(s, t) on the three best servers",
    "keyword-expert": "100 exact + 50 name within + 30 keywords + 10 description",
    "keyword-system": "½ shared / query's words + ½ shared / tool's keywords",
    "fuzzy": "difflib ratio with the whole text + 0.12 for each word in it",
    "fuzzy-repaired": "difflib ratio without autojunk + 0.12 for each whole word",
    "prd-bm25": "BM25Okapi, name and description split at whitespace",
    "regex": "the query as a pattern: N 3 + V 2 + D 1 + P 0.5",
}


def formula(ranker: str) -> str:
    """Return what a ranker computes; empty for an unknown one."""
    return FORMULAS.get(ranker, "")
