"""What each client lists of odd skills, cell by cell: the table that was measured, written anew as data."""

from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

from inspector.features.skills.cost import list_cost
from inspector.features.skills.facts import costs
from inspector.features.skills.inventory import Inventory
from inspector.features.skills.rule import FLAWS, RULES
from inspector.features.skills.shown import Shown, State, entry_line, shown_in
from inspector.features.skills.skill import Place, parse_skill

# As the columns of the table are called, in its order.
_NAMES = {
    "claude": "claude-code",
    "codex": "codex",
    "openc": "opencode",
    "gemini": "gemini-cli",
    "qwen": "qwen-code",
    "copil": "copilot-cli",
    "cline": "cline-cli",
    "contin": "continue-cli",
    "kimi": "kimi-code",
    "vibe": "vibe",
    "droid": "droid",
    "openh": "openhands",
    "fast": "fast-agent",
    "gptme": "gptme",
}
_STATES = {"x": State.WHOLE, "n": State.NAME, "-": State.GONE, "h": State.HIDDEN}
_BODY = "# The heading\n\nThe first words.\nMore.\n\nA second paragraph.\n"


def _md(*lines: str, name: str = "odd", about: str = "description: Does it.") -> str:
    named = [f"name: {name}"] if name else []
    return "\n".join(("---", *named, *([about] if about else []), *lines, "---", _BODY))


# By row: the file, its folder (or path below the place), and a cell for each client: x whole, n name alone,
# - gone, h hidden, a number of characters, c a number that goes by its path.
ROWS: dict[str, tuple[str, str, str]] = {
    "plain": (_md(), "odd", "x x x x x x n x x x x x x x"),
    "79 characters": (_md(about=f"description: {'a' * 79}"), "odd", "x x x x x x n x x x x x x x"),
    "1,024 characters": (
        *(_md(about=f"description: {'a' * 1_024}"), "odd"),
        "x x x x x x n x 247 x x x x 77",
    ),
    "1,121 characters": (
        _md(about=f"description: {'a' * 1_121}"),
        "odd",
        "x 1021 x x x - n x 247 - 1023 c x 77",
    ),
    "3,612 characters": (
        *(_md(about=f"description: {'a' * 3_612}"), "odd"),
        "1535 1021 x x x - n x 247 - 1023 c x 77",
    ),
    "no description": (_md(about=""), "odd", "x - - - - x n - - - - x - n"),
    "no front matter": (_BODY, "odd", "x - - - - - n - - - - x - -"),
    "no name": (_md(name=""), "odd", "x x - - - x n - - - - x - -"),
    "name unlike the folder": (_md(name="other"), "odd", "x x x x x x n x x x x - x x"),
    "upper case": (_md(name="Odd"), "Odd", "x x x x x x n x x - - - x x"),
    "underscore": (_md(name="od_d"), "od_d", "x x x x x x n x x - - - x x"),
    "name of 70": (_md(name="o" * 70), "o" * 70, "x - x x x - n x x - x - x x"),
    "café": (_md(name="café"), "café", "x x x x x - n x x - - - x x"),
    "bare colon": (_md(about="description: Use it when: asked"), "odd", "x x x x x - - - - - x - - -"),
    "unclosed quote": (_md(about='description: "Use it'), "odd", "x - - x x - - - - - x - - -"),
    "tab": (_md("metadata:\n\tkind: one"), "odd", "x - x x x - - - - - - - - -"),
    "byte order mark": ("\ufeff" + _md(), "odd", "x - x - x x n - x x - x - -"),
    "empty line first": ("\n" + _md(), "odd", "x - - - - - n x - x - x x -"),
    "license: 2.0": (_md("license: 2.0"), "odd", "x x x x x x n x x - - - x x"),
    "metadata: text": (_md("metadata: text"), "odd", "x - x x x x n x x - - - x x"),
    "list": (_md(about="description: [One, Two]"), "odd", "x - - x x - - - - - - - - x"),
    "number": (_md(about="description: 7"), "odd", "x x - x x - - - - - - - - -"),
    "nested": (_md(), "group/odd", "- x x - - x - - x - x - - x"),
    "flat": (_md(), "odd.md", "- - - - - - - - x - - x - x"),
    "lower case": (_md(), "odd/skill.md", "- - - - - - - - - - - x - x"),
    "dot": (_md(), ".odd", "x - - - x - n x x x x - x -"),
    "no model": (_md("disable-model-invocation: true"), "odd", "h x x x h h n x h h h x x x"),
    "paths": (_md("paths: ['*.py']"), "odd", "h x x x h x n x x x x x x x"),
    "block": (_md(about="description: |\n  One.\n  Two."), "odd", "x x x x 4 x n x x x x x x x"),
}


