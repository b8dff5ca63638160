"""What discovery saves over captured catalogs and recorded runs of real agents, which are not shipped.

The figures are measured from a folder of data (`make numbers DATA=FOLDER`); docs/papers/recorded-runs.md
says what has to be in it, and where it comes from.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

MODEL = "anthropic/claude-sonnet-4-5"
_LIVE_TOOLS = "live/tools/LiveMCPTool/tools.json"
_DELIVERIES = "binding.delivery=append,call_tool"
_APPEND, _CALL_TOOL = "toolsight delivery append", "toolsight delivery call_tool"
Printed = Callable[..., str]


@dataclass(frozen=True, slots=True)
class Collection:
    """Recorded runs: where they and their tools are in the data, who ran, and who says what was solved.

    `limit` is how many runs are played at most, 0 for all.
    """

    name: str
    runs: str
    tools: str
    agent: str
    judge: str
    limit: int = 0


COLLECTIONS: Mapping[str, Collection] = {
    "live": Collection(
        "LiveMCPBench",
        "live/baseline/annotation",
        _LIVE_TOOLS,
        "Claude Sonnet 4 with the retriever Qwen3-Embedding-0.6B",
        "people",
    ),
    "bfcl": Collection(
        "BFCL multi-turn",
        "bfcl/bfcl_eval/data/BFCL_v4_multi_turn_base.json",
        "bfcl/bfcl_eval/data/multi_turn_func_doc",
        "none: the right calls",
        "none",
        80,
    ),
    "toolathlon": Collection(
        "Toolathlon",
        "toolathlon/trajs",
        "definitions/toolathlon",
        "Claude Sonnet 4.5, DeepSeek V3.2; no retriever",
        "its scripts",
        43,
    ),
    "mcpmark": Collection(
        "MCPMark",
        "mcpmark/mcp_servers",
        "definitions/mcpmark",
        "Claude Sonnet 4 and 4.5; no retriever",
        "its scripts",
        200,
    ),
}


def _interval(name: str) -> str:
    return f"{{{name}}} % [{{{name}_low}}, {{{name}_high}}]"


def _bill(name: str, runs: str) -> str:
    """What the README says of a collection."""
    cached, uncached = _interval(f"{name}_append_cached"), _interval(f"{name}_append_uncached")
    by_call = f"{_interval(f'{name}_call_tool_cached')}, {_interval(f'{name}_call_tool_uncached')}"
    return (
        f"{{{name}_tools}} tools, {{{name}_runs}} {runs}: a task's bill changes by {cached} with a prompt "
        f"cache, {uncached} without; by `call_tool` {by_call}"
    )


SENTENCES = (
    f"the first call binds {_interval('live_first_100')} fewer tool tokens at 100 tools and "
    f"{_interval('live_first_200')} fewer at 200; after a search and with its text, it is "
    f"{_interval('live_found_100')} and {_interval('live_found_200')}",
    _bill("live", "runs of Claude Sonnet 4 with the retriever Qwen3-Embedding-0.6B"),
    _bill("bfcl", "labelled tasks, no agent"),
    _bill("toolathlon", "runs of Claude Sonnet 4.5 and DeepSeek V3.2"),
    _bill("mcpmark", "runs of Claude Sonnet 4 and 4.5"),
)
"""What the README says, with the names of its figures."""


def is_complete(data: Path) -> bool:
    """Whether the folder has everything that is measured here."""
    places = [place for one in COLLECTIONS.values() for place in (one.runs, one.tools)]
    return all((data / place).exists() for place in places)


@cache
def played(data: Path, name: str, printed: Printed) -> Mapping[str, Any]:
    """What `toolsight bench runs` prints of a collection: static binding, and two deliveries of discovery."""
    one = COLLECTIONS[name]
    setups = ("--profile", "static", "--profile", "toolsight", "--vary", _DELIVERIES)
    limit = ("--limit", str(one.limit)) if one.limit else ()
    tools = ("--tools", str(data / one.tools))
    command = ("bench", "runs", str(data / one.runs), *tools, *setups, *limit, "--model", MODEL, "--json")
    return dict(json.loads(printed(*command)))


def figures(data: Path, printed: Printed) -> Mapping[str, str]:
    """The figures of the README's table, by name."""
    found = _catalogs(data, printed)
    for name in COLLECTIONS:
        report = played(data, name, printed)
        by_setup = {one["setup"]["name"]: one for one in report["setups"]}
        found[f"{name}_runs"] = f"{by_setup['static']['runs']}"
        found[f"{name}_tools"] = f"{report['tools']}"
        for setup, short in ((_APPEND, "append"), (_CALL_TOOL, "call_tool")):
            for key, what in (("cost_ratio", "cached"), ("uncached_ratio", "uncached")):
                found |= _changes(f"{name}_{short}_{what}", by_setup[setup][key])
    return found


