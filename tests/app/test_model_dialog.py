"""Choosing a model: by name, or one that a server on this machine offers."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Literal

from msgspec.structs import replace
from textual.pilot import Pilot
from textual.widgets import Static

from inspector.app.dialogs.choice import ModelDialog, looked_for
from inspector.core.ports import LocalModel
from tests.support.app import app_rig, said, seen, until
from tests.support.fakes import MemoryLocalModels, ToldModel
from tests.support.workbench import Rig
from widgets import RecordList

QWEN = LocalModel("ollama/qwen3:4b", "http://127.0.0.1:11434", "Ollama", 8192)
GEMMA = LocalModel("llamafile/gemma", "http://127.0.0.1:8080/v1", "llama.cpp")


class FoundModel(ToldModel):
    """The model that a found one is opened as."""

    name, label, api_base, window = GEMMA.name, GEMMA.name, GEMMA.api_base, 4096


@asynccontextmanager
async def dialog(
    *found: tuple[LocalModel, ...], answering: bool = True, size: tuple[int, int] = (120, 32)
) -> AsyncGenerator[tuple[Pilot[None], Rig, MemoryLocalModels]]:
    """The app with the dialog open, over local servers that answer or wait."""
    local = MemoryLocalModels(FoundModel(), *found, servers=("Ollama on 11434", "llama.cpp on 8080"))
    if not answering:
        local.answering.clear()
    async with app_rig(size=size) as (pilot, rig):
        rig.bench.local_models = local
        rig.bench.ports = replace(rig.bench.ports, local_models=local)
        assert local.asked == 0
        pilot.app.push_screen(ModelDialog(pilot.app))  # type: ignore[arg-type]
        await until(pilot, lambda: isinstance(pilot.app.screen, ModelDialog) and local.asked == 1)
        yield pilot, rig, local


async def broken() -> Literal[True]:
    raise RuntimeError("it broke")


def names(pilot: Pilot[None]) -> list[str]:
    return [record.key for record in pilot.app.screen.query_one(RecordList).records]


async def test_local_models_appear_beside_the_suggestions_and_say_that_they_need_no_key() -> None:
    async with dialog((QWEN,), (GEMMA,)) as (pilot, _, local):
        await until(pilot, lambda: local.left == 1)
        assert names(pilot)[1:3] == [QWEN.name, GEMMA.name]
        assert "ollama/qwen3" not in names(pilot)
        screen = seen(pilot)
        assert "local, no key: Ollama, window 8,192 tokens" in screen
        assert said(pilot, "#choice-local") == "2 local models from Ollama, llama.cpp, no key needed"


def test_where_no_server_answers_the_dialog_says_which_were_asked() -> None:
    servers = ("Ollama on 11434", "llama.cpp on 8080")
    told = "No local model server answered: Ollama on 11434, llama.cpp on 8080"
    assert looked_for(servers, (), done=True) == told


async def test_a_chosen_local_model_is_used_at_its_address_and_recorded() -> None:
    async with dialog((QWEN,), (GEMMA,)) as (pilot, rig, local):
        await until(pilot, lambda: local.left == 1)
        await pilot.press("down", "down", "down", "enter")
        await until(pilot, lambda: not isinstance(pilot.app.screen, ModelDialog))
        assert local.opened == [GEMMA]
        event = rig.events("model")[-1]
        assert (event.model, event.api_base, event.window) == (GEMMA.name, GEMMA.api_base, 4096)
        assert "llamafile/gemma at http://127.0.0.1:8080/v1" in event.summary()
        assert (rig.bench.state.model, rig.bench.state.window) == (GEMMA.name, 4096)


async def test_a_search_for_servers_that_breaks_is_told_and_names_still_work() -> None:
    async with dialog() as (pilot, rig, local):
        await until(pilot, lambda: local.left == 1)
        await pilot.press("escape")
        local.answering.wait = broken  # type: ignore[method-assign]
        pilot.app.push_screen(ModelDialog(pilot.app))  # type: ignore[arg-type]
        await until(pilot, lambda: isinstance(pilot.app.screen, ModelDialog) and local.left == 2)
        await until(pilot, lambda: "it broke" in said(pilot, "#choice-error"))
        await pilot.press(*"other/model", "enter")
        await until(pilot, lambda: len(rig.events("model")) == 1)


async def test_what_a_server_says_of_itself_cannot_control_the_terminal() -> None:
    hostile = "[/]x\x1b[2J\u202e"
    one = LocalModel(f"ollama/{hostile}", "http://x", hostile)
    async with dialog((one,)) as (pilot, _, local):
        await until(pilot, lambda: local.left == 1)
        shown = seen(pilot) + str(pilot.app.screen.query_one("#choice-local", Static).render())
        assert "[/]x" in shown
        assert "\x1b" not in shown
        assert "\u202e" not in shown
