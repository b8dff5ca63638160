"""Rows of the toolset, model and milestone dialogs."""

from collections.abc import Mapping, Sequence

from inspector.domain.number import count
from inspector.domain.precondition import milestones_in
from inspector.domain.toolset import Toolset
from widgets import Column, Record

COLUMNS = (Column("mark", width=1), Column("name", weight=3, shorten="middle"), Column("size", align="right"))
_MODELS = (
    ("demo/planner", "rules instead of an LLM, no key: for trying things out"),
    ("openai/gpt-5", "needs OPENAI_API_KEY"),
    ("anthropic/claude-sonnet-4-5", "needs ANTHROPIC_API_KEY"),
    ("openrouter/auto", "needs OPENROUTER_API_KEY"),
    ("ollama/qwen3", "a local model, no key; ollama must be running"),
)


def toolset_rows(toolsets: Mapping[str, Toolset], current: str, all_key: str) -> tuple[Record, ...]:
    """Return all tools first, then every toolset; the current one is marked."""
    everything = _row(all_key, "every tool of every server", not current)
    return (
        everything,
        *(
            _row(name, toolset.description, name == current, count(len(toolset.servers), "server"))
            for name, toolset in toolsets.items()
        ),
    )


def model_rows(current: str) -> tuple[Record, ...]:
    """Return the model in use, then some suggestions."""
    known = dict(_MODELS)
    rows = [_row(current, known.pop(current, "in use"), True)]
    return (*rows, *(_row(name, what, False) for name, what in known.items()))


def milestone_rows(preconditions: Mapping[str, Sequence[str]], reached: Sequence[str]) -> tuple[Record, ...]:
    """Return the milestones that tools wait for, and the others that are reached."""
    waiting: dict[str, list[str]] = {name: [] for name in reached}
    for pattern, texts in preconditions.items():
        for name in milestones_in(texts):
            waiting.setdefault(name, []).append(pattern)
    return tuple(
        _row(name, f"for {', '.join(patterns)}" if patterns else "no tool waits for it", name in reached)
        for name, patterns in waiting.items()
    )


def _row(name: str, detail: str, current: bool, size: str = "") -> Record:
    return Record(name, ("✓" if current else " ", name, size), detail=detail)