def _changes(name: str, ratio: Mapping[str, float]) -> dict[str, str]:
    return {
        name: _signed(ratio["mean"]),
        f"{name}_low": _signed(ratio["low"]),
        f"{name}_high": _signed(ratio["high"]),
    }


def _signed(ratio: float) -> str:
    return f"{(ratio - 1) * 100:+.0f}"


def _catalogs(data: Path, printed: Printed) -> dict[str, str]:
    """How much less the first calls send over random sets of whole servers, as the section prints it."""
    words = (
        "bench",
        "papers",
        "catalog-size",
        "--data",
        str(data / _LIVE_TOOLS),
        "--embedding-model",
        "none",
    )
    report = json.loads(printed(*words, "--json"))
    tables = [one for section in report["sections"] for one in section["tables"]]
    found: dict[str, str] = {}
    for row in next(one["rows"] for one in tables if one["title"].startswith("Random sets")):
        found |= _spread(f"live_first_{row[1]}", row[5]) | _spread(f"live_found_{row[1]}", row[8])
    return found


def _spread(name: str, cell: str) -> dict[str, str]:
    """The parts of `96.9 % [94.5, 98.2]`."""
    mean, _, bounds = cell.partition(" % ")
    low, high = bounds.strip("[]").split(", ")
    return {name: mean, f"{name}_low": low, f"{name}_high": high}


def table(data: Path, printed: Printed) -> Mapping[str, str]:
    """The collections under today's defaults, against static binding, as a table."""
    lines = [
        "| collection | agent | judge | runs, tasks | solved | tools | calls left out | setup | returned "
        "| reached | tool tokens a call | with a prompt cache | without |\n",
        f"|---|---|---|{'--:|' * 4}---|{'--:|' * 5}\n",
    ]
    for name, one in COLLECTIONS.items():
        report = played(data, name, printed)
        lines += [_row(one, report, setup) for setup in report["setups"]]
    return {"table": "".join(lines)}


def _row(one: Collection, report: Mapping[str, Any], setup: Mapping[str, Any]) -> str:
    left, name = sum(report["left_out"].values()), setup["setup"]["name"].rpartition(" ")[2]
    is_first = name == "static"
    about = (one.name, one.agent, one.judge, f"{setup['runs']}, {setup['tasks']}", f"{setup['solved']}")
    of = (f"{report['tools']}", f"{left:,} of {report['calls']:,}")
    cells = (
        name,
        _share(setup["returned"]),
        "–" if is_first else _share(setup["reached"]),
        f"{setup['tool_tokens']['mean']:,.0f}",
        *(_cost(setup, key, is_first=is_first) for key in ("cost", "uncached")),
    )
    return f"| {' | '.join((*(about + of if is_first else ('',) * 7), *cells))} |\n"


def _cost(setup: Mapping[str, Any], key: str, *, is_first: bool) -> str:
    dollars = f"${setup[key]['mean']:.3f}"
    if is_first:
        return dollars
    ratio = setup["cost_ratio" if key == "cost" else "uncached_ratio"]
    change, bounds = _signed(ratio["mean"]), [_signed(ratio[bound]) for bound in ("low", "high")]
    return f"{dollars}, {change} % [{', '.join(bounds)}]"


def _share(value: Mapping[str, float] | None) -> str:
    if value is None:
        return "–"
    return f"{value['mean'] * 100:.0f} % [{value['low'] * 100:.0f}, {value['high'] * 100:.0f}]"
