"""Rows of the toolset and model dialogs."""

from collections.abc import Mapping

from inspector.domain.toolset import Toolset
from widgets import Column, Record

COLUMNS = (Column("mark", width=1), Column("name", weight=3, shorten="middle"), Column("size", align="right"))
_MODELS = (
    ("demo/planner", "rules, no LLM, no key: for trying things out"),
    ("openai/gpt-5", "wants OPENAI_API_KEY"),
    ("anthropic/claude-sonnet-4-5", "wants ANTHROPIC_API_KEY"),
    ("openrouter/auto", "wants OPENROUTER_API_KEY"),
    ("ollama/qwen3", "a local model, no key; ollama has to run"),
)


def toolset_rows(toolsets: Mapping[str, Toolset], current: str, all_key: str) -> tuple[Record, ...]:
    """All tools first, then every toolset; the current one is marked."""
    everything = _row(all_key, "every tool of every server", not current)
    return (
        everything,
        *(
            _row(name, toolset.description, name == current, f"{len(toolset.servers)} servers")
            for name, toolset in toolsets.items()
        ),
    )


def model_rows(current: str) -> tuple[Record, ...]:
    """The model in use, then some to start from."""
    known = dict(_MODELS)
    rows = [_row(current, known.pop(current, "in use"), True)]
    return (*rows, *(_row(name, what, False) for name, what in known.items()))


def _row(name: str, detail: str, current: bool, size: str = "") -> Record:
    return Record(name, ("✓" if current else " ", name, size), detail=detail)
