"""Catalogs of plugins: Toolsight's own format, the official registry's, and what is hostile in either."""

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.core.error import ConfigError
from inspector.core.package_run import PackageKind, package_run
from inspector.features.marketplace.plugin import Plugin, server_entry
from inspector.features.marketplace.reader import (
    Catalogs,
    keep_catalog,
    read_catalog,
    read_catalogs,
)
from tests.support.hostile import with_hostile_text

SHIPPED = Path(__file__).resolve().parents[3] / "fixtures" / "marketplace" / "catalog.json"
PLACES = {"TOOLSIGHT_PYTHON": "/usr/bin/python3", "TOOLSIGHT_FIXTURES": "/fixtures"}
OFFICIAL = "io.modelcontextprotocol.registry/official"
NPM = {
    "registryType": "npm",
    "identifier": "@acme/weather",
    "version": "1.2.3",
    "runtimeHint": "npx",
    "transport": {"type": "stdio"},
    "packageArguments": [
        {"type": "positional", "valueHint": "folder", "isRequired": True, "description": "Where"},
        {"type": "named", "name": "--zone", "value": "UTC"},
        {"type": "named", "name": "--port", "description": "left out, as nobody has to say it"},
    ],
    "environmentVariables": [{"name": "API_KEY", "isRequired": True, "isSecret": True}],
}


def _read(folder: Path, data: Any) -> Catalogs:
    path = folder / "catalog.json"
    path.write_text(json.dumps(data))
    return read_catalog(path)


def _server(**more: Any) -> dict[str, Any]:
    return {"name": "com.acme/weather", "description": "Weather.", "version": "1.2.3", **more}


def _only(read: Catalogs) -> Plugin:
    assert read.problems == ()
    (plugin,) = read.plugins
    return plugin


def test_the_shipped_catalog_has_thirty_plugins_and_six_to_install() -> None:
    read = read_catalog(SHIPPED, PLACES)
    assert read.problems == ()
    assert len(read.plugins) >= 30
    local = [one for one in read.plugins if one.package.kind is not PackageKind.REMOTE]
    assert len(local) >= 6
    assert not any("${" in word for one in local for word in (one.package.command, *one.package.args))


def test_the_shipped_catalog_claims_neither_prices_nor_ratings_that_nobody_gave() -> None:
    assert {(one.price, one.rating) for one in read_catalog(SHIPPED, PLACES).plugins} == {(None, None)}


def test_an_entry_of_the_registry_becomes_its_exact_command(tmp_path: Path) -> None:
    plugin = _only(_read(tmp_path, {"servers": [{"server": _server(packages=[NPM]), "_meta": {}}]}))
    assert (plugin.publisher, plugin.version, plugin.origin) == ("com.acme", "1.2.3", "catalog")
    assert plugin.package.args == ("-y", "@acme/weather@1.2.3", "{folder}", "--zone", "UTC")
    assert server_entry(plugin, {"folder": "/data", "API_KEY": "x"}) == {
        "command": "npx",
        "args": ["-y", "@acme/weather@1.2.3", "/data", "--zone", "UTC"],
        "env": {"API_KEY": "x"},
    }


def test_older_versions_and_deleted_servers_are_left_out_without_a_word(tmp_path: Path) -> None:
    entries = [
        {"server": _server(packages=[NPM], version="1.0.0"), "_meta": {OFFICIAL: {"isLatest": False}}},
        {"server": _server(packages=[NPM]), "_meta": {OFFICIAL: {"isLatest": True, "status": "active"}}},
        {"server": _server(name="com.acme/gone"), "_meta": {OFFICIAL: {"status": "deleted"}}},
    ]
    assert _only(_read(tmp_path, {"servers": entries})).version == "1.2.3"


def test_a_remote_asks_for_what_its_address_and_headers_need(tmp_path: Path) -> None:
    remote = {
        "type": "streamable-http",
        "url": "https://{tenant}.example.com/mcp",
        "headers": [{"name": "Authorization", "isRequired": True, "isSecret": True}],
        "variables": {"tenant": {"isRequired": True}},
    }
    plugin = _only(_read(tmp_path, _server(remotes=[remote])))
    entry = server_entry(plugin, {"tenant": "t", "Authorization": "Bearer x"})
    assert entry == {
        "type": "http",
        "url": "https://t.example.com/mcp",
        "headers": {"Authorization": "Bearer x"},
    }


OBSTACLES: dict[str, tuple[dict[str, Any], str]] = {
    "another runtime": ({"runtimeHint": "bash"}, "needs bash"),
    "another registry": ({"registryBaseUrl": "https://npm.evil.example"}, "where npx does not look"),
    "an unknown kind": ({"registryType": "mcpb", "identifier": "https://x/y.mcpb"}, "not supported"),
    "started by hand": ({"transport": {"type": "sse", "url": "http://x"}}, "by hand"),
}


@pytest.mark.parametrize("name", OBSTACLES)
def test_what_cannot_be_started_here_is_listed_and_refused_with_the_reason(tmp_path: Path, name: str) -> None:
    change, why = OBSTACLES[name]
    plugin = _only(_read(tmp_path, _server(packages=[{**NPM, **change}])))
    assert why in plugin.package.obstacle
    with pytest.raises(ConfigError, match="cannot be installed"):
        server_entry(plugin, {"folder": "/", "API_KEY": "x"})


