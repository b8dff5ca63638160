"""The texts of the settings dialog: profiles and settings as rows, and the details of each."""

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Any

from textual.content import Content

from inspector.app.draw.line import MUTED, failure_text, problem_count, problem_lines, sign
from inspector.config.profile import PROFILES, Profile, find_profile, profile_settings
from inspector.config.setting import HEADINGS, Knob, KnobKind, Origin, knobs, origins, render_value, value_of
from inspector.core.error import SettingProblem, ToolsightError
from inspector.search.ranker.ranker_list import RANKERS
from inspector.session.view import SessionView
from widgets import Column, Record, middle, visible


class Listed(StrEnum):
    """Which settings the dialog lists."""

    FRONT = "front"
    ALL = "all"
    DIFFERENT = "different"


FRONT = (
    *("discovery.enabled", "discovery.ranker", "discovery.max_search_results", "discovery.min_probability"),
    *(
        "binding.delivery",
        "binding.capacity",
        "guard.enabled",
        "budget.prompt_cache",
        "consent.changed_files",
    ),
)
"""What people change; with model, toolset and profile these are twelve."""


# Paths are indented below their heading.
_PATH_WIDTH = 2 + max(len(knob.path) for knob in knobs())
PROFILE_COLUMNS = (
    Column("mark", width=1, weight=9),
    Column("name", "name", weight=3),
    Column("title", "summary", weight=2, hide_below=30),
)
KNOB_COLUMNS = (
    Column("path", "setting", width=_PATH_WIDTH, shorten="middle", weight=3),
    Column("mark", width=1, weight=2),
    Column("value", "value", min_width=7, shorten="middle", weight=1),
    Column("origin", "from", width=8, weight=2),
)
LEGEND = "● differs from the default"
WHEN = "Changes take effect with the next model call"
# Prefix of the headings' keys; no setting's path begins like it.
HEADING = "\0"
_RANKER_KNOBS = frozenset({"discovery.ranker", "gate.ranker"})
_LONGEST = 400
_PROBLEMS = 3
_IN_A_ROW = 24
_SEPARATOR = " · "


def _problems_of(session: SessionView, knob: Knob) -> tuple[SettingProblem, ...]:
    return tuple(problem for problem in session.state.problems if problem.path == knob.path)


def _origins(session: SessionView) -> dict[str, Origin]:
    """Return the source of every setting's value."""
    configuration, values = session.configuration, find_profile(session.profile).values
    return origins(configuration.settings, values, configuration.values, session.session_values)


def _differs(session: SessionView, knob: Knob) -> bool:
    """Whether the value differs from the default."""
    return bool(value_of(session.settings, knob.path) != knob.default)


def choices(knob: Knob) -> tuple[str, ...]:
    """Return the values of which one is chosen, if they are a few names."""
    if knob.path in _RANKER_KNOBS:
        return tuple(RANKERS)
    return knob.choices if knob.kind is KnobKind.TEXT else ()


def shown(value: Any) -> str:
    """Return a value as one safe line; an empty one says so."""
    text = visible(render_value(value), limit=_LONGEST, newlines=False)
    if text in ("", "{}"):
        return "empty"
    return {"true": "on", "false": "off"}.get(text, text) if isinstance(value, bool) else text


def profile_rows(current: str) -> tuple[Record, ...]:
    """Return every profile; the one in use is marked."""
    return tuple(
        Record(name, ("✓" if name == current else " ", name, profile.title), copy=name)
        for name, profile in PROFILES.items()
    )


def knob_rows(session: SessionView, listed: Listed) -> tuple[Record, ...]:
    """Return the settings that are listed, each under its section's heading."""
    origins_by_path = _origins(session)
    rows: list[Record] = []
    section = ""
    for knob in knobs():
        if listed is Listed.DIFFERENT and not _differs(session, knob):
            continue
        if listed is Listed.FRONT and knob.path not in FRONT:
            continue
        if knob.path.partition(".")[0] != section:
            section = knob.path.partition(".")[0]
            rows.append(heading(section, HEADINGS[section]))
        rows.append(_row(session, knob, origins_by_path[knob.path]))
    return tuple(rows)


def heading(section: str, title: str) -> Record:
    return Record(HEADING + section, (Content.styled(title, "bold"), "", "", ""), copy=title)


def _row(session: SessionView, knob: Knob, origin: Origin) -> Record:
    section, _, name = knob.path.partition(".")
    problems = _problems_of(session, knob)
    value = shown(value_of(session.settings, knob.path))
    cells = (
        Content.assemble(("  ", ""), (f"{section}.", MUTED), name),
        sign(problems[0])
        if problems
        else Content.styled("●" if _differs(session, knob) else " ", "$text-accent"),
        value,
        Content.styled(origin.value, MUTED if origin is Origin.DEFAULT else "$text-accent"),
    )
    search = f"{knob.path} {value} {knob.about}"
    copy = f"{knob.path}={render_value(value_of(session.settings, knob.path))}"
    return Record(knob.path, cells, search=search, copy=copy)


