"""`toolsight doctor models`, and the address that a model gets."""

import json

import pytest
from msgspec.structs import replace

from inspector.cli.composition import PLANNER, chosen_model
from inspector.cli.location import shipped_scenarios
from inspector.cli.options import Options
from inspector.loop.model.litellm import DEFAULT_WINDOW
from tests.support.commands import Toolsight
from tests.support.local_servers import LLAMA_ANSWERS, OLLAMA_ANSWERS, at, local_stub, looking

BASE = "http://127.0.0.1:1234/v1"


def test_what_is_found_is_listed_with_the_options_that_use_it(
    toolsight: Toolsight, monkeypatch: pytest.MonkeyPatch
) -> None:
    with local_stub(OLLAMA_ANSWERS) as ollama, local_stub(LLAMA_ANSWERS) as llama:
        local = looking(at("llama.cpp", llama.port), at("Ollama", ollama.port))
        monkeypatch.setattr("inspector.features.setup.doctor_command.LocalModelServers", lambda: local)
        text = toolsight("doctor", "models").stdout
        rows = json.loads(toolsight("doctor", "models", "--json").stdout)
    assert f"--model llamafile/models/gemma.gguf --api-base http://127.0.0.1:{llama.port}/v1" in text
    assert "llama.cpp, window 4,096 tokens" in text
    assert [(row["server"], row["window"]) for row in rows] == [("llama.cpp", 4096), ("Ollama", 8192)]
    ollamas = ["--model", "ollama/qwen3:4b", "--api-base", f"http://127.0.0.1:{ollama.port}"]
    ollamas += ["--window", "8192"]
    assert rows[1]["options"] == ollamas


@pytest.mark.parametrize(
    ("chosen", "name", "address"),
    [
        ("openai/a", "openai/a", BASE),
        ("openai/a", "openai/b", BASE),
        ("demo/planner", "openai/a", BASE),
        ("openai/a", "anthropic/b", ""),
        ("ollama/a", "openai/gpt-5", ""),
    ],
)
def test_an_address_is_used_for_the_provider_that_it_was_given_for(
    chosen: str, name: str, address: str
) -> None:
    assert chosen_model(name, Options(model=chosen, api_base=BASE)).api_base == address


def test_ollama_is_asked_for_a_window_that_was_not_given() -> None:
    shown = {"model_info": {"llama.context_length": 40960}}
    with local_stub({"/api/show": shown}) as stub:
        given = Options(model="ollama/qwen3", api_base=f"http://127.0.0.1:{stub.port}")
        assert chosen_model("ollama/qwen3", given).window == 40960
        assert chosen_model("ollama/qwen3", replace(given, window=4096)).window == 4096
    loaded = {"models": [{"name": "qwen3:latest", "context_length": 8192}]}
    with local_stub({"/api/ps": loaded, "/api/show": shown}) as stub:
        given = replace(given, api_base=f"http://127.0.0.1:{stub.port}/")
        assert chosen_model("ollama/qwen3", given).window == 8192


@pytest.mark.parametrize("name", [PLANNER, f"demo/script:{shipped_scenarios()[0]}", "openai/mine"])
def test_a_given_window_is_used_for_every_kind_of_model_but_for_no_other_model(name: str) -> None:
    assert chosen_model(name, Options(model=name, window=3000)).window == 3000
    assert chosen_model("openai/other", Options(model=name, window=3000)).window == DEFAULT_WINDOW
