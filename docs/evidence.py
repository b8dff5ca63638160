"""What discovery saves over captured catalogs and recorded runs of real agents, which are not shipped.

docs/papers/recorded-runs.md says what the folder of data has to have, and where it comes from.
"""

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

MODEL = "anthropic/claude-sonnet-4-5"
_LIVE_TOOLS = "live/tools/LiveMCPTool/tools.json"
_BFCL = "bfcl/bfcl_eval/data"
COLLECTIONS: Mapping[str, tuple[str, str, str, int]] = {
    "live": ("LiveMCPBench", "live/baseline/annotation", _LIVE_TOOLS, 0),
    "bfcl": ("BFCL", f"{_BFCL}/BFCL_v4_multi_turn_base.json", f"{_BFCL}/multi_turn_func_doc", 80),
    "toolathlon": ("Toolathlon", "toolathlon/trajs", "definitions/toolathlon", 43),
    "mcpmark": ("MCPMark", "mcpmark/mcp_servers", "definitions/mcpmark", 200),
}
"""Recorded runs: their name, where they and their tools are in the data, and how many to play (0: all)."""
Printed = Callable[..., str]
Report = Mapping[str, Any]


SENTENCES = (
    "At 200 tools, the first model call binds {live_first_200} % fewer tool tokens than static binding, and "
    "{live_found_200} % fewer after a search.",
    "At 100 tools they are {live_first_100} % and {live_found_100} %;",
    "With a prompt cache, discovery changes a task's bill by {live_append_cost} % on LiveMCPBench and by "
    "{bfcl_append_cost} % on BFCL; it does not pay on MCPMark ({mcpmark_append_cost} %), nor clearly on "
    "Toolathlon ({toolathlon_append_cost} %).",
    "Static binding means {live_tools}, {bfcl_tools}, {mcpmark_tools} and {toolathlon_tools} tools in every "
    "call.",
)
"""What the README says, with the names of its figures."""


def missing(data: Path) -> list[str]:
    """What the folder lacks of all that is measured here."""
    places = [place for _, *places, _ in COLLECTIONS.values() for place in places]
    return [place for place in places if not (data / place).exists()]


@cache
def _played(data: Path, name: str, printed: Printed) -> Report:
    """What a replay of a collection prints: static binding, and two deliveries of discovery."""
    _, runs, tools, limit = COLLECTIONS[name]
    setups = ("--profile", "static", "--profile", "toolsight", "--vary", "binding.delivery=append,call_tool")
    limited = ("--limit", str(limit)) if limit else ()
    places = (str(data / runs), "--tools", str(data / tools))
    words = (*places, *setups, *limited, "--model", MODEL, "--json")
    return dict(json.loads(printed(*words, module="docs.benchmark.recordings")))


def figures(data: Path, printed: Printed) -> Mapping[str, str]:
    """The figures of the README's table, by name."""
    found = _catalogs(data, printed)
    for name in COLLECTIONS:
        report = _played(data, name, printed)
        found |= {f"{name}_tools": f"{report['tools']}", f"{name}_runs": f"{report['setups'][0]['runs']}"}
        for setup in report["setups"][1:]:
            for key in ("cost", "uncached"):
                mean, low, high = _changes(setup, key)
                start = f"{name}_{_delivery(setup)}_{key}"
                found |= {start: mean, f"{start}_low": low, f"{start}_high": high}
    return found


def _delivery(setup: Report) -> str:
    return str(setup["setup"]["name"]).rpartition(" ")[2]


def _changes(setup: Report, key: str) -> tuple[str, ...]:
    """How the cost differs from static binding's, in percent, and its interval."""
    return tuple(f"{(setup[f'{key}_ratio'][part] - 1) * 100:+.0f}" for part in ("mean", "low", "high"))


def _catalogs(data: Path, printed: Printed) -> dict[str, str]:
    """How much less the first calls send over random sets of whole servers, as the section prints it."""
    words = ("catalog-size", "--data", str(data / _LIVE_TOOLS), "--embedding-model", "none", "--json")
    report = json.loads(printed(*words, module="docs.papers"))
    tables = [one for section in report["sections"] for one in section["tables"]]
    found: dict[str, str] = {}
    for row in next(one["rows"] for one in tables if one["title"].startswith("Random sets")):
        for start, cell in ((f"live_first_{row[1]}", row[5]), (f"live_found_{row[1]}", row[8])):
            mean, low, high = cell.replace(" %", "").replace(",", "").split(" ")
            found |= {start: mean, f"{start}_low": low[1:], f"{start}_high": high[:-1]}
    return found


def table(data: Path, printed: Printed) -> Mapping[str, str]:
    """The collections under today's defaults, against static binding, as a table."""
    lines = [
        "| collection | runs, tasks | solved | tools | calls left out | setup | returned | reached "
        "| tool tokens a call | with a prompt cache | without |\n",
        f"|---|{'--:|' * 4}---|{'--:|' * 5}\n",
    ]
    for name in COLLECTIONS:
        report = _played(data, name, printed)
        lines += [_row(COLLECTIONS[name][0], report, setup) for setup in report["setups"]]
    return {"table": "".join(lines)}


def _row(name: str, report: Report, setup: Report) -> str:
    left, delivery = f"{sum(report['left_out'].values()):,} of {report['calls']:,}", _delivery(setup)
    about = (name, f"{setup['runs']}, {setup['tasks']}", f"{setup['solved']}", f"{report['tools']}", left)
    if delivery != "static":
        about = ("",) * 5
    shares = ("–", "–") if delivery == "static" else (_share(setup["returned"]), _share(setup["reached"]))
    costs = (_cost(setup, "cost"), _cost(setup, "uncached"))
    cells = (*about, delivery, *shares, f"{setup['tool_tokens']['mean']:,.0f}", *costs)
    return f"| {' | '.join(cells)} |\n"


def _cost(setup: Report, key: str) -> str:
    mean, low, high = _changes(setup, key)
    change = "" if _delivery(setup) == "static" else f", {mean} % [{low}, {high}]"
    return f"${setup[key]['mean']:.3f}{change}"


def _share(value: Mapping[str, float]) -> str:
    mean, low, high = (f"{value[part] * 100:.0f}" for part in ("mean", "low", "high"))
    return f"{mean} % [{low}, {high}]"
