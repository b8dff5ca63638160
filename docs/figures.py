"""The figures of the README and the docs, measured and written again: `make numbers`.

`python -m docs.figures --quick` measures only what takes seconds, and `--check` writes nothing: it prints
every line that is no longer true, and fails. What a machine's speed decides is left out: `make bench` prints
it.

A sentence is found by its words; a table stands between `<!-- numbers: NAME -->` and `<!-- end -->`; the
pages that a benchmark writes are written by it. What is measured on recorded runs stays as it is without
`--data FOLDER` (`make numbers DATA=FOLDER`).
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from docs import evidence, measured
from docs.benchmark import say
from docs.benchmark.data import DATA
from docs.measured import OWN, REPRODUCTION, RETRIEVAL, ROOT, Figures, Texts

_TABLE = re.compile(r"(<!-- numbers: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
_VALUE = r"\$?[-+–.\d][\d,.]*(?: %)?"
PAPERS = "docs/papers/README.md"
Measure = Callable[[Texts], Figures]


class Figure(Protocol):
    """A place of a page, and what measures it."""

    @property
    def page(self) -> str: ...

    @property
    def measure(self) -> Measure: ...

    def written(self, text: str, figures: Figures) -> str:
        """The page's text with the figures as measured. Raises ValueError if it has no such place."""
        ...


class Sentence(Struct, frozen=True):
    """Words of a page with figures in braces."""

    page: str
    measure: Measure
    words: str

    def written(self, text: str, figures: Figures) -> str:
        """See `Figure`."""
        parts = re.split(r"\{(\w+)\}", self.words)
        plain = [r"\s+".join(map(re.escape, part.split(" "))) for part in parts[::2]]
        pattern = re.compile(f"({f'){_VALUE}('.join(plain)})")
        if len(pattern.findall(text)) != 1:
            raise ValueError(f"{self.page} does not say once: {self.words}")
        values = [figures[name] for name in parts[1::2]]
        return pattern.sub(lambda found: _joined(found.groups(), values), text)


def _joined(plain: Sequence[str], values: Sequence[str]) -> str:
    return "".join(word for pair in zip(plain, (*values, ""), strict=True) for word in pair)


class Marked(Struct, frozen=True):
    """A table between markers; the figures are the whole of it."""

    page: str
    measure: Measure
    name: str

    def written(self, text: str, figures: Figures) -> str:
        """See `Figure`."""
        if f"<!-- numbers: {self.name} -->\n" not in text:
            raise ValueError(f"{self.page} has no place for the table {self.name}")

        def put(found: re.Match[str]) -> str:
            return f"{found[1]}{figures['table']}{found[3]}" if found[2] == self.name else found[0]

        return _TABLE.sub(put, text)


class Cells(Struct, frozen=True):
    """Cells of the first table under a heading, by column and row: some of what a benchmark wrote."""

    page: str
    measure: Measure
    heading: str

    def written(self, text: str, figures: Figures) -> str:
        """See `Figure`."""
        header, *rows = measured.tables(text, self.heading)[0]
        start = text.index(f"{self.heading}\n")
        before, after = text[:start], text[start:]
        for row in rows:
            put = [figures.get(f"{column} {row[0]}") for column in header]
            cells = [
                cell if value is None else cell.replace(cell.strip("*"), value)
                for cell, value in zip(row, put, strict=True)
            ]
            after = after.replace(f"| {' | '.join(row)} |", f"| {' | '.join(cells)} |", 1)
        return before + after