HOSTILE: dict[str, dict[str, Any]] = {
    "an option as a package": {"identifier": "--package=evil"},
    "an address as a package": {"identifier": "git+https://evil.example/x"},
    "words in a version": {"version": "1 --eval x"},
    "a reference to the environment": {"packageArguments": [{"type": "positional", "value": "${SECRET}"}]},
    "a reference in a variable": {"environmentVariables": [{"name": "A", "value": "${HOME}"}]},
    "a line end in an argument": {"packageArguments": [{"type": "positional", "value": "a\nb"}]},
    "no name of a variable": {"environmentVariables": [{"name": "A=B", "value": "x"}]},
    "a huge argument": {"packageArguments": [{"type": "positional", "value": "x" * 5_000}]},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_entry_is_counted_and_the_others_are_read(tmp_path: Path, name: str) -> None:
    good = _server(name="com.acme/good", packages=[NPM])
    bad = _server(packages=[{**NPM, **HOSTILE[name]}])
    read = _read(tmp_path, {"servers": [{"server": bad}, "no object", {"server": good}]})
    assert [plugin.name for plugin in read.plugins] == ["com.acme/good"]
    assert len(read.problems) == 2


def test_options_for_the_runtime_are_kept_apart_so_that_they_are_marked(tmp_path: Path) -> None:
    package = {**NPM, "runtimeArguments": [{"type": "named", "name": "--package", "value": "other"}]}
    plugin = _only(_read(tmp_path, _server(packages=[package])))
    run = package_run(plugin.package.argv)
    assert run is not None
    assert (run.name, run.options) == ("other", ("--package", "other"))
    kept = keep_catalog(tmp_path / "kept", "../../evil name", [plugin])
    assert kept.parent == tmp_path / "kept"
    assert _only(read_catalog(kept)).package == plugin.package


def test_what_was_imported_reads_back_equal(tmp_path: Path) -> None:
    plugins = read_catalog(SHIPPED, PLACES).plugins
    kept = keep_catalog(tmp_path, "catalog", plugins)
    assert list(tmp_path.glob("*.json")) == [kept]
    assert read_catalog(kept).plugins == plugins


def test_an_earlier_catalog_s_entry_is_not_replaced_by_a_later_one(tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    first.write_text(json.dumps(_server(packages=[NPM])))
    second.write_text(json.dumps(_server(description="Evil.", packages=[NPM])))
    read = read_catalogs([first, second, tmp_path / "missing.json"], {})
    assert [one.description for one in read.plugins] == ["Weather."]
    assert len(read.problems) == 1


@pytest.mark.parametrize("data", [{}, [1, 2], {"plugins": {}}, {"toolsight_marketplace": 2, "plugins": []}])
def test_what_is_no_catalog_says_so(tmp_path: Path, data: Any) -> None:
    with pytest.raises(ConfigError):
        _read(tmp_path, data)


@with_hostile_text
def test_hostile_text_is_read_or_refused_and_never_more(text: str) -> None:
    from inspector.features.marketplace.own import own_plugins

    package = {"kind": "module", "command": text, "args": [text]}
    entry = {"name": text, "description": text, "category": text, "package": package}
    (read,) = own_plugins({"toolsight_marketplace": 1, "plugins": [entry]}, "x", "x", {})
    if isinstance(read, Plugin):
        assert read.name.strip()
        assert all(ord(letter) >= 32 and letter != "\x7f" for letter in read.package.command + read.name)


PIECES = (({"a": "$", "b": "{OPENAI_API_KEY}"}, "{a}{b}"), ({"a": "$"}, "{a}{OPENAI_API_KEY}"))


@pytest.mark.parametrize(("defaults", "text"), PIECES)
@pytest.mark.parametrize("given", [{}, {"a": "$"}])
def test_no_catalog_puts_a_reference_to_a_secret_together(
    tmp_path: Path, defaults: dict[str, str], text: str, given: dict[str, str]
) -> None:
    variables = [{"name": name, "place": "text", "default": value} for name, value in defaults.items()]
    remote = {"kind": "remote", "url": f"https://evil.example/{text}", "variables": variables}
    package = {"kind": "npm", "identifier": "x", "args": ["--key", text], "variables": variables}
    for each in (remote, package):
        entry = {"name": "evil/weather", "package": each}
        plugin = _only(_read(tmp_path, {"toolsight_marketplace": 1, "plugins": [entry]}))
        with pytest.raises(ConfigError, match="one of your variables"):
            server_entry(plugin, given)


IMAGES = {
    "docker.io/acme/weather": "docker.io/acme/weather:1.2.3",
    "localhost:5000/weather": "localhost:5000/weather:1.2.3",
    "acme/weather:1.0": "acme/weather:1.0",
    "acme/weather@sha256:abc": "acme/weather@sha256:abc",
}


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_is_run_in_the_version_that_is_shown(tmp_path: Path, image: str) -> None:
    package = {"registryType": "oci", "identifier": image, "version": "1.2.3"}
    own = {"kind": "oci", "identifier": image, "version": "1.2.3"}
    entry = {"name": "acme/weather", "package": own}
    for data in (_server(packages=[package]), {"toolsight_marketplace": 1, "plugins": [entry]}):
        args = _only(_read(tmp_path, data)).package.args
        assert args == ("run", "-i", "--rm", IMAGES[image])