def _write(place: Path, path: str, text: str) -> Path:
    file = place / path if path.endswith(".md") else place / path / "SKILL.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def _in(client: str, tmp_path: Path, files: dict[str, str], place: str = "") -> list[Shown]:
    """What a client makes of skills in its own first place of the project."""
    rule = RULES[_NAMES[client]]
    for path, text in files.items():
        _write(tmp_path / "p" / (place or rule.project[0]), path, text)
    found = Inventory.of(tmp_path / "p", tmp_path / "home", [rule])
    return list(found.shown[rule.client])


def _cell(shown: Shown) -> str:
    if shown.state is State.CUT:
        return "c" if shown.rule.middle else str(len(shown.text))
    return next(sign for sign, state in _STATES.items() if state is shown.state)


@pytest.mark.parametrize("row", ROWS)
def test_each_client_lists_an_odd_skill_as_it_was_measured(tmp_path: Path, row: str) -> None:
    text, path, cells = ROWS[row]
    found = {client: _in(client, tmp_path / client, {path: text}) for client in _NAMES}
    assert {client: list(map(_cell, shown)) for client, shown in found.items()} == {
        client: [cell] for client, cell in zip(_NAMES, cells.split(), strict=True)
    }
    # What is gone has a cause that says where to look.
    assert all(
        one.why and (one.flaw or one.by) for every in found.values() for one in every if not one.is_listed
    )


@pytest.mark.parametrize(
    ("row", "kind", "line"),
    [
        ("bare colon", "bare-colon", 3),
        ("unclosed quote", "unclosed-quote", 3),
        ("tab", "tab", 5),
        ("license: 2.0", "license-number", 4),
        ("name unlike the folder", "other-name", 2),
        ("number", "description-number", 3),
        ("byte order mark", "bom", 1),
        ("nested", "nested", 0),
    ],
)
def test_a_flaw_names_its_line(tmp_path: Path, row: str, kind: str, line: int) -> None:
    (shown,) = _in("vibe", tmp_path, {ROWS[row][1]: ROWS[row][0]})
    assert [(flaw.kind, flaw.line) for flaw in shown.skill.flaws] == [(kind, line)]
    above = "\n" + ROWS[row][0].removeprefix("\ufeff")
    (shown,) = _in("vibe", tmp_path / "below", {ROWS[row][1]: above})
    lines = {flaw.kind: flaw.line for flaw in shown.skill.flaws}
    assert lines.get(kind, 0) == (line + 1 if line > 1 else 0)


def test_a_linked_folder_is_gone_in_two_clients(tmp_path: Path) -> None:
    real = _write(tmp_path / "real", "odd", _md()).parent
    gone = set()
    for client, rule in RULES.items():
        place = tmp_path / client / rule.project[0]
        place.mkdir(parents=True)
        (place / "odd").symlink_to(real)
        (shown,) = Inventory.of(tmp_path / client, tmp_path / "home", [rule]).shown[client]
        gone |= {client} if shown.state is State.GONE else set()
    assert gone == {"continue-cli", "gptme"}


@pytest.mark.parametrize(
    ("client", "row", "text"),
    [
        ("claude", "no description", "The heading"),
        ("claude", "no front matter", "The heading"),
        ("claude", "empty line first", "---"),
        ("claude", "list", "The heading"),
        ("copil", "no description", "The first words. More. A second paragraph."),
        ("openh", "no description", "The first words."),
        ("openh", "byte order mark", "---"),
        ("openh", "flat", _BODY.strip()),
        ("gemini", "list", "[One, Two]"),
        ("qwen", "list", "One,Two"),
        ("gptme", "list", "['One', 'Two']"),
        ("qwen", "block", "One."),
        ("codex", "bare colon", "Use it when: asked"),
        ("claude", "unclosed quote", "The heading"),
    ],
)
def test_what_stands_in_place_of_a_description(tmp_path: Path, client: str, row: str, text: str) -> None:
    (shown,) = _in(client, tmp_path, {ROWS[row][1]: ROWS[row][0]})
    assert shown.text == text