class Written(Struct, frozen=True):
    """A page that a command writes. What is about speed and dates stays as it is.

    Those are the lines that start as `kept`, and the `sections` by their headings.
    """

    page: str
    command: tuple[str, ...]
    kept: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()

    def measure(self, texts: Texts) -> Figures:
        """The new page."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.md"
            path.write_text(texts[self.page], encoding="utf-8")
            command = [sys.executable, "-m", *self.command, "--output", str(path)]
            # A bar that is missed makes the command fail; the page says so.
            subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
            return {"page": path.read_text(encoding="utf-8")}

    def written(self, text: str, figures: Figures) -> str:
        """See `Figure`."""
        old = {section.partition("\n")[0]: section for section in _sections(text)}
        lines = {start: line for line in text.splitlines() for start in self.kept if line.startswith(start)}
        made = []
        for section in _sections(figures["page"]):
            heading = section.partition("\n")[0]
            made.append(old.get(heading, section) if heading in self.sections else section)
        page = "".join(made)
        for start, line in lines.items():
            page = re.sub(rf"^{re.escape(start)}.*$", line.replace("\\", r"\\"), page, flags=re.MULTILINE)
        return page


def _sections(text: str) -> list[str]:
    return re.split(r"^(?=## )", text, flags=re.MULTILINE)


def _between(name: str) -> str:
    """A figure with its interval."""
    return f"{{{name}}} [{{{name}_low}}, {{{name}_high}}]"


WRITTEN = (
    Written(
        REPRODUCTION,
        ("docs.papers", "--all", "--data", str(DATA)),
        kept=("Made on ", "| latency of a search, bm25 |", "| latency of a search, prd-bm25 |"),
        sections=("## Latency of retrieval",),
    ),
    Written(
        RETRIEVAL,
        ("docs.benchmark.retrieval", "--quality"),
        sections=() if os.environ.get("TOOLSIGHT_PEERS") else ("## Peers",),
    ),
)
QUICK: tuple[Figure, ...] = (
    Sentence(
        "README.md",
        measured.demo,
        "The demo's first model call binds {tools1} tokens of tools instead of {static}, and its tenth model "
        "call binds {tools10}.",
    ),
    Sentence(
        "README.md", measured.cost, "static binding once there are {append_usual} tools of similar size"
    ),
    Sentence(
        "docs/cost.md",
        measured.cost,
        "With the demo's {tools} tools (assuming a session of {calls} calls at gpt-5 prices), static binding "
        "costs {static}, `append` {append} and `call_tool` {call_tool}.",
    ),
    Sentence(
        "docs/cost.md",
        measured.cost,
        "becomes cheaper than static binding at {append_usual} tools of that size ({append_low} to "
        "{append_high} depending on the assumptions), and `call_tool` at {call_tool_usual} tools "
        "({call_tool_low} to {call_tool_high}).",
    ),
    *(
        Sentence(
            PAPERS,
            measured.demo,
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
        PAPERS,
        measured.cost,
        "({calls} assumed calls, gpt-5 prices), static binding costs {static}, `append` {append} and "
        "`call_tool` {call_tool}. `append` becomes cheaper at {append_usual} tools of that size as assumed "
        "({append_low} to {append_high} over all assumptions at once), `call_tool` at {call_tool_usual} "
        "({call_tool_low} to {call_tool_high}).",
    ),
    Sentence(
        "docs/papers/performance.md",
        measured.demo,
        "| tokens of the first model call, compared to binding every tool | {tools1} and {static} |",
    ),
    Marked(PAPERS, measured.compare, "compare"),
    Cells(RETRIEVAL, measured.ranking_sample, OWN),
    # What two pages say, agrees.
    Marked(PAPERS, measured.retrieval, "retrieval"),
    Sentence(
        "README.md",
        measured.retrieval,
        "reaches a mean nDCG@10 of {mean_hybrid}; MiniLM alone reaches {mean_dense}, and BM25 alone "
        "{mean_bm25}.",
    ),
    Sentence(
        "README.md",
        measured.everyday,
        "Of {impossible_n} everyday requests that no tool can serve, {impossible_found} get the answer "
        "`found`; of those that a server can nearly serve, {near}.",
    ),
    *(
        Sentence(PAPERS, measured.everyday, words)
        for words in (
            f"Of {{possible_n}} everyday requests to servers that no ranker was fitted on, "
            f"{_between('possible_found')} are `found`, {_between('possible_closest')} get the `closest` "
            f"tools and {_between('possible_nothing')} `nothing`; searches deliver a right tool for "
            f"{_between('plain_delivered')} of plain one-liners and for {_between('oblique_delivered')} of",
            f"Of {{impossible_n}} requests that no tool can serve, {_between('impossible_found')} are "
            f"`found` and {_between('impossible_closest')} get `closest`;",
            f"comes close, {_between('near')} of requests are still `found`",
        )
    ),
    *(
        Sentence(PAPERS, measured.reproduction, words)
        for words in (
            "azure_mcp, 200 | | {cut_demo}; {cut_pool_docker}; {cut_azure_mcp} |",
            f"; {_between('sets_100')}, {_between('sets_200')} |",
            "what people ask; pool_docker; azure_mcp | | {demo_gate_f1} and {demo_search_f1}; "
            "{pool_docker_gate_f1} and {pool_docker_search_f1}; {azure_mcp_gate_f1} and "
            "{azure_mcp_search_f1} |",
            "metatool; toolalpaca | | {bfcl_gate_f1} and {bfcl_search_f1}; {metatool_gate_f1} and "
            "{metatool_search_f1}; {toolalpaca_gate_f1} and {toolalpaca_search_f1} |",
            "demo; pool_docker; azure_mcp | | {demo_gate_all} and {demo_search_all}; {pool_docker_gate_all} "
            "and {pool_docker_search_all}; {azure_mcp_gate_all} and {azure_mcp_search_all} |",
            "the search is better on azure_mcp (p = {azure_mcp_p}) and bfcl (p = {bfcl_p}); elsewhere the "
            "two cannot be told apart (demo p = {demo_p}, pool_docker {pool_docker_p}, metatool "
            "{metatool_p}, toolalpaca {toolalpaca_p}).",
            "11 tools always included | 93 %, 96 % | {cut_0_100}, {cut_0_200}; {cut_11_100}, {cut_11_200} |",
            "without and with its summary pool | 2,368; 7,188 | {attention_call}; {attention_pool} |",
            "of a turn with its searches ({default_calls} calls) | | {default_call}; {default_turn} |",
            "retrieval F1 of bound tools, Tool Attention and `toolsight` | | {attention_f1}, {default_f1} |",
            "one changed every turn; none changed | 22 % | {hits_changing}; {hits_steady} |",
        )
    ),
)
SLOW: tuple[Figure, ...] = (
    *WRITTEN,
    Sentence(
        "docs/papers/profiles.md",
        measured.list_changes,
        "the input costs {append} % less with `append` and {least} to {most} % less with the others",
    ),
)


def recorded(data: Path) -> tuple[Figure, ...]:
    """What is measured on captured catalogs and recorded runs in a folder."""

    def saved(_: Texts) -> Figures:
        return evidence.figures(data, measured.printed)

    def runs(_: Texts) -> Figures:
        return evidence.table(data, measured.printed)

    sentences = (Sentence("README.md", saved, words) for words in evidence.SENTENCES)
    return *sentences, Marked("docs/papers/recorded-runs.md", runs, "recorded")


def new_texts(
    figures: Sequence[Figure], told: Callable[[str, float], None]
) -> Iterator[tuple[str, str, str]]:
    """Each page's path, its text, and its text with what is measured now; what took how long is `told`.

    Raises ValueError where a page lacks one of the figures' places.
    """
    pages = dict.fromkeys(one.page for one in (*figures, *WRITTEN))
    before = {page: (ROOT / page).read_text(encoding="utf-8") for page in pages}
    after, found = dict(before), dict[Measure, Figures]()
    for one in figures:
        if one.measure not in found:
            started = time.monotonic()
            found[one.measure] = one.measure(after)
            told(getattr(one.measure, "__name__", ""), time.monotonic() - started)
        after[one.page] = one.written(after[one.page], found[one.measure])
    for page, text in before.items():
        yield page, text, after[page]


def differences(before: str, after: str) -> Iterator[str]:
    """The lines that differ, as they are (-) and as they should be (+)."""
    changes = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return (line for line in changes if line[:1] in "-+" and line[:3] not in ("---", "+++"))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only what takes seconds")
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if a figure differs")
    parser.add_argument("--data", type=Path, help="recorded runs: docs/papers/recorded-runs.md")
    options = parser.parse_args()
    started, changed = time.monotonic(), 0
    figures = QUICK if options.quick else (*SLOW, *QUICK)
    if options.data and not (lacks := evidence.missing(options.data)):
        figures = (*figures, *recorded(options.data.resolve()))
    elif not options.quick:
        why = (
            f"{options.data} lacks {', '.join(lacks)}"
            if options.data
            else "--data does not name their folder"
        )
        say(f"skipped, since {why}: what is measured on recorded runs")

    def told(what: str, seconds: float) -> None:
        say(f"{what}: {seconds:.0f} s")

    for page, before, after in new_texts(figures, told):
        for line in differences(before, after):
            changed += line.startswith("+")
            say(f"{page}  {line}")
        if not options.check and after != before:
            (ROOT / page).write_text(after, encoding="utf-8")
    say(f"{changed} lines differ; measured in {time.monotonic() - started:.0f} s")
    sys.exit(1 if options.check and changed else 0)


if __name__ == "__main__":
    main()
