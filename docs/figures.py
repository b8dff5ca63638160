"""The figures of the README and the docs, measured and written again: `make numbers`.

`python -m docs.figures --quick` measures only what takes a few seconds, and `--check` writes nothing: it
prints every line that is no longer true, and fails. Timings are left out, since they belong to a machine:
`make bench` prints them.

A sentence is found by its words; a table stands between `<!-- numbers: NAME -->` and `<!-- end -->`. What is
measured on recorded runs stays as it is without `--data FOLDER` (`make numbers DATA=FOLDER`).
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from docs import evidence
from docs.benchmark import say

ROOT = Path(__file__).resolve().parents[1]
_TABLE = re.compile(r"(<!-- numbers: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
_VALUE = r"\$?[-+–.\d][\d,.]*"
DATA = "DATA"


def _printed(*words: str) -> str:
    """What a command prints in an empty home folder."""
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HOME": home, "XDG_DATA_HOME": home, "COLUMNS": "200"}
        done = subprocess.run(
            [sys.executable, "-m", "inspector", *words],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            check=True,
        )
        return done.stdout.decode()


@cache
def demo() -> Mapping[str, str]:
    """The scripted conversation: the tokens that tools take in some of its model calls."""
    records = json.loads(_printed("demo", "--headless", "--json"))
    found, static = {}, 0
    for record in records:
        event = record["event"]
        if record["kind"] == "catalog":
            static = event["static_tokens"]
            found["static"] = f"{static:,}"
        if record["kind"] != "request":
            continue
        parts, call = event["tokens"], event["call"]
        tools = parts["tools"] + parts["meta"] + parts["manifest"]
        found[f"tools{call}"] = f"{tools:,}"
        found[f"bound{call}"] = str(len(event["bound"]))
        found[f"searches{call}"] = f"{parts['searches']:,}"
        found[f"saved{call}"] = f"{1 - (tools + parts['searches']) / static:.0%}".removesuffix("%")
    return found


@cache
def cost() -> Mapping[str, str]:
    """An assumed session over the demo's tools: its price by strategy, and from how many tools each pays."""
    data = json.loads(_printed("cost", "--demo", "--json"))
    found = {"tools": str(data["tools"]), "calls": str(data["assumed"]["calls"])}
    for way in data["deliveries"]:
        name, pays = way["delivery"], way["pays_from_tools"] or {}
        found[name] = f"${way['cached']['dollars']:.2f}"
        found |= {f"{name}_{bound}": f"{number:,}" for bound, number in pays.items()}
    return found


@cache
def compare() -> Mapping[str, str]:
    """The conversation of the demo under every profile, as a table."""
    runs = json.loads(_printed("scenario", "compare", "demo", "--all-profiles", "--json"))["profiles"]
    rows: dict[str, Callable[[Mapping[str, Any]], str]] = {
        "": lambda run: run["profile"],
        "model calls": lambda run: str(run["model_calls"]),
        "definitions": lambda run: f"{run['tool_tokens']:,}",
        "definitions and searches": lambda run: f"{run['discovery_tokens']:,}",
        "all input": lambda run: f"{run['input_tokens']:,}",
        "cost a solved step": lambda run: f"${run['dollars_per_step']:.2g}",
        "searches, evictions": lambda run: f"{run['searches']}, {run['evictions']}",
    }
    lines = [f"| {' | '.join((name, *map(of, runs)))} |\n" for name, of in rows.items()]
    lines.insert(1, f"|---|{'--:|' * len(runs)}\n")
    return {"table": "".join(lines)}


@cache
def saved() -> Mapping[str, str]:
    """What discovery saves over captured catalogs and recorded runs."""
    return evidence.figures(Path(os.environ[DATA]), _printed)


@cache
def recorded() -> Mapping[str, str]:
    """The recorded runs under static binding and discovery, as a table."""
    return evidence.table(Path(os.environ[DATA]), _printed)


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words of a page with figures in braces, and what measures those."""

    page: str
    measured: Callable[[], Mapping[str, str]]
    words: str

    def written(self, text: str) -> str:
        """The page's text with the figures as measured. Raises ValueError unless it has the words once."""
        parts = re.split(r"\{(\w+)\}", self.words)
        plain = [r"\s+".join(map(re.escape, part.split(" "))) for part in parts[::2]]
        pattern = re.compile(f"({f'){_VALUE}('.join(plain)})")
        if len(pattern.findall(text)) != 1:
            raise ValueError(f"{self.page} does not say once: {self.words}")
        values = [self.measured()[name] for name in parts[1::2]]
        return pattern.sub(lambda found: _joined(found.groups(), values), text)


def _joined(plain: tuple[str, ...], values: list[str]) -> str:
    return "".join(word for pair in zip(plain, (*values, ""), strict=True) for word in pair)


