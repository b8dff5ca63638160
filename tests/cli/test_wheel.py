"""The wheel as people install it: with what it declares and nothing else, it searches as a clone does."""

import importlib.metadata as installed
import json
import os
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.support.retrieval import give

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
# Nine interpreters that import the SDK take ten seconds of a processor.
FORKED = """
from inspector.cli import configuration
from inspector.features.lab.open_lab import forked
own = configuration.demo_configuration
configuration.demo_configuration = lambda state: forked(own(state))
"""
SEARCHES = """
import asyncio, json, sys
from pathlib import Path
import inspector
from inspector.cli.launch import headless
from inspector.cli.options import Options
from inspector.core.ranking import SearchRequest

QUERIES = [
    "late orders", "pay the electricity bill", "turn of the lihgts", "will it rain tomorrow", "book a flight",
    "convert miles to kilometres", "write an email to the warehouse", "thanks, that was all",
    "undo that purchase", "when is everybody free",
]

async def answers():
    async with headless(Options(demo=True)) as bench:
        for query in QUERIES:
            report = bench.search(SearchRequest(query))
            tools = [hit.tool_id for hit in report.results]
            yield query, report.answer, tools, round(report.probability, 6), report.note

async def main():
    found = [one async for one in answers()]
    print(json.dumps({"from": str(Path(inspector.__file__).parents[1]), "found": found}))

asyncio.run(main())
"""


def needed(name: str, extras: frozenset[str] = frozenset()) -> Iterator[installed.Distribution]:
    """The distribution and all that it requires here, some of them more than once."""
    seen: set[tuple[str, frozenset[str]]] = set()
    left = [(name, extras)]
    while left:
        one, wanted = left.pop()
        if (one.lower(), wanted) in seen:
            continue
        seen.add((one.lower(), wanted))
        try:
            found = installed.distribution(one)
        except installed.PackageNotFoundError:
            # The lock leaves it out, as nothing imports it.
            continue
        yield found
        for text in found.requires or ():
            requirement = Requirement(text)
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *wanted)):
                left.append((requirement.name, frozenset(requirement.extras)))


def linked(found: installed.Distribution, into: Path) -> None:
    """Put a distribution into another environment without a copy."""
    for top in {Path(file).parts[0] for file in found.files or ()} - {".."}:
        target = Path(str(found.locate_file(top))).resolve()
        if target.exists() and not (into / top).exists():
            (into / top).symlink_to(target)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has the wheel and what it requires."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    venv.create(folder / "env")
    (packages,) = (folder / "env").glob("lib/python*/site-packages")
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(packages)
    (metadata,) = packages.glob("toolsight-*.dist-info")
    for text in installed.Distribution.at(metadata).requires or ():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            for one in needed(requirement.name, frozenset(requirement.extras)):
                linked(one, packages)
    return folder / "env" / "bin" / "python"


def test_ten_searches_answer_alike_from_a_wheel_and_in_a_clone(
    fresh: Path,
    demo_vectors: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    give(demo_vectors, database := tmp_path / "toolsight.db")
    monkeypatch.setenv("TOOLSIGHT_DB", str(database))
    exec(SEARCHES, {"__name__": "searches"})
    clone = json.loads(capsys.readouterr().out)
    homes = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"), str(tmp_path))
    # The model is laid out anew, from the package.
    variables = {**homes, "PATH": os.environ["PATH"], "TOOLSIGHT_DB": str(database)}
    done = subprocess.run(
        [fresh, "-c", FORKED + SEARCHES],
        cwd=tmp_path,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    wheel = json.loads(done.stdout)
    assert wheel["found"] == clone["found"]
    assert "words alone" not in json.dumps(wheel["found"])
    assert wheel["from"] != clone["from"]