def test_a_list_in_lines_is_shown_as_it_is_written(tmp_path: Path) -> None:
    text = _md(about="description:\n- One\n  - Two")
    assert [one.text for one in _in("gemini", tmp_path, {"odd": text})] == ["- One - Two"]


def test_a_description_that_is_cut_in_the_middle_takes_1024_characters_with_its_path() -> None:
    place = Place("", Path("/p/.agents/skills"), frozenset(RULES))
    whole = "".join(f"Sentence {at} of it. " for at in range(60))
    text = _md(about=f"description: {whole}").encode()
    skill = parse_skill(text, "odd", place.path / "odd" / "SKILL.md", place)
    (shown,) = shown_in(RULES["openhands"], [skill])
    line = entry_line(shown).partition("<description>")[2].partition("</description>")[0]
    assert len(unescape(line)) == 1_024
    assert len(shown.text) == 423
    assert line.startswith(f"{shown.text}&lt;response clipped&gt;")
    assert line.endswith("Sentence 59 of it.")


def test_front_matter_that_a_client_does_not_see_hides_nothing(tmp_path: Path) -> None:
    text = "\n" + _md("disable-model-invocation: true")
    (shown,) = _in("claude", tmp_path, {"odd": text})
    assert (shown.state, shown.text) == (State.WHOLE, "---")


def test_when_to_use_it_is_shown_by_two_clients(tmp_path: Path) -> None:
    text = _md("when_to_use: Under.", "when-to-use: Hyphen.")
    found = {client: _in(client, tmp_path / client, {"odd": text})[0].text for client in _NAMES}
    added = {client: told.removeprefix("Does it.").strip() for client, told in found.items() if told}
    assert {client: more for client, more in added.items() if more} == {"claude": "Under.", "kimi": "Hyphen."}


@pytest.mark.parametrize(
    ("row", "client"), [("license: 2.0", "openh"), ("list", "openh"), ("number", "gptme")]
)
def test_one_file_can_empty_a_folder_or_a_list(tmp_path: Path, row: str, client: str) -> None:
    shown = _in(client, tmp_path, {"odd": ROWS[row][0], "fine": _md(name="fine")})
    assert [one.state for one in shown] == [State.GONE, State.GONE]
    (other,) = (one for one in shown if one.by is not None)
    assert other.name == "fine"
    assert "the whole" in other.why
    assert "odd/SKILL.md" in other.why


def test_a_folder_is_emptied_and_no_other(tmp_path: Path) -> None:
    _write(tmp_path / "p/.openhands/skills", "fine", _md(name="fine"))
    shown = _in("openh", tmp_path, {"odd": ROWS["license: 2.0"][0]}, ".agents/skills")
    assert {one.name: one.state for one in shown} == {"fine": State.WHOLE, "odd": State.GONE}


# Of the same name in the client's own place, in .agents and .claude, in the project and in HOME.
WINNERS = {
    "claude": "home/.claude",
    "openc": "home/.opencode",
    "gemini": "p/.agents",
    "qwen": "p/.qwen",
    "copil": "p/.github",
    "cline": "home/.agents",
    "kimi": "p/.agents",
    "vibe": "p/.vibe",
    "droid": "p/.factory",
    "openh": "p/.agents",
    "fast": "p/.claude",
    "gptme": "home/",
}


@pytest.mark.parametrize("client", _NAMES)
def test_of_one_name_each_client_has_its_winner(tmp_path: Path, client: str) -> None:
    rule = RULES[_NAMES[client]]
    for base, own in (("p", rule.project), ("home", rule.home)):
        for place in {*own, ".agents/skills", ".claude/skills"}:
            _write(tmp_path / base / place, "odd", _md(about=f"description: {base}/{place}"))
    shown = Inventory.of(tmp_path / "p", tmp_path / "home", [rule]).shown[rule.client]
    listed = [one for one in shown if one.is_listed]
    if client not in WINNERS:
        assert client in ("codex", "contin")
        assert listed == list(shown)
        assert len(listed) > 2
        return
    (winner,) = listed
    assert winner.skill.path.is_relative_to(tmp_path / WINNERS[client])
    assert all(one.by is winner.skill and one.flaw is None for one in shown if one is not winner)