SENTENCES = (
    Sentence(
        "README.md",
        demo,
        "the demo's first model call binds {tools1} tokens of tools instead of {static}, "
        "and its tenth model call binds {tools10};",
    ),
    *(Sentence("README.md", saved, words) for words in evidence.SENTENCES),
    Sentence("README.md", cost, "static binding once there are {append_usual} tools of similar size"),
    Sentence(
        "docs/cost.md",
        cost,
        "With the demo's {tools} tools (assuming a session of {calls} calls at gpt-5 prices), static binding "
        "costs {static}, `append` {append} and `call_tool` {call_tool}.",
    ),
    Sentence(
        "docs/cost.md",
        cost,
        "becomes cheaper than static binding at {append_usual} tools of that size ({append_low} to "
        "{append_high} depending on the assumptions), and `call_tool` at {call_tool_usual} tools "
        "({call_tool_low} to {call_tool_high}).",
    ),
    *(
        Sentence(
            "docs/papers/README.md",
            demo,
            f"| {call} ({what}) | {{bound{call}}} | {{tools{call}}} | {{searches{call}}} | {{static}} | "
            f"{{saved{call}}} % |",
        )
        for call, what in (
            (1, "before any search"),
            (4, "after two searches"),
            (10, "after four searches; up to 16 found tools stay bound"),
        )
    ),
    Sentence(
        "docs/papers/README.md",
        cost,
        "({calls} assumed calls, gpt-5 prices), static binding costs {static}, `append` {append} and "
        "`call_tool` {call_tool}. `append` becomes cheaper at {append_usual} tools of that size as assumed "
        "({append_low} to {append_high} over all assumptions at once), `call_tool` at {call_tool_usual} "
        "({call_tool_low} to {call_tool_high}).",
    ),
    Sentence(
        "docs/papers/performance.md",
        demo,
        "| tokens of the first model call, compared to binding every tool | {tools1} and {static} |",
    ),
)
TABLES = {
    ("docs/papers/README.md", "compare"): compare,
    ("docs/papers/recorded-runs.md", "recorded"): recorded,
}
QUICK = (demo, cost)
WITH_DATA = (saved, recorded)


def is_measured(what: Callable[[], Mapping[str, str]], *, quick: bool) -> bool:
    """Whether these figures are measured: some take too long for `quick`, and some need data."""
    return what in QUICK or (not quick and (what not in WITH_DATA or DATA in os.environ))


def pages(*, quick: bool) -> Iterator[tuple[Path, str, str]]:
    """Every page that has figures: its path, its text, and its text with what is measured now.

    What is not measured stays as it is. Raises ValueError where a page lacks a sentence or a table.
    """
    tables = {place: of for place, of in TABLES.items() if is_measured(of, quick=quick)}
    for page in dict.fromkeys((*(sentence.page for sentence in SENTENCES), *(page for page, _ in TABLES))):
        path = ROOT / page
        before = text = path.read_text(encoding="utf-8")
        for sentence in SENTENCES:
            if sentence.page == page and is_measured(sentence.measured, quick=quick):
                text = sentence.written(text)
        for (_, name), measured in ((place, of) for place, of in tables.items() if place[0] == page):
            text = _with_table(page, text, name, measured()["table"])
        yield path, before, text


def _with_table(page: str, text: str, name: str, table: str) -> str:
    if f"<!-- numbers: {name} -->\n" not in text:
        raise ValueError(f"{page} has no place for the table {name}")
    return _TABLE.sub(lambda found: f"{found[1]}{table}{found[3]}" if found[2] == name else found[0], text)


def differences(before: str, after: str) -> list[tuple[str, str]]:
    """The lines that differ, as they are and as they should be."""
    pairs = zip(before.splitlines(), after.splitlines(), strict=False)
    return [(one, other) for one, other in pairs if one != other]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only what takes a few seconds")
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if a figure differs")
    parser.add_argument("--data", type=Path, help="recorded runs: docs/papers/recorded-runs.md")
    options = parser.parse_args()
    if options.data and evidence.is_complete(options.data):
        os.environ[DATA] = str(options.data.resolve())
    elif not options.quick:
        os.environ.pop(DATA, None)
        say("skipped, since --data does not name its folder: what is measured on recorded runs")
    started, changed = time.monotonic(), 0
    for path, before, after in pages(quick=options.quick):
        for old, new in differences(before, after):
            changed += 1
            say(f"{path.relative_to(ROOT)}\n  - {old}\n  + {new}")
        if not options.check and after != before:
            path.write_text(after, encoding="utf-8")
    say(f"{changed} lines differ; measured in {time.monotonic() - started:.0f} s")
    sys.exit(1 if options.check and changed else 0)


if __name__ == "__main__":
    main()
