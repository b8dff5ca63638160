"""Profiles and settings as rows, and what one of them does."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from textual.content import Content

from inspector.app.draw.failure import failure_text
from inspector.app.draw.style import MUTED
from inspector.domain.configuration import Configuration
from inspector.domain.error import ToolsightError
from inspector.domain.knob import Knob, KnobKind, Origin, knobs, origins, render_value, value_of
from inspector.domain.profile import PROFILES, Profile, find_profile, profile_settings
from inspector.domain.settings import Settings
from inspector.engine.discovery.rankers.ranker_list import RANKERS
from widgets import Column, Record, middle, visible

# Below its heading a path is indented.
_PATH_WIDTH = 2 + max(len(one.path) for one in knobs())
PROFILE_COLUMNS = (
    Column("mark", width=1, weight=9),
    Column("name", "name", weight=3),
    Column("title", "what it is", weight=2, hide_below=30),
)
KNOB_COLUMNS = (
    Column("path", "setting", width=_PATH_WIDTH, shorten="middle", weight=3),
    Column("mark", width=1, weight=2),
    Column("value", "value", min_width=7, shorten="middle", weight=1),
    Column("origin", "from", width=8, weight=2),
)
LEGEND = "● differs from the default"
WHEN = "Changes take effect on the next turn"
_SECTIONS: Mapping[str, str] = {
    "discovery": "Searching",
    "manifest": "What the manifest says",
    "binding": "What is bound, and when it goes",
    "gate": "The gate of a turn",
    "access": "What has to be true first",
    "guard": "Against loops",
    "redundancy": "Against repeated searches",
    "budget": "The window",
    "chat": "The conversation",
}
# No knob's path begins like the keys of the headings between the knobs.
HEADING = "\0"
_RANKER_KNOBS = frozenset({"discovery.ranker", "gate.ranker"})
_LONGEST = 400
_IN_A_ROW = 24
_SEPARATOR = " · "


@dataclass(frozen=True, slots=True)
class Setup:
    """What is in force, and all that it comes from; `session` are the values set in the session."""

    configuration: Configuration
    profile: str
    settings: Settings
    session: Mapping[str, Any]

    def origins(self) -> dict[str, Origin]:
        """Where the value of every knob comes from."""
        values = find_profile(self.profile).values
        return origins(self.configuration.settings, values, self.configuration.values, self.session)

    def value(self, knob: Knob) -> Any:
        return value_of(self.settings, knob.path)

    def differs(self, knob: Knob) -> bool:
        """Whether the value is another one than the default."""
        return bool(self.value(knob) != default(knob))


def default(knob: Knob) -> Any:
    """What the knob is where nobody says anything."""
    return value_of(Settings(), knob.path)


def choices(knob: Knob) -> tuple[str, ...]:
    """All that the knob can be, where that is a few names."""
    return tuple(RANKERS) if knob.path in _RANKER_KNOBS else knob.choices


def shown(value: Any) -> str:
    """A value in one harmless line; an empty one says so."""
    text = visible(render_value(value), limit=_LONGEST, newlines=False)
    if text in ("", "{}"):
        return "empty"
    return {"true": "on", "false": "off"}.get(text, text) if isinstance(value, bool) else text


def profile_rows(current: str) -> tuple[Record, ...]:
    """Every profile; the one in use is marked."""
    return tuple(
        Record(one.name, ("✓" if one.name == current else " ", one.name, one.title), copy=one.name)
        for one in PROFILES.values()
    )


def knob_rows(setup: Setup, *, only_different: bool = False) -> tuple[Record, ...]:
    """Every knob under the heading of its section, or only those that are not at their default."""
    came = setup.origins()
    rows: list[Record] = []
    section = ""
    for knob in knobs():
        if only_different and not setup.differs(knob):
            continue
        if knob.path.partition(".")[0] != section:
            section = knob.path.partition(".")[0]
            rows.append(_heading(section))
        rows.append(_row(setup, knob, came[knob.path]))
    return tuple(rows)


def _heading(section: str) -> Record:
    title = _SECTIONS.get(section, section)
    return Record(HEADING + section, (Content.styled(title, "bold"), "", "", ""), copy=title)


def _row(setup: Setup, knob: Knob, origin: Origin) -> Record:
    section, _, name = knob.path.partition(".")
    value = shown(setup.value(knob))
    cells = (
        Content.assemble(("  ", ""), (f"{section}.", MUTED), name),
        Content.styled("●" if setup.differs(knob) else " ", "$text-accent"),
        value,
        Content.styled(origin.value, MUTED if origin is Origin.DEFAULT else "$text-accent"),
    )
    search = f"{knob.path} {value} {knob.about}"
    copy = f"{knob.path}={render_value(setup.value(knob))}"
    return Record(knob.path, cells, search=search, copy=copy)


def facts(setup: Setup, *, only_different: bool) -> Content:
    """What is in force."""
    different = sum(map(setup.differs, knobs()))
    counts = f"{different} of {len(knobs())} differ from the default"
    here = f"{len(setup.session)} set here" if setup.session else ""
    parts = [counts, here, "only these are shown" if only_different else ""]
    line = _SEPARATOR.join(filter(None, parts))
    return Content.assemble(("profile ", MUTED), (setup.profile, "bold"), "   ", (line, MUTED))


def profile_detail(name: str) -> Content:
    """What a profile is, and what it changes."""
    one = PROFILES[name]
    return Content.assemble((one.title, "bold"), "   ", one.about, "\n", _changes(one))


def _changes(profile: Profile) -> Content:
    changed = [
        Content.assemble((f"{path} ", MUTED), shown(value))
        for path, value in profile.values.items()
        if value != value_of(Settings(), path)
    ]
    if not changed:
        return Content.styled("Every setting at its default.", MUTED)
    return Content.assemble("Changes: ", Content(_SEPARATOR).join(changed))


def knob_detail(setup: Setup, knob: Knob) -> Content:
    """What a knob does, what it may be, where its value comes from, and what it is in every profile."""
    origin = setup.origins()[knob.path]
    where = f"from the {_ORIGIN[origin]}" if origin is not Origin.DEFAULT else "the default"
    value = middle(shown(setup.value(knob)), _IN_A_ROW * 2)
    line = [
        Content.assemble((knob.path, "bold"), " = ", (value, "bold $text-accent"), (f"  {where}", MUTED)),
        *([Content.assemble(("default ", MUTED), _short(default(knob)))] if setup.differs(knob) else []),
    ]
    allowed = "" if knob.choices else f"   {knob.allowed}"
    about = Content.assemble(knob.about, (allowed, MUTED))
    return Content("\n").join([Content("   ").join(line), about, by_profile(setup, knob)])


_ORIGIN: Mapping[Origin, str] = {
    Origin.FILE: "file's tool_discovery",
    Origin.PROFILE: "profile",
    Origin.SETTINGS: "file's settings",
    Origin.SESSION: "session",
}


def by_profile(setup: Setup, knob: Knob) -> Content:
    """The knob's value in every profile over this file: `12 toolsight, prd · 8 kaman`."""
    base = setup.configuration.settings
    names: dict[str, list[str]] = {}
    for name in PROFILES:
        names.setdefault(_short(value_of(profile_settings(name, base), knob.path)), []).append(name)
    if len(names) == 1:
        return Content.assemble(*names, (" in every profile", MUTED))
    groups = [Content.assemble((f"{value} ", "bold"), (", ".join(of), MUTED)) for value, of in names.items()]
    return Content(_SEPARATOR).join(groups)