def test_a_project_hides_no_skill_of_another_and_its_list_has_none_of_them(tmp_path: Path) -> None:
    _write(tmp_path / "shop/.agents/skills", "odd", _md())
    _write(tmp_path / "home/.agents/skills", "odd", _md())
    _write(tmp_path / "bank/.agents/skills", "long", _md(name="long", about=f"description: {'Pays. ' * 99}"))
    folders, home, rule = (tmp_path / "shop", tmp_path / "bank"), tmp_path / "home", RULES["vibe"]
    shop, bank = (Inventory.of(one, home, [rule]).shown["vibe"] for one in folders)
    assert [one.is_listed for one in shop] == [True, False]
    found = Inventory.of(folders[0], home, [rule], folders[1:])
    assert [one.is_listed for one in found.shown["vibe"]] == [True, True, True]
    (cost,) = costs(found, len)
    assert cost.listed == 2
    assert cost.tokens == list_cost(rule, bank, len).tokens > list_cost(rule, shop, len).tokens


def test_a_list_names_the_folders_of_a_skill_that_a_client_names(tmp_path: Path) -> None:
    for name in ("scripts", "other"):
        (tmp_path / "fast/p/.fast-agent/skills/odd" / name).mkdir(parents=True)
    (shown,) = _in("fast", tmp_path / "fast", {"odd": _md()})
    line = entry_line(shown)
    assert f"<scripts>{shown.skill.path.parent}/scripts</scripts>" in line
    assert "other" not in line
    assert "references" not in line


def test_every_rule_names_a_flaw_a_version_and_a_date() -> None:
    assert len(RULES) == 14
    for rule in RULES.values():
        emptied = [kind for kinds in rule.empties.values() for kind in kinds]
        assert {*rule.gone, *emptied, *rule.always, *rule.shows, *rule.hides} <= FLAWS.keys()
        assert rule.version
        assert rule.date in ("2026-11-28", "2026-11-30")


# Places: in the project, in HOME, and of a repository's root from a folder in it.
@pytest.mark.parametrize(
    ("place", "clients"),
    [
        (".claude/skills", "claude openc copil contin fast"),
        (".agents/skills", "codex openc gemini qwen copil cline kimi vibe droid openh fast"),
        ("skills", "gptme"),
    ],
)
def test_the_places_of_a_project_reach_these_clients(
    tmp_path: Path, place: str, clients: str, reached: Callable[[Path, Path], set[str]]
) -> None:
    _write(tmp_path / "p" / place, "odd", _md())
    wanted = {_NAMES[client] for client in clients.split()}
    assert reached(tmp_path / "p", tmp_path / "home") == wanted


def test_from_a_folder_in_a_repository_some_clients_look_at_its_root(
    tmp_path: Path, reached: Callable[[Path, Path], set[str]]
) -> None:
    (tmp_path / "p/.git").mkdir(parents=True)
    (tmp_path / "p/inner").mkdir()
    for place in (".claude/skills", ".agents/skills"):
        _write(tmp_path / "p" / place, "odd", _md())
    names = ("claude", "codex", "openc", "copil", "cline", "kimi", "droid", "openh")
    assert reached(tmp_path / "p/inner", tmp_path / "home") == {_NAMES[one] for one in names}
    _write(tmp_path / "p/inner/.agents/skills", "inner", _md(name="inner"))
    found = Inventory.of(tmp_path / "p/inner", tmp_path / "home", list(RULES.values())).shown
    assert not any(one.name == "inner" for client in ("cline-cli", "kimi-code") for one in found[client])


def test_the_places_of_home_reach_these_clients(
    tmp_path: Path, reached: Callable[[Path, Path], set[str]]
) -> None:
    _write(tmp_path / "home/.agents/skills", "odd", _md())
    (tmp_path / "p").mkdir()
    names = _NAMES.keys() - {"claude", "contin", "fast"}
    assert reached(tmp_path / "p", tmp_path / "home") == {_NAMES[one] for one in names}


@pytest.fixture
def reached() -> Callable[[Path, Path], set[str]]:
    """The clients that find a skill below a folder or in HOME."""
    rules = list(RULES.values())
    return lambda folder, home: {
        client for client, shown in Inventory.of(folder, home, rules).shown.items() if shown
    }
