"""Rows of the dialogs for a toolset, a model, a milestone, a profile or a scenario."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from inspector.app.scenario_job import ScenarioFile
from inspector.config.predicate import milestones_in
from inspector.config.setting import PROFILES
from inspector.core.access import AccessPolicy, Toolset, viewer
from inspector.core.number import count
from inspector.core.ports import LocalModel
from inspector.core.session import SessionState
from widgets import Column, Record, visible

COLUMNS = (Column("mark", width=1), Column("name", weight=3, shorten="middle"), Column("size", align="right"))
_OLLAMA = "ollama/"
_MODELS = (
    ("demo/planner", "rules instead of an LLM; no key needed, good for a first try"),
    ("openai/gpt-5", "needs OPENAI_API_KEY"),
    ("anthropic/claude-sonnet-4-5", "needs ANTHROPIC_API_KEY"),
    ("openrouter/auto", "needs OPENROUTER_API_KEY"),
    ("ollama/qwen3", "local model, no key needed; start ollama first"),
)


def toolset_rows(toolsets: Mapping[str, Toolset], current: str, all_key: str) -> tuple[Record, ...]:
    """Return all tools first, then every toolset; the current one is marked."""
    everything = _row(all_key, "every tool on every server", not current)
    return (
        everything,
        *(
            _row(name, toolset.description, name == current, count(len(toolset.servers), "server"))
            for name, toolset in toolsets.items()
        ),
    )


def model_rows(current: str, found: Sequence[LocalModel] = ()) -> tuple[Record, ...]:
    """Return the model in use, those found on this machine, then some suggestions."""
    local = {model.name: model for model in found}
    known = dict(_MODELS)
    in_use = known.pop(current, "in use")
    if any(name.startswith(_OLLAMA) for name in local):
        known = {name: what for name, what in known.items() if not name.startswith(_OLLAMA)}
    first = _local_row(local.pop(current), True) if current in local else _row(current, in_use, True)
    others = (_row(name, what, False) for name, what in known.items() if name not in local)
    return (first, *(_local_row(model, False) for model in local.values()), *others)


_MOST_EXPERTS = 30


def viewers_of(policy: AccessPolicy | None, session: SessionState) -> tuple[tuple[str, str], ...]:
    """Return users with experts to see as: the administrator first, who has no name; () without a policy."""
    if policy is None:
        return (("", ""),) if session.is_restricted else ()
    users = [(name, "") for name in policy.users]
    through = [(name, expert) for name in policy.users for expert in policy.experts]
    return (("", ""), *users, *(through if len(through) <= _MOST_EXPERTS else ()))


def viewer_rows(viewers: Sequence[tuple[str, str]], current: tuple[str, str]) -> tuple[Record, ...]:
    """Return a row for each, by its number."""
    rows = []
    for number, (user, expert) in enumerate(viewers):
        name, what = (viewer(user, expert), "") if user else ("administrator", "every tool on every server")
        row = _row(name, what, (user, expert) == current)
        rows.append(replace(row, key=str(number)))
    return tuple(rows)


def looked_for(servers: Sequence[str], found: Sequence[LocalModel], *, done: bool) -> str:
    """Return what became of the question for local model servers."""
    if found:
        names = ", ".join(dict.fromkeys(model.server for model in found))
        return f"{count(len(found), 'local model')} from {names}, no key needed"
    told = "No local model server answered" if done else "Looking for local model servers"
    return f"{told}: {', '.join(servers)}"


def _local_row(model: LocalModel, current: bool) -> Record:
    return _row(model.name, f"local, no key: {model.about}", current, model.size_text)


def milestone_rows(preconditions: Mapping[str, Sequence[str]], reached: Sequence[str]) -> tuple[Record, ...]:
    """Return the milestones that tools wait for, and the others that are reached."""
    waiting: dict[str, list[str]] = {name: [] for name in reached}
    for pattern, texts in preconditions.items():
        for name in milestones_in(texts):
            waiting.setdefault(name, []).append(pattern)
    return tuple(
        _row(name, f"needed by {', '.join(patterns)}" if patterns else "no tool needs it", name in reached)
        for name, patterns in waiting.items()
    )


def profile_rows(current: str, *, leaving_out: str = "") -> tuple[Record, ...]:
    """Return every profile but one with what it is; the current one is marked."""
    return tuple(
        _row(name, profile.title, name == current)
        for name, profile in PROFILES.items()
        if name != leaving_out
    )


def scenario_choices(files: Sequence[ScenarioFile], chosen: str) -> tuple[Record, ...]:
    """Return the scenarios that can run, by path; the chosen one is marked."""
    return tuple(scenario_row(file, chosen) for file in files if file.scenario is not None)


def scenario_row(file: ScenarioFile, chosen: str, misfit: str = "") -> Record:
    """Return a readable scenario by its path, muted with the reason if it does not fit."""
    about = file.scenario.about if file.scenario is not None else ""
    return Record(
        str(file.path),
        ("✓" if str(file.path) == chosen else " ", visible(file.title, limit=200, newlines=False), ""),
        detail=visible(misfit or " ".join(about.split()), limit=200, newlines=False),
        search=f"{file.title} {file.path.stem}",
        tone="muted" if misfit else "",
    )


def _row(name: str, detail: str, current: bool, size: str = "") -> Record:
    return Record(name, ("✓" if current else " ", name, size), detail=detail)
