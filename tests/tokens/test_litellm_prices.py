"""Prices out of litellm's list: what it says, and nothing where it says nothing that can be believed."""

import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from inspector.core.prompt_cache import UNCACHED
from inspector.tokens.accounting import LitellmPrices, model_entry, shipped_models

PLAIN = {"input_cost_per_token": 2e-06, "output_cost_per_token": 8e-06, "litellm_provider": "maker"}
CACHED = {
    **PLAIN,
    "cache_read_input_token_cost": 2e-07,
    "cache_creation_input_token_cost": 2.5e-06,
    "cache_creation_input_token_cost_above_1hr": 4e-06,
}
SHIPPED = LitellmPrices()


def listed(folder: Path, **models: Any) -> LitellmPrices:
    path = folder / "prices.json"
    path.write_text(json.dumps(models), encoding="utf-8")
    return LitellmPrices(path)


def test_an_entry_becomes_prices_that_say_whose_they_are_and_of_which_day(tmp_path: Path) -> None:
    prices = listed(tmp_path, one=CACHED)
    os.utime(tmp_path / "prices.json", (0, 1_772_438_400))
    found = prices.prices("one")
    assert found is not None
    assert (found.model, found.input, found.output) == ("one", 2e-06, 8e-06)
    assert (found.cache_read, found.cache_write, found.cache_write_hour) == (2e-07, 2.5e-06, 4e-06)
    assert found.source == f"litellm {version('litellm')}'s price list"
    assert found.date == "as installed on 2026-03-02"


@pytest.mark.parametrize("name", ["one", "maker/one", "reseller/maker/one", "maker/extra/one"])
def test_a_model_is_found_with_and_without_its_providers(tmp_path: Path, name: str) -> None:
    found = listed(tmp_path, one=PLAIN).prices(name)
    assert found is not None
    assert found.model == name
    assert (found.cache_read, found.cache_write, found.terms) == (None, None, UNCACHED)


@pytest.mark.parametrize("name", ["other", "demo/one", "ollama/one", "one/", "", "\ud800"])
def test_what_is_not_listed_or_served_by_somebody_else_has_no_price(tmp_path: Path, name: str) -> None:
    assert listed(tmp_path, one=PLAIN).prices(name) is None
    assert SHIPPED.prices(name) is None


@pytest.mark.parametrize("field", ["input_cost_per_token", "cache_read_input_token_cost"])
@pytest.mark.parametrize("cost", ["free", -1e-06, float("nan"), True])
def test_an_entry_with_nonsense_in_it_is_no_price(tmp_path: Path, field: str, cost: Any) -> None:
    found = listed(tmp_path, one={**CACHED, field: cost}, half={**CACHED, "output_cost_per_token": None})
    assert found.prices("one") is found.prices("half") is None
    assert listed(tmp_path, one=cost).prices("one") is None


@pytest.mark.parametrize("content", [b"", b"[1]", b"\xff\xfe", b'{"one": NaN}', b"[" * 99_999])
def test_a_broken_file_has_no_prices(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "prices.json"
    path.write_bytes(content)
    assert LitellmPrices(path).prices("one") is None
    assert LitellmPrices(tmp_path).prices("one") is LitellmPrices(tmp_path / "none").prices("one") is None


def test_no_model_of_the_list_is_an_object_before_it_is_asked_for() -> None:
    models = shipped_models()
    assert {type(entry) for entry in models.values()} == {Raw}
    assert model_entry(models, "gpt-4o")["litellm_provider"] == "openai"
    assert model_entry({"odd": Raw(b'{"max_tokens": 1e999}')}, "odd") == {}


def test_the_shipped_list_knows_what_the_large_providers_charge() -> None:
    for name in ("openai/gpt-5", "gpt-5", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-pro"):
        found = SHIPPED.prices(name)
        assert found is not None, name
        assert 0 < found.input < found.output < 1e-3
        assert found.cache_read is not None
        assert found.cache_read < found.input
        assert found.date.startswith("as installed on 20")
