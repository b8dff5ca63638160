"""Slow vendors are imported when they are first needed, not before."""

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import inspector
import widgets
from inspector.app.base_screen import BaseScreen
from inspector.app.place import SCREENS
from inspector.app.place_app import page_class
from inspector.features.feature_list import FEATURES
from inspector.store.store import SqliteStore

pytestmark = pytest.mark.slow

SLOW = (
    "litellm",
    "fastembed",
    "mcp",
    "tiktoken",
    "sqlite_utils",
    "rank_bm25",
    "numpy",
    "onnxruntime",
    "opentelemetry",
    "psycopg",
)

# What a command needs for servers, models or files that people write.
UNUSED = ("asyncio", "email", "httpx2", "jsonschema", "pydantic", "textual", "yaml")


@pytest.mark.parametrize("folder", ["docs", "docs/benchmark", "docs/hard", "docs/papers"])
def test_programs_that_are_run_by_hand_name_what_there_is(folder: str) -> None:
    for _, name, _ in pkgutil.iter_modules([folder]):
        if name != "__main__":
            importlib.import_module(f"{folder.replace('/', '.')}.{name}")


def loaded_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_starting_the_program_imports_no_slow_vendor() -> None:
    assert not loaded_after("import inspector.cli, inspector.app.app") & set(SLOW)


def test_the_list_of_commands_imports_none_of_them() -> None:
    printed = "from click.testing import CliRunner; from inspector.cli.root import cli"
    printed += "; CliRunner().invoke(cli, ['--help'])"
    commands = {feature.place_of(one.at)[0] for feature in FEATURES for one in feature.commands}
    assert not loaded_after(printed) & {*SLOW, *commands, "textual", "pydantic"}


# How many modules a command may import, some 5 % more than it does.
MOST = {"--help": 205, "sessions": 280, "sessions metrics": 300, "clients": 300, "config settings": 300}


@pytest.mark.parametrize("words", MOST)
def test_a_command_that_only_reads_imports_little(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOOLSIGHT_DB", str(tmp_path / "own.db"))
    SqliteStore(tmp_path / "own.db").sessions()  # To make one takes more.
    printed = "from click.testing import CliRunner; from inspector.cli.root import cli"
    loaded = loaded_after(f"{printed}; assert not CliRunner().invoke(cli, {words.split()}).exit_code")
    assert not loaded & {*SLOW, *UNUSED}
    assert len(loaded) <= MOST[words]


def test_static_vectors_are_read_when_something_is_searched() -> None:
    loaded = loaded_after("from inspector.cli.composition import make_static_embedder as make; make()")
    assert not loaded & {*SLOW, "safetensors", "wordllama"}


def test_a_command_that_prints_imports_no_screen() -> None:
    modules = ("tools.command", "cost.command", "trace.command", "trace.metrics.spans")
    loaded = loaded_after(f"import {', '.join(f'inspector.features.{name}' for name in modules)}")
    assert not loaded & {*SLOW, "textual"}


def test_the_first_frame_waits_for_no_page_no_widget_and_no_engine() -> None:
    loaded = loaded_after("import inspector.cli.open_app, inspector.features.demo.command")
    assert not loaded & {
        "inspector.app.context",
        "inspector.app.base_screen",
        "inspector.session",
        "inspector.search",
        "textual.widgets._text_area",
        "widgets",
    }


OPENED = """
from inspector.cli.open_app import parts_of
from inspector.cli.composition import make_workbench, open_memory
from inspector.cli.configuration import read_configuration
from inspector.cli.consent import TerminalApprover
from inspector.cli.options import Options
options, asks = Options(demo=True), TerminalApprover(yes=False)
bench = make_workbench(read_configuration(options).unrestricted, options, asks, open_memory(options))
parts = parts_of(options, bench)
"""


def test_the_session_page_waits_for_no_vectors_and_for_no_part_of_another_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLSIGHT_DB", str(tmp_path / "own.db"))
    providing = {feature.place_of(feature.provide)[0] for feature in FEATURES if feature.provide}
    providing -= {"inspector.features.registry.source"}  # A session is composed with it.
    assert not loaded_after(OPENED) & {*SLOW, "yaml", *providing}
    asked = f"{OPENED}\nfrom inspector.features.lab.feature import LAB\nassert parts.get(LAB)"
    assert loaded_after(asked) >= providing


def test_a_start_builds_no_validator_of_what_it_does_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLSIGHT_DB", str(tmp_path / "own.db"))
    models = "from inspector.config.problem import Strict; import inspector.mcp.recorded_link"
    models += "\ndef every(one): return [one, *(each for sub in one.__subclasses__() for each in every(sub))]"
    built = "{one.__module__ for one in every(Strict) if one.__pydantic_complete__}"
    read = {"inspector.config.format", "inspector.search.answer.evalset"}
    loaded_after(f"{OPENED}\n{models}\nassert {built} <= {read}")


def test_a_start_looks_for_no_garbage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLSIGHT_DB", str(tmp_path / "own.db"))
    looks = "sum(one['collections'] for one in gc.get_stats())"
    begun = "import gc; from inspector.cli.root import main; main(['clients', '--json'])"
    started = f"{begun}\nbefore = {looks}\n{OPENED}\nimport inspector.mcp.client.link"
    loaded_after(f"{started}\nassert {looks} == before")


def test_the_session_page_waits_for_no_other_page() -> None:
    loaded = loaded_after("import inspector.app.place_app, inspector.features.chat.page")
    screens = {module for module, _ in SCREENS.values()} & loaded
    assert screens == {"inspector.features.chat.page"}


def test_every_page_of_the_registry_can_be_opened() -> None:
    assert all(issubclass(page_class(name), BaseScreen) for name in SCREENS)


def test_the_widgets_package_names_exactly_what_it_exports() -> None:
    assert all(getattr(widgets, name) is not None for name in widgets._HOME)


def test_the_engine_and_its_connections_run_without_a_screen_or_a_vendor() -> None:
    loaded = loaded_after("import inspector.session.workbench, inspector.mcp.client.connector")
    vendors = {"textual", "rich", "widgets", "pydantic", "click", "mcp_types", "httpx2", "anyio"}
    assert not loaded & {*SLOW, *vendors}


def test_a_server_that_is_a_program_needs_nothing_to_sign_in_with() -> None:
    loaded = loaded_after("import inspector.mcp.client.link")
    assert not loaded & {"jwt", "inspector.mcp.sign_in.provider", "numpy"}


def test_every_module_can_be_imported() -> None:
    """Names that are imported for the type checker only must not be needed at run time."""
    for package in (inspector, widgets):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
