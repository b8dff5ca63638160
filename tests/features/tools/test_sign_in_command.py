"""`toolsight servers --sign-in` and `--sign-out`."""

import io
import json
import sys
import webbrowser
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest
from msgspec.structs import replace

from inspector.cli.composition import open_sign_ins
from inspector.cli.options import Options
from inspector.core.error import AuthRequired
from inspector.features.tools.sign_in_command import sign_in, sign_out
from tests.support.mcp_case import serving
from tests.support.oauth_server import OAuthServer


@asynccontextmanager
async def configured(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Options, None]:
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    # The system's own keychain is no part of a test.
    monkeypatch.setitem(sys.modules, "keyring", None)
    async with serving(OAuthServer()) as origin:
        file = folder / "servers.json"
        file.write_text(json.dumps({"mcpServers": {"notes": {"url": f"{origin}/mcp"}}}))
        yield Options(config=file, database=folder / "toolsight.db", approve=True)


def opened_in(visited: list[str], address: str) -> bool:
    """What a browser does with an address."""
    visited.append(address)
    where = httpx2.get(address, verify=False).headers["location"]
    return httpx2.get(where, verify=False).is_success


@pytest.fixture
def visited(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that a browser opens once enter is pressed, which it is."""
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened_in(opened, address))
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n"))
    return opened


async def test_enter_opens_the_address_and_the_answer_comes_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], visited: list[str]
) -> None:
    async with configured(tmp_path, monkeypatch) as chosen:
        await sign_in("notes", chosen)
        printed = capsys.readouterr()
        assert "wants you to sign in at this address" in printed.err
        assert visited[0] in printed.err
        assert "notes: signed in; kept in" in printed.out
        assert "Secret" not in printed.out + printed.err
        sign_out("notes", chosen)
        assert "signed out" in capsys.readouterr().out


async def test_without_a_browser_the_pasted_answer_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Typed:
        def readline(self) -> str:
            # A person reads the address first, and opens it on another machine.
            shown = capsys.readouterr().err
            address = next(word for word in shown.split() if "/authorize?" in word)
            return f"{httpx2.get(address, verify=False).headers['location']}\n"

    monkeypatch.setattr(sys, "stdin", Typed())
    async with configured(tmp_path, monkeypatch) as chosen:
        await sign_in("", chosen)
        assert "2 tools" in capsys.readouterr().out


async def test_where_only_stored_sign_ins_are_used_nobody_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], visited: list[str]
) -> None:
    async with configured(tmp_path, monkeypatch) as chosen:
        with pytest.raises(AuthRequired, match="--stored-auth-only") as caught:
            await sign_in("notes", replace(chosen, stored_auth_only=True))
        assert "--sign-in notes" in caught.value.hint
        assert visited == []
        assert "wants you to sign in" not in capsys.readouterr().err


@pytest.mark.parametrize("has_keychain", [True, False])
def test_a_sign_in_is_kept_in_the_keychain_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_keychain: bool
) -> None:
    found = SimpleNamespace(get_keyring=lambda: SimpleNamespace(priority=5)) if has_keychain else None
    monkeypatch.setitem(sys.modules, "keyring", found)
    place = open_sign_ins(Options(database=tmp_path / "toolsight.db")).place
    assert place.startswith("the system's keychain" if has_keychain else str(tmp_path))
