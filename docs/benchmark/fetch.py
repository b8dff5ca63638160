"""Fetches the published data from its public repositories, at fixed commits: `make data`.

The sets that rankers are measured on become tools.jsonl and queries.jsonl in .benchmark/data/NAME, with the
checksums of those that the published figures were measured on; recorded runs are kept as they are, in
.benchmark/data/runs/NAME. It takes git and some 200 MB.

`python -m docs.benchmark.fetch NAME ...` fetches only these.
"""

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from docs.benchmark import conversion, say
from docs.benchmark.conversion import Files, Row, Rows
from docs.benchmark.data import FETCHED

# Requests of a set at most: this many of all, drawn once.
REQUESTS, SEED = 2_000, 20251121
NOT_FETCHED = (
    "not here: the definitions for Toolathlon's and MCPMark's runs, which were listed from their servers' "
    "packages; docs/papers/recorded-runs.md#the-sources says which"
)


class Commit(Struct, frozen=True):
    """A public repository at a commit, and the folders or files that are wanted of it."""

    repository: str
    commit: str
    paths: tuple[str, ...]

    @property
    def url(self) -> str:
        return f"https://github.com/{self.repository}.git"


class DataSet(Struct, frozen=True):
    """A labelled set, or a catalog alone: where it is from, what is made of it, and the checksums of that."""

    source: Commit
    made: Callable[[Files], tuple[Rows, Rows]]
    checksums: Mapping[str, str]


_BFCL = Commit(
    "ShishirPatil/gorilla",
    "6ea57973c7a6097fd7c5915698c54c17c5b1b6c8",
    ("berkeley-function-call-leaderboard/bfcl_eval/data",),
)
SETS: Mapping[str, DataSet] = {
    "azure_mcp": DataSet(
        Commit(
            "microsoft/mcp",
            "10761c1d70acf2df4967ca3ddb6206428f921723",
            (
                "eng/tools/ToolDescriptionEvaluator/tools.json",
                "eng/tools/ToolDescriptionEvaluator/prompts.json",
            ),
        ),
        conversion.azure_mcp,
        {
            "tools.jsonl": "c973cd0c18c9d93c63c29ac8d604012e1cca32e0fe2d9c4b7ca41c5bf44d5eb6",
            "queries.jsonl": "ef0145e9d3a6e30931cddd7fa750249a3c1342b4cc6e36a96c9af50570427f97",
        },
    ),
    "bfcl": DataSet(
        _BFCL,
        conversion.bfcl,
        {
            "tools.jsonl": "636db9400e066e4aa9c1adc234b54bc2b541dfbdd7e882987e8d9e2b061bf70c",
            "queries.jsonl": "694bb52d0c6448bbc183ef3d4b2e8ad9106fa0348101266afe5bba70331a735e",
        },
    ),
    "metatool": DataSet(
        Commit(
            "HowieHwong/MetaTool",
            "35e81bb7576826e980c80fed8f8c0a2b4a1e6fbb",
            ("dataset/data/all_clean_data.csv", "dataset/plugin_des.json"),
        ),
        conversion.metatool,
        {
            "tools.jsonl": "90d5fdf4e1ac4d5d151d9da362924edb1194bef791acb3ad7426e4f94037fc05",
            "queries.jsonl": "29fa4f3a229e8b3fecad15848f9a1b4b07f13b2b2a8662805c3a87eb4c26d14f",
        },
    ),
    "toolalpaca": DataSet(
        Commit(
            "tangqiaoyu/ToolAlpaca",
            "189069998d64a7baf1b4a1c3c4b2e75eb9d05532",
            ("data/eval_simulated.json", "data/eval_real.json"),
        ),
        conversion.toolalpaca,
        {
            "tools.jsonl": "09abfb239e5dd21591c05b71f4d03ca4893b294f4e08539cd97201390cfa4aef",
            "queries.jsonl": "e68118a4b1c206b4ffb6c3283a50d00c1c48d57f67bb7c14af53f3262377e9e7",
        },
    ),
    "pool_docker": DataSet(
        Commit("docker/mcp-registry", "818bf169b365e7b7d5b117352e32757c54844718", ("servers/*/tools.json",)),
        conversion.pool_docker,
        {"tools.jsonl": "a660ab68fd5c36951ab620537226b1c2c7cf51fd88545462b5afc07a09201970"},
    ),
}
RUNS: Mapping[str, Commit] = {
    "live": Commit(
        "icip-cas/LiveMCPBench",
        "a928e57d1ee7a25579b9a7036030faffff72d15b",
        ("baseline/annotation", "tools/LiveMCPTool/tools.json"),
    ),
    "bfcl": _BFCL,
    "toolathlon": Commit(
        "WaitHZ/toolathlon-traj-website", "3bf7d62c650019de4508278a4637a3ca369c6a90", ("trajs",)
    ),
    "mcpmark": Commit(
        "eval-sys/mcpmark-community-experiments", "92db83e36c6da2691141a0698f137665aa0116fe", ("mcp_servers",)
    ),
}


