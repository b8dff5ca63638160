"""`toolsight registry`: what comes in, what goes out, and the registry as a source of other commands."""

import json
from pathlib import Path

import pytest

from tests.support.commands import Toolsight
from tests.support.memory_vectors import MemoryEmbedder

WORDS_ALONE = ("--set", "discovery.embedding_model=none")
PLANTS = {"name": "water_plants", "description": "Water the plants.", "inputSchema": {"type": "object"}}
SOIL = {"name": "soil_report", "description": "Report how wet the soil is.", "title": "Soil"}


@pytest.fixture
def db(tmp_path: Path) -> str:
    return str(tmp_path / "toolsight.db")


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    file = tmp_path / "garden.json"
    file.write_text(json.dumps({"tools": [PLANTS, SOIL]}))
    return file


@pytest.fixture(autouse=True)
def _embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "inspector.features.registry.command.make_embedder",
        lambda name: None if name == "none" else MemoryEmbedder(),
    )


def test_a_listing_is_imported_embedded_and_found(toolsight: Toolsight, db: str, garden: Path) -> None:
    done = toolsight("registry", "import", str(garden), "--db", db)
    assert (done.exit_code, done.stdout) == (0, f"{garden}: 2 new, 0 changed, 0 unchanged\n")
    told = toolsight("registry", "--db", db).stdout
    assert "2 tools from 1 origin, 2 embedded (100 %)" in told
    found = json.loads(toolsight("registry", "search", "how wet is the soil", "--json", "--db", db).stdout)
    assert [one["id"] for one in found] == ["garden:soil_report", "garden:water_plants"]
    assert found[0]["tool"]["title"] == "Soil"
    assert found[0]["similarity"] > found[1]["similarity"]


def test_a_changed_listing_makes_versions_and_what_is_missing_is_gone(
    toolsight: Toolsight, db: str, garden: Path
) -> None:
    toolsight("registry", "import", str(garden), "--db", db)
    garden.write_text(json.dumps({"tools": [{**PLANTS, "description": "Water all plants."}]}))
    done = toolsight("registry", "import", str(garden), "--json", "--db", db)
    (report,) = json.loads(done.stdout)
    assert (report["added"], report["changed"], report["removed"]) == (0, 1, 1)
    shown = toolsight("registry", "show", "garden:water_plants", "--db", db).stdout
    assert "- Water the plants." in shown
    assert "+ Water all plants." in shown
    assert shown.index("version 2") < shown.index("version 1")
    assert "removed from its origin" in (
        toolsight("registry", "show", "garden:soil_report", "--db", db).stdout
    )
    (row,) = json.loads(toolsight("registry", "show", "--json", "--db", db).stdout)
    assert (row["id"], row["version"]) == ("garden:water_plants", 2)