def hint(knob: Knob) -> str:
    """How a value is typed."""
    how = {
        KnobKind.LIST: "with commas between them",
        KnobKind.TABLE: 'as JSON: {"mail:*": ["…"]}',
        KnobKind.TEXTS: 'as JSON: {"mail:*": "…"}',
    }
    return f"{knob.allowed} {how[knob.kind]}" if knob.kind in how else knob.allowed


def choice_rows(knob: Knob, current: Any) -> tuple[Record, ...]:
    """What can be chosen; the value in force is marked, and what each means where the knob tells."""
    meanings = _meanings(knob.about, choices(knob))
    return tuple(
        Record(name, ("✓" if name == current else " ", name, meanings.get(name, "")))
        for name in choices(knob)
    )


def has_meanings(knob: Knob) -> bool:
    """Whether a list of the choices says all that the knob says of itself."""
    return bool(knob.choices) and set(knob.choices) == set(_meanings(knob.about, knob.choices))


def wrong(knob: Knob, error: ToolsightError) -> str:
    """What is wrong with a typed value; what the knob does stands beside it already."""
    if error.hint.casefold().removesuffix(".") == knob.about.casefold():
        return visible(error.message, limit=_LONGEST)
    return failure_text(error)[1]


def _meanings(about: str, names: Collection[str]) -> dict[str, str]:
    """The parts of "all: every tool; keep: found tools stay" by their names."""
    pairs = (part.partition(": ") for part in about.split("; "))
    return {name: meaning for name, sign, meaning in pairs if sign and name in names}


def _short(value: Any) -> str:
    return middle(shown(value), _IN_A_ROW)