class NotFetchedError(Exception):
    """What is missing or different, in a line for people."""


def checked_out(source: Commit, folder: Path) -> Path:
    """The wanted files of the commit, below a folder that is made. Raises NotFetchedError."""
    folder.mkdir(parents=True)
    git = ("git", "-C", str(folder))
    steps = (
        ("init", "--quiet"),
        ("remote", "add", "origin", source.url),
        ("config", "remote.origin.promisor", "true"),
        ("config", "remote.origin.partialclonefilter", "blob:none"),
        ("sparse-checkout", "set", "--no-cone", *(f"/{path}" for path in source.paths)),
        ("fetch", "--quiet", "--depth", "1", "--filter=blob:none", "origin", source.commit),
        ("checkout", "--quiet", "FETCH_HEAD"),
    )
    for step in steps:
        done = subprocess.run([*git, *step], capture_output=True, text=True, env=_ENVIRONMENT)
        if done.returncode:
            why = (done.stderr.strip().splitlines() or ["git failed"])[-1]
            raise NotFetchedError(f"{source.url} at {source.commit[:12]}: {why}")
    return folder


# A repository that asks for a password is one that cannot be had.
_ENVIRONMENT = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}


def written(found: DataSet, files: Files, folder: Path) -> None:
    """Write what is made of the files. Raises NotFetchedError if it is not what was measured on."""
    tools, queries = found.made(files)
    if len(queries) > REQUESTS:
        drawn = random.Random(SEED).sample(range(len(queries)), REQUESTS)
        queries = [queries[place] for place in sorted(drawn)]
    texts = {"tools.jsonl": _text(tools), "queries.jsonl": _text(queries)}
    for name, expected in found.checksums.items():
        if hashlib.sha256(texts[name]).hexdigest() != expected:
            raise NotFetchedError(f"{name} differs from what was measured on: its checksum is not {expected}")
    folder.mkdir(parents=True, exist_ok=True)
    for name in found.checksums:
        (folder / name).write_bytes(texts[name])


def _text(rows: Iterable[Row]) -> bytes:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def _files(source: Commit, folder: Path) -> Files:
    """The checked-out files: by name where single files are wanted, else by their path below the folder."""
    if len(source.paths) > 1:
        return {Path(path).name: (folder / path).read_bytes() for path in source.paths}
    path = source.paths[0]
    root = folder if "*" in path else folder / path
    return {
        str(one.relative_to(root)): one.read_bytes()
        for one in root.rglob("*.json")
        if ".git" not in one.relative_to(folder).parts
    }


def fetch(names: Sequence[str], target: Path = FETCHED) -> int:
    """Fetch these, or all; say what came of each. Returns how many failed."""
    wanted = {**{name: SETS[name].source for name in SETS}, **{f"runs/{name}": RUNS[name] for name in RUNS}}
    failed = 0
    for name in names or wanted:
        with tempfile.TemporaryDirectory() as temporary:
            try:
                folder = checked_out(wanted[name], Path(temporary) / "checkout")
                if name in SETS:
                    written(SETS[name], _files(wanted[name], folder), target / name)
                else:
                    _keep(wanted[name], folder, target / name)
            except NotFetchedError as error:
                failed += 1
                say(f"{name}: {error}")
                continue
        say(f"{name}: {target / name}, from {wanted[name].repository} at {wanted[name].commit[:12]}")
    say(NOT_FETCHED)
    return failed


def _keep(source: Commit, folder: Path, target: Path) -> None:
    """Move the wanted files to the target, which is made anew."""
    shutil.rmtree(target, ignore_errors=True)
    for path in source.paths:
        # The leaderboard's folder has the name of its repository before its own.
        kept = target / path.removeprefix("berkeley-function-call-leaderboard/")
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(folder / path, kept)


def main() -> int:
    """Fetch what is named, or everything; 1 if anything could not be fetched, 2 for an unknown name."""
    names = sys.argv[1:]
    known = {*SETS, *(f"runs/{name}" for name in RUNS)}
    if unknown := [name for name in names if name not in known]:
        say(f"there is no {unknown[0]}; choose from {', '.join(sorted(known))}")
        return 2
    return int(fetch(names) > 0)


if __name__ == "__main__":
    sys.exit(main())
