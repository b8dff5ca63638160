"""What the figures of the docs are: measured now, or read from a page that a benchmark wrote.

Each function takes the pages' texts, by their path, and returns its figures by name, as they are written.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RETRIEVAL, REPRODUCTION = "docs/papers/retrieval.md", "docs/papers/reproduction.md"
OWN, PUBLISHED = "## The project's own requests", "## Published data sets"
_SAMPLE = "demo_search"
_RANKERS = {
    "hybrid": "`hybrid`",
    "z-fusion": "`z-fusion` (one BM25 field, one vector)",
    "dense": "`dense` (MiniLM alone)",
    "bm25": "`bm25` (fields, alone)",
    "two-stage": "`two-stage` (bfcl and metatool have one nameless server)",
    "keyword-expert": "`keyword-expert`",
    "prd-bm25": "`prd-bm25`",
}
_KINDS = {
    "plain one-liners": "plain",
    "the oblique rest": "oblique",
    "all possible": "possible",
    "all impossible": "impossible",
}
Texts = Mapping[str, str]
Figures = Mapping[str, str]


def printed(*words: str, module: str = "inspector") -> str:
    """What a command prints in an empty home folder."""
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HOME": home, "XDG_DATA_HOME": home, "COLUMNS": "200"}
        command = [sys.executable, "-m", module, *words]
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
        return done.stdout.decode()


def demo(_: Texts) -> Figures:
    """The scripted conversation: the tokens that tools take in some of its model calls."""
    records = json.loads(printed("demo", "--headless", "--json"))
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


def cost(_: Texts) -> Figures:
    """An assumed session over the demo's tools: its price by strategy, and from how many tools each pays."""
    data = json.loads(printed("cost", "--demo", "--json"))
    found = {"tools": str(data["tools"]), "calls": str(data["assumed"]["calls"])}
    for way in data["deliveries"]:
        name, pays = way["delivery"], way["pays_from_tools"] or {}
        found[name] = f"${way['cached']['dollars']:.2f}"
        found |= {f"{name}_{bound}": f"{number:,}" for bound, number in pays.items()}
    return found


def compare(_: Texts) -> Figures:
    """The conversation of the demo under every profile, as a table."""
    runs = json.loads(printed("scenario", "compare", "demo", "--all-profiles", "--json"))["profiles"]
    rows: dict[str, Callable[[Mapping[str, Any]], str]] = {
        "": lambda run: run["profile"],
        "model calls": lambda run: str(run["model_calls"]),
        "definitions": lambda run: f"{run['tool_tokens']:,}",
        "definitions and searches": lambda run: f"{run['discovery_tokens']:,}",
        "all input": lambda run: f"{run['input_tokens']:,}",
        "cost a solved step": lambda run: f"${run['dollars_per_step']:.2g}",
        "searches, evictions": lambda run: f"{run['searches']}, {run['evictions']}",
    }
    lines = [[name, *map(of, runs)] for name, of in rows.items()]
    return {"table": table(lines)}


def list_changes(_: Texts) -> Figures:
    """What a prompt cache saves over a catalog that changes twenty times, in percent of the input's price."""
    from docs.benchmark.list_changes import saved

    shares = {name: round(100 * share) for name, share in saved().items()}
    others = sorted(share for name, share in shares.items() if name != "append")
    return {"append": str(shares["append"]), "least": str(others[0]), "most": str(others[-1])}


def ranking_sample(_: Texts) -> Figures:
    """nDCG@10 of some rankers on one of the project's own sets, by set and ranker: a sample of the page."""
    from docs.benchmark.bars import ndcg
    from docs.benchmark.data import own, semantics
    from inspector.core.ports import SystemClock
    from inspector.core.settings import DiscoverySettings
    from inspector.features.bench.ranker_bench import DataSet, RankerBench

    evalset = own(_SAMPLE)
    bench = RankerBench(
        list(_RANKERS), semantics, SystemClock(), lambda _what, _done, _total: None, lambda: False
    )
    found = ndcg(list(bench.measure([DataSet(evalset, DiscoverySettings())])))
    return {f"{dataset} {ranker}": f"{value:.3f}" for (dataset, ranker), value in found.items()}


def retrieval(texts: Texts) -> Figures:
    """nDCG@10 on the published sets, as the page of `make bench-retrieval` has it: means, and a table."""
    header, *rows = tables(texts[RETRIEVAL], PUBLISHED)[0]
    means = {"mean": "mean", "mean + pool": "mean with 755 more tools"}
    columns = [name for name in header[1:] if " + " not in name or name in means]
    values = {row[0]: dict(zip(header, row, strict=True)) for row in rows}
    lines = [["ranker", *(means.get(name, name) for name in columns)]]
    for ranker, name in _RANKERS.items():
        lines.append([name, *(short(values[ranker][column].strip("*")) for column in columns)])
    found = {f"mean_{ranker}": short(values[ranker]["mean"]) for ranker in ("hybrid", "dense", "bm25")}
    return {**found, "table": table(lines)}


