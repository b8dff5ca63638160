"""How many servers of real catalogs each rule of trust accuses: a section of docs/papers/descriptions.md.

`python -m docs.benchmark.trust FILE_OR_FOLDER...` prints a row for each: stored listings, data sets or
folders of `docs.hard.capture`. `-v` prints the findings too, to be read; what they quote is not ours. With
`--poison FILE` (`toolsight tools --demo --json`) each poison of the demo is added to its tool's description.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from docs.benchmark import say
from inspector.config.file import load_lines
from inspector.core.number import wilson
from inspector.core.tool import Annotations
from inspector.features.check.trust_rule import RULES, trust_findings
from inspector.mcp.recorded_link import read_definitions

POISON = Path("fixtures/poison/demo.jsonl")


def instructions_in(path: Path) -> dict[str, str]:
    """What captured servers said in their answer to `initialize`."""
    found: dict[str, str] = {}
    for file in path.glob("*.json") if path.is_dir() else ():
        said: Any = json.loads(file.read_text())
        if isinstance(said, dict) and "initialize" in said:
            found[file.stem] = str(said["initialize"].get("instructions") or "")
    return found


def _poisoned(path: Path) -> None:
    """How many poisoned descriptions of each kind are accused, by facts that hold only with the poison."""
    wired = read_definitions([path])
    tools = [replace(tool, server=name[0], name=name[1]) for tool in wired if (name := tool.name.split("__"))]
    before = {(one.rule, one.subject) for one in trust_findings(tools, {})}
    kinds, found = Counter[str](), Counter[str]()
    for _, poison in load_lines(POISON):
        kinds[poison["kind"]] += 1
        poisoned = [
            replace(tool, description=f"{tool.description} {poison['text']}")
            if tool.id == poison["tool"]
            else tool
            for tool in tools
        ]
        told = {(one.rule, one.subject) for one in trust_findings(poisoned, {})} - before
        found[poison["kind"]] += any(subject == poison["tool"] for _, subject in told)
    for kind, number in kinds.items():
        say(f"| {kind} | {found[kind]} of {number} |")
    say(f"| all | {found.total()} of {kinds.total()} |")


def main() -> int:
    if sys.argv[1:2] == ["--poison"]:
        _poisoned(Path(sys.argv[2]))
        return 0
    paths = [Path(word) for word in sys.argv[1:] if word != "-v"]
    say(f"| set | tools | servers | annotated | {' | '.join(rule.name for rule in RULES)} |")
    say(f"|---|{'--:|' * (3 + len(RULES))}")
    for path in paths:
        tools, instructions = read_definitions([path]), instructions_in(path)
        servers = len({tool.server for tool in tools})
        annotated = sum(tool.annotations != Annotations() for tool in tools)
        findings = list(trust_findings(tools, instructions))
        cells = []
        for rule in RULES:
            mine = [one for one in findings if one.rule is rule]
            accused = len({one.server for one in mine if one.server})
            low, high = wilson(accused / servers, servers)
            share = f"{accused} ({accused / servers:.0%} [{low:.0%}, {high:.0%}])"
            cells.append("yes" if mine and not accused else share if accused else "0")
        name = path.parent.name if path.name == "tools.jsonl" else path.stem
        say(f"| {name} | {len(tools):,} | {servers} | {annotated} | {' | '.join(cells)} |")
        for one in findings if "-v" in sys.argv else ():
            say(f"  {one.rule.name} {one.subject}: {one.message} {one.proof}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
