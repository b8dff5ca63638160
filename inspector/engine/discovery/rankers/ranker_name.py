"""The rankers by name, without importing one of them."""

from inspector.domain.closest import closest
from inspector.domain.error import ToolsightError

RANKERS = (
    "hybrid",
    "bm25",
    "dense",
    "rrf",
    "z-fusion",
    "two-stage",
    "two-stage-product",
    "keyword-expert",
    "keyword-system",
    "fuzzy",
    "fuzzy-repaired",
    "prd-bm25",
    "regex",
)


def require_ranker(name: str) -> str:
    """`name`, if a ranker has it. Raises ToolsightError with the closest names."""
    if name in RANKERS:
        return name
    near = closest(name, RANKERS) or RANKERS
    raise ToolsightError(f"there is no ranker called '{name}'", hint=f"Choose from: {', '.join(near)}.")