def test_one_bad_file_is_told_and_the_others_are_imported(
    toolsight: Toolsight, db: str, garden: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.jsonl"
    toolsight("registry", "import", str(garden), *WORDS_ALONE, "--db", db)
    toolsight("registry", "export", str(bad), "--db", db)
    bad.write_text(f'{bad.read_text()}{{"server": 1}}\n')
    fresh = str(tmp_path / "fresh.db")
    done = toolsight("registry", "import", str(bad), str(garden), *WORDS_ALONE, "--db", fresh)
    assert done.exit_code == 1
    assert f"{bad}:3" in done.stderr
    assert "hint:" in done.stderr
    assert f"{garden}: 2 new" in done.stdout


def test_every_command_works_on_the_registry_and_calls_nothing(
    toolsight: Toolsight, db: str, garden: Path
) -> None:
    nothing = toolsight("tools", "--registry", "--db", db)
    assert (nothing.exit_code, "registry import" in nothing.stderr) == (2, True)
    toolsight("registry", "import", str(garden), *WORDS_ALONE, "--db", db)
    with_words = ("--registry", "--db", db, *WORDS_ALONE)
    found = toolsight("search", "water plants", "--set", "discovery.ranker=bm25", *with_words)
    assert "garden:water_plants" in found.stdout
    called = toolsight("call", "garden:water_plants", "--yes", *with_words)
    assert "its server is not connected" in called.stdout + called.stderr
    both = toolsight("tools", "--demo", *with_words)
    assert both.exit_code == 2


@pytest.mark.parametrize(
    ("url", "told"),
    [("mysql://ada:secret@x/db", "is not a PostgreSQL address"), ("x", "is not a PostgreSQL address")],
)
def test_an_address_that_nothing_opens_is_told_without_its_password(
    toolsight: Toolsight, url: str, told: str
) -> None:
    done = toolsight("registry", TOOLSIGHT_DATABASE_URL=url)
    assert done.exit_code == 2
    assert told in done.stderr
    assert "secret" not in done.stderr


POLICY = """
organisations: {acme: {users: {ada: {tools: ["garden:soil*"]}, bob: {tools: ["*:nothing"]}}}}
experts: {waterer: ["garden:water*"]}
"""


@pytest.fixture
def as_ada(toolsight: Toolsight, db: str, garden: Path, tmp_path: Path) -> tuple[str, ...]:
    """A filled registry, and the options of who may see one tool of it."""
    toolsight("registry", "import", str(garden), "--db", db)
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    return ("--db", db, "--policy", str(file), "--user", "ada")


def test_a_user_reads_of_the_registry_what_may_be_seen(toolsight: Toolsight, as_ada: tuple[str, ...]) -> None:
    told = [
        toolsight("registry", *as_ada),
        toolsight("registry", "show", *as_ada),
        toolsight("registry", "search", "water the plants", *as_ada),
        toolsight("registry", "show", "garden:soil_report", *as_ada),
        toolsight("registry", "show", "garden:water_plants", *as_ada),
        toolsight("registry", "export", "-", *as_ada),
    ]
    assert [one.exit_code for one in told] == [0, 0, 0, 0, 2, 0]
    assert "1 tool from 1 origin" in told[0].stdout
    for one in (*told[:4], told[5]):
        assert "plants" not in one.stdout + one.stderr
    assert "Closest" not in told[4].stderr
    nothing = toolsight("registry", "show", "--json", *as_ada, "--expert", "waterer")
    assert json.loads(nothing.stdout) == []


def test_nobody_is_told_whether_there_is_more_in_the_registry(
    toolsight: Toolsight, as_ada: tuple[str, ...], tmp_path: Path
) -> None:
    policy = as_ada[2:4]
    empty = ("--db", str(tmp_path / "empty.db"), *policy, "--user", "bob")
    full = (*as_ada[:2], *policy, "--user", "bob")
    for command in ((), ("show",), ("search", "water"), ("show", "garden:water_plants")):
        here, there = (toolsight("registry", *command, *options) for options in (full, empty))
        assert (here.stdout, here.stderr) == (there.stdout, there.stderr)
    here, there = (toolsight("tools", "--registry", "--json", *options) for options in (full, empty))
    assert (here.stdout, here.stderr) == (there.stdout, there.stderr)
    named = toolsight("registry", *as_ada[:2], *policy)
    assert "--user" in named.stderr
    assert "no tools you may see" in named.stdout


def test_a_federated_search_names_the_registry_of_each_result(
    toolsight: Toolsight, db: str, garden: Path, tmp_path: Path
) -> None:
    theirs, policy, peers = (tmp_path / name for name in ("theirs.db", "policy.yaml", "peers.yaml"))
    toolsight("registry", "import", str(garden), "--db", str(theirs))
    policy.write_text("organisations: {acme: {users: {ada: {tools: ['garden:soil_*']}}}}")
    peers.write_text(
        "peers:\n  acme: {database: theirs.db, policy: policy.yaml, user: ada}\n  gone: {database: gone.db}\n"
    )
    own = tmp_path / "own.json"
    own.write_text(json.dumps({"tools": [{**PLANTS, "description": "Water all plants."}]}))
    toolsight("registry", "import", str(own), "--db", db)
    asked = ("registry", "search", "how wet is the soil", "--federated", "--db", db)
    done = toolsight(*asked, "--set", f"federation.peers={peers}")
    assert done.exit_code == 0
    assert done.stdout.index("acme") < done.stdout.index("(local)")
    assert "2 tools: 1 from this registry, 1 from acme" in done.stdout
    assert "skipped gone" in done.stderr
    told = json.loads(toolsight(*asked, "--set", f"federation.peers={peers}", "--json").stdout)
    assert [(one["registry"], one["id"]) for one in told["found"]] == [
        ("acme", "garden:soil_report"),
        ("", "own:water_plants"),
    ]
    assert [one["found"] for one in told["peers"]] == [1, 0]
    nobody = toolsight(*asked)
    assert (nobody.exit_code, "federation.peers" in nobody.stderr) == (2, True)
