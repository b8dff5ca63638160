"""What programs read: the keys of every command's JSON, and the values that the demo always gives.

`tests/cli/json_keys/NAME.txt` has a line for each key by its path, with the types of its values. Paths go
through lists as `[]`, and through objects whose keys are names (tools, servers, settings …) as `*`. To take a
change over: `TOOLSIGHT_GOLDEN=write pytest tests/cli/test_json_keys.py`.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Toolsight

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parent / "json_keys"
_WRITES = os.environ.get("TOOLSIGHT_GOLDEN") == "write"
# Keys that are data: ids, names with a dot or a hyphen, numbers, words with a blank.
_IS_NAME = re.compile(r".*[:.\-/ ].*|\d+|[A-Z_]{4,}")
_NAMED = {
    *("servers", "settings", "profiles", "reasons", "outcomes", "deliveries", "properties"),
    *("definitions", "tool_sets", "by_server", "kinds", "counts", "weights", "inputs", "env", "headers"),
    *("facts", "only", "changed", "models", "variables"),
}
# Schemas and arguments are the servers' own.
_FOREIGN = {
    "parameters",
    "inputSchema",
    "outputSchema",
    "input_schema",
    "output_schema",
    "arguments",
    "structured",
}
# What no two runs or machines have in common: where the record is, and the last digits of scores.
_VOLATILE = re.compile(r"session \S+ in |    \S+:\S+  [\d.]+  ")
# Replaced by the id of the demo's session.
SESSION = "SESSION"
# Replaced by a client's file, and by a folder of skills.
FILE, SKILLS = "FILE", "SKILLS"
COMMANDS: dict[str, tuple[str, ...]] = {
    "servers": ("servers", "--demo"),
    "tools": ("tools", "--demo"),
    "tools-request": ("tools", "--request", "--demo"),
    "tools-client": ("tools", "--client", "codex", "--demo"),
    "tools-clients": ("tools", "--client", "codex", "--client", "cursor", "--demo"),
    "call": ("call", "calc:evaluate", "expression=6 * 7", "--demo"),
    "clients": ("clients", "codex"),
    "skills": ("skills", SKILLS),
    "search": ("search", "late orders", "--demo"),
    "search-why": ("search", "late orders", "--why", "shop:list_orders", "--demo"),
    "check": ("check", "--expect", "late orders -> shop:list_orders", "--fail-on", "never", "--demo"),
    "cost": ("cost", "--demo"),
    "audit": ("audit", "--demo"),
    "sessions": ("sessions",),
    "sessions-show": ("sessions", "show", SESSION),
    "sessions-events": ("sessions", "show", SESSION, "--as", "events"),
    "sessions-metrics": ("sessions", "metrics"),
    "sessions-next": ("sessions", "next"),
    "diff": ("diff", SESSION, SESSION),
    "sessions-unused": ("sessions", "unused"),
    "scenario": ("scenario",),
    "registry": ("registry",),
    "marketplace-search": ("marketplace", "search", "exchange rates", "--demo"),
    "marketplace-show": ("marketplace", "show", "fixtures/currency", "--demo"),
    "doctor-server": ("doctor", "server", "calc", "--demo"),
    "doctor-breakers": ("doctor", "breakers"),
    "config-settings": ("config", "settings"),
    "config-keys": ("config", "keys"),
    "tap-add": ("tap", "add", "far", "--config", FILE, "--yes"),
}


@pytest.fixture(scope="module", autouse=True)
def transcript(toolsight: Toolsight) -> str:
    """A conversation of the demo as it is printed; the commands over the record show it."""
    done = toolsight("demo", "--headless")
    assert done.exit_code == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def recorded(transcript: str) -> str:
    """The id of that conversation's session."""
    return str(re.findall(r"^session (\S+) in ", transcript, re.MULTILINE)[-1])


@pytest.fixture(scope="module")
def printed(
    toolsight: Toolsight, recorded: str, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Any]:
    """The JSON of a command, which runs once."""
    file = tmp_path_factory.mktemp("client") / "mcp.json"
    for folder in ("one", "two"):
        skill = file.parent / folder / "SKILL.md"
        skill.parent.mkdir()
        skill.write_text("---\nname: one\ndescription: Does it.\n---\n", encoding="utf-8")
    file.write_text('{"mcpServers": {"far": {"url": "https://example.com"}}}', encoding="utf-8")

    def run(name: str) -> Any:
        words = (
            {SESSION: recorded, FILE: str(file), SKILLS: str(file.parent)}.get(word, word)
            for word in COMMANDS[name]
        )
        done = toolsight(*words, "--json")
        assert done.exit_code == 0, done.stderr
        return json.loads(done.stdout)

    return cache(run)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_keys_of_a_commands_json_are_those_that_programs_know(
    printed: Callable[[str], Any], name: str
) -> None:
    _compare(name, _described(printed(name)))


def _compare(name: str, lines: Iterable[str]) -> None:
    text, golden = "".join(f"{line}\n" for line in lines), GOLDEN / f"{name}.txt"
    if _WRITES:
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_the_demo_prints_the_same_conversation(transcript: str) -> None:
    told = re.sub(r"[\d.,]+ m?s\b", "0 ms", re.sub(r"(best \S+) [\d.]+", r"\1", transcript))
    lines = [line for line in told.splitlines() if not _VOLATILE.match(line)]
    # Tools that are as good as another are in an order that the processor decides.
    loaded = sorted(line for line in lines if line.startswith("  + loaded"))
    _compare("demo-transcript", [*(line for line in lines if line not in loaded), *loaded])


def test_the_demo_finds_the_same_tools(printed: Callable[[str], Any]) -> None:
    report = printed("search")
    best = [f"{hit['rank']} {hit['score']['tool_id']}" for hit in report["hits"][:3]]
    _compare("demo-search", [report["answer"], *best])


def test_the_demo_costs_the_same(printed: Callable[[str], Any]) -> None:
    _compare("demo-cost", map(_cost, printed("cost")["deliveries"]))


def _cost(one: dict[str, Any]) -> str:
    sums = [one[name] for name in ("input", "definitions", "definitions_and_searches")]
    cached, plain = one["cached"], one["uncached"]
    dollars = f"cached {cached['dollars']:.4f} uncached {plain['dollars']:.4f}"
    return f"{one['delivery']} {' '.join(map(str, sums))} saved {one['saved']:.4f} {dollars}"


def test_the_demo_always_gives_the_same_numbers(printed: Callable[[str], Any]) -> None:
    listed = printed("tools")
    assert (len(listed), sum(tool["tokens"] for tool in listed)) == (84, 10_376)
    assert printed("tools-request")["tokens"] == 1_015


def _described(value: Any) -> list[str]:
    found: dict[str, set[str]] = {}
    for path, kind in _paths(value, ""):
        found.setdefault(path, set()).add(kind)
    return [f"{path or '.'}: {' | '.join(sorted(kinds))}" for path, kinds in sorted(found.items())]


def _paths(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        yield path, "object"
        if path.rpartition(".")[2] in _FOREIGN:
            return
        is_named = path.rpartition(".")[2] in _NAMED or any(_IS_NAME.fullmatch(key) for key in value)
        for key, each in value.items():
            yield from _paths(each, f"{path}.{'*' if is_named else key}")
    elif isinstance(value, list):
        yield path, "list"
        for each in value:
            yield from _paths(each, f"{path}[]")
    else:
        yield path, {bool: "boolean", int: "number", float: "number", str: "text"}.get(type(value), "null")