def facts(session: SessionView, listed: Listed) -> Content:
    """Return the profile, and what is listed."""
    different = sum(_differs(session, knob) for knob in knobs())
    said = {
        Listed.FRONT: f"press a to show all {len(knobs())} settings, / to search them",
        Listed.ALL: f"{different} of {len(knobs())} differ from the default",
        Listed.DIFFERENT: f"showing the {different} that differ from the default",
    }
    here = f"{len(session.session_values)} set in this session" if session.session_values else ""
    parts = [said[listed], here]
    line = _SEPARATOR.join(filter(None, parts))
    wrong = problem_count(session.state.problems)
    gap = "   " if wrong else ""
    return Content.assemble(("profile ", MUTED), (session.profile, "bold"), "   ", wrong, gap, (line, MUTED))


def profile_detail(name: str, problems: Sequence[SettingProblem] = ()) -> Content:
    """Return what a profile is and what it changes, after the problems that no row of a setting shows."""
    profile = PROFILES[name]
    about = Content.assemble((profile.title, "bold"), "   ", profile.about, "\n", _changes(profile))
    return Content("\n").join([*problem_lines(problems, _PROBLEMS), about])


def _changes(profile: Profile) -> Content:
    changed = [Content.assemble((f"{path} ", MUTED), shown(value)) for path, value in profile.changes.items()]
    if not changed:
        return Content.styled("Every setting is at its default.", MUTED)
    return Content.assemble("Changes: ", Content(_SEPARATOR).join(changed))


def knob_detail(session: SessionView, knob: Knob) -> Content:
    """Return what a setting does, its values, the source of its value, and its value in every profile."""
    origin = _origins(session)[knob.path]
    where = f"from the {_ORIGIN[origin]}" if origin is not Origin.DEFAULT else "the default"
    value = middle(shown(value_of(session.settings, knob.path)), _IN_A_ROW * 2)
    line = [
        Content.assemble((knob.path, "bold"), " = ", (value, "bold $text-accent"), (f"  {where}", MUTED)),
        *([Content.assemble(("default ", MUTED), _short(knob.default))] if _differs(session, knob) else []),
    ]
    allowed = "" if knob.choices else f"   {knob.allowed}"
    about = Content.assemble(knob.about, (allowed, MUTED))
    wrong = problem_lines(_problems_of(session, knob), _PROBLEMS)
    return Content("\n").join([Content("   ").join(line), *wrong, about, by_profile(session, knob)])


_ORIGIN: Mapping[Origin, str] = {
    Origin.FILE: "file's tool_discovery",
    Origin.PROFILE: "profile",
    Origin.SETTINGS: "file's settings",
    Origin.SESSION: "session",
}


def by_profile(session: SessionView, knob: Knob) -> Content:
    """Return the setting's value in every profile over this file: `12 toolsight, prd · 8 kaman`."""
    base = session.configuration.settings
    names: dict[str, list[str]] = {}
    for name in PROFILES:
        names.setdefault(_short(value_of(profile_settings(name, base), knob.path)), []).append(name)
    if len(names) == 1:
        return Content.assemble(*names, (" in every profile", MUTED))
    groups = [Content.assemble((f"{value} ", "bold"), (", ".join(of), MUTED)) for value, of in names.items()]
    return Content(_SEPARATOR).join(groups)


def hint(knob: Knob) -> str:
    """Return how to type a value."""
    how = {
        KnobKind.LIST: "separated by commas",
        KnobKind.TABLE: 'as JSON: {"mail:*": ["…"]}',
        KnobKind.TEXTS: 'as JSON: {"mail:*": "…"}',
    }
    return f"{knob.allowed} {how[knob.kind]}" if knob.kind in how else knob.allowed


def choice_rows(knob: Knob, current: Any) -> tuple[Record, ...]:
    """Return the choices with their meanings, if known; the value in force is marked."""
    meanings = _meanings(knob.about, choices(knob))
    return tuple(
        Record(name, ("✓" if name == current else " ", name, meanings.get(name, "")))
        for name in choices(knob)
    )


def has_meanings(knob: Knob) -> bool:
    """Whether the meanings of the choices make up all of the setting's description."""
    names = choices(knob)
    return bool(names) and set(names) == set(_meanings(knob.about, names))


def wrong(knob: Knob, error: ToolsightError) -> str:
    """Return what is wrong with a typed value, without repeating the setting's description."""
    if error.hint.casefold().removesuffix(".") == knob.about.casefold():
        return visible(error.message, limit=_LONGEST)
    return failure_text(error)[1]


def _meanings(about: str, names: Collection[str]) -> dict[str, str]:
    """Return the parts of "all: every tool; keep: found tools stay" by name."""
    pairs = (part.partition(": ") for part in about.split("; "))
    return {name: meaning for name, sign, meaning in pairs if sign and name in names}


def _short(value: Any) -> str:
    return middle(shown(value), _IN_A_ROW)
