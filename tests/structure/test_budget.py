"""What may stand in the source, by room: nothing grows unless something else goes."""

import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from inspector.config.setting import knobs
from tests.cli.test_help import commands

ROOT = Path(__file__).resolve().parents[2]
BUDGET = tomllib.loads((Path(__file__).parent / "budget.toml").read_text(encoding="utf-8"))


def rooms(root: Path) -> Mapping[str, int]:
    """The lines of each folder in inspector/ and of each feature, with their own folders, and of widgets/."""
    found = Counter[str]()
    for top in ("inspector", "widgets"):
        for path in (root / top).rglob("*.py"):
            inner = path.relative_to(root).parts[1:-1] if top == "inspector" else ()
            with path.open("rb") as lines:
                depth = 2 if inner[:1] == ("features",) else 1
                found["/".join((top, *inner[:depth]))] += sum(1 for _ in lines)
    return found


def over(measured: Mapping[str, int], allowed: Mapping[str, int]) -> dict[str, str]:
    """What is above its number, or has none."""
    return {
        name: f"{value:,}, allowed {allowed.get(name, 0):,}"
        for name, value in measured.items()
        if value > allowed.get(name, 0)
    }


def test_no_room_has_more_lines_than_its_budget() -> None:
    assert over(rooms(ROOT), BUDGET["lines"]) == {}


def test_there_are_no_more_settings_commands_and_files_than_the_budget_has() -> None:
    files = sum(1 for top in ("inspector", "widgets") for _ in (ROOT / top).rglob("*.py"))
    counted = {"settings": len(knobs()), "commands": sum(1 for _ in commands()), "files": files}
    assert over(counted, BUDGET["counts"]) == {}


def test_a_room_is_raised_only_by_what_another_gives() -> None:
    assert sum(BUDGET["lines"].values()) <= BUDGET["total"]


def test_a_line_more_in_a_room_and_a_room_without_a_budget_are_noticed(tmp_path: Path) -> None:
    for place in ("inspector/old", "inspector/new/inner", "widgets"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "part.py").write_text("one = 1\ntwo = 2\n", encoding="utf-8")
    found = rooms(tmp_path)
    assert found == {"inspector/old": 2, "inspector/new": 2, "widgets": 2}
    assert over(found, {"inspector/old": 1, "widgets": 2}) == {
        "inspector/old": "2, allowed 1",
        "inspector/new": "2, allowed 0",
    }