def everyday(texts: Texts) -> Figures:
    """How everyday requests are answered on servers that nothing was fitted on, as the same page has it."""
    header, *rows = tables(texts[RETRIEVAL], "## Everyday requests")[0]
    found = {}
    for row in rows:
        one = dict(zip(header, row, strict=True))
        kind = _KINDS.get(one["requests"])
        if one["half"] != "reported" or kind is None:
            continue
        found[f"{kind}_n"] = one["n"]
        for column in ("delivered", "found", "closest", "nothing"):
            if one[column] != "–":
                share, *bounds = (
                    f"{float(number) * 100:.0f}" for number in re.findall(r"[\d.]+", one[column])
                )
                found |= _spread(f"{kind}_{column}", f"{share} %", *bounds)
    header, *rows = tables(texts[RETRIEVAL], "## Found, closest or nothing")[0]
    (near,) = [row[header.index("found")] for row in rows if row[0] == "near-miss" and "as it is" in row]
    share, *bounds = (f"{float(number):.0f}" for number in re.findall(r"[\d.]+", near))
    return found | _spread("near", f"{share} %", *bounds)


def _spread(name: str, value: str, low: str, high: str) -> dict[str, str]:
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def reproduction(texts: Texts) -> Figures:
    """Figures of the published tables measured again, as the page of `make reproduce` has them."""

    def cell(heading: str, row: Sequence[str], column: str) -> str:
        header, *rows = tables(texts[REPRODUCTION], heading)[0]
        (found,) = [one for one in rows if all(map(_is_named, one, row))]
        return found[header.index(column)]

    found = {"cut_demo": cell("### The demo's catalog", ("84", "0"), "cut")}
    found["cut_pool_docker"] = cell("### pool_docker", ("755", "0"), "cut")
    found["cut_azure_mcp"] = cell("### azure_mcp", ("200", "0"), "cut")
    for size in ("100", "200"):
        spread = cell("### Random sets of whole servers", ("pool_docker", size), "cut")
        cut, low, high = re.findall(r"[\d.]+(?: %)?", spread)
        found |= _spread(f"sets_{size}", cut, low, high)
    ten = "### Calibration: generated catalogs, 420 tokens per tool, 10 tools per server"
    for size in ("100", "200"):
        found |= {f"cut_{count}_{size}": cell(ten, (size, count), "cut") for count in ("0", "11")}
    real = "### Requests over real catalogs, one at a time"
    sets = ("demo, what people ask", "pool_docker", "azure_mcp", "bfcl", "metatool", "toolalpaca")
    for name in sets:
        for method in ("gate", "search"):
            key = f"{name.partition(',')[0]}_{method}"
            found[f"{key}_f1"] = short(cell(real, (f"{name}:…", f"{method}:…"), "F1 [95 % interval]"))
            found[f"{key}_all"] = cell(real, (f"{name}:…", f"{method}:…"), "of all calls")
        test = re.search(rf"^- {name}: F1 .* p ([\d.]+)\.$", texts[REPRODUCTION], re.MULTILINE)
        assert test is not None
        found[f"{name.partition(',')[0]}_p"] = short(test[1])
    called, gate, default = "### Generated: table 3", "Tool Attention", "Toolsight, default"
    found["attention_call"] = cell(called, (gate,), "tokens/call").split()[0]
    found["attention_pool"] = cell(called, (gate,), "with the pool")
    found["default_call"] = cell(called, (default,), "tokens/call").split()[0]
    found["default_turn"] = cell(called, (default,), "and searches")
    found["default_calls"] = cell("### Generated: retrieval", (default,), "calls/turn")
    found["attention_f1"] = short(cell("### Generated: retrieval", (gate,), "F1"))
    found["default_f1"] = short(cell("### Generated: retrieval", (default,), "F1"))
    cached = "### Generated: prompt cache over a session"
    found["hits_changing"] = cell(cached, ("full schema, a random…",), "cache hits")
    found["hits_steady"] = cell(cached, ("full schema, the list…",), "cache hits")
    return found


def _is_named(cell: str, name: str) -> bool:
    """Whether a cell has the name, or begins with it if that ends with an ellipsis."""
    return cell.startswith(name.removesuffix("…")) if name.endswith("…") else cell == name


def short(value: str) -> str:
    """The first number of a cell, without the zero before its point."""
    return value.split()[0].removeprefix("0")


def table(lines: Sequence[Sequence[str]]) -> str:
    """Rows of Markdown, the first of them the header; all columns but the first are numbers."""
    header, *rows = (f"| {' | '.join(line)} |\n" for line in lines)
    return "".join((header, f"|---|{'--:|' * (len(lines[0]) - 1)}\n", *rows))


def tables(text: str, heading: str) -> list[list[list[str]]]:
    """The cells of the tables under a heading that begins so, up to the next one of its level."""
    level = heading.partition(" ")[0]
    after = re.split(rf"^{re.escape(heading)}", text, maxsplit=1, flags=re.MULTILINE)[1]
    under = re.split(rf"^#{{2,{len(level)}}} ", after, maxsplit=1, flags=re.MULTILINE)[0]
    found = re.findall(r"(?:^\|.*\n)+", under, re.MULTILINE)
    return [[_cells(line) for line in one.splitlines() if not re.match(r"\|[ :|-]+$", line)] for one in found]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
