"""Signing in to servers that want it, and to those that are up to something."""

import asyncio
import json
import os
import socket
import stat
import sys
import time
from base64 import urlsafe_b64encode
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from traceback import format_exception
from types import SimpleNamespace
from typing import cast
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from msgspec.structs import replace

from inspector.core.error import AuthRequired, StoreError
from inspector.core.redaction import clean
from inspector.core.server import Grant, OAuthClient, ServerSpec
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.port import Opening, ServerLink
from inspector.mcp.sign_in import exchange, kept, machine
from inspector.mcp.sign_in.kept import SignIn, SignIns
from inspector.mcp.sign_in.person import SignInWay, read_answer
from tests.support.mcp_case import PATIENCE, serving
from tests.support.oauth_server import OAuthServer, jwt

FAULTS = {
    "elsewhere": "redirects to elsewhere.example",
    "other resource": "its `resource` is https://elsewhere.example/mcp, but the server is",
    "plain issuer": "leads to http://issuer.example",
    "javascript": "authorization_endpoint",
    "plain visit": "leads to http://elsewhere.example",
    "user": "user before its host",
    "wrong issuer": "elsewhere.example",
    "plain token": "leads to http://elsewhere.example",
    "huge": "too large",
    "state": "its state differs",
    "iss": "iss mismatch",
    "denied": "access_denied",
    "no access token": "access_token is missing",
    "umlaut": "cannot sign in to 127.0.0.1: 'utf-8'",
    "silent token": "does not answer",
}


@dataclass
class Visitor:
    """Visits the address as a browser does, or pastes where the visit ended."""

    pastes: bool = False
    visited: list[str] = field(default_factory=list)

    async def visit(self, server: str, address: str) -> str:  # noqa: ARG002
        """See `Visitor` of `inspector.mcp.sign_in.person`."""
        self.visited.append(address)
        async with httpx2.AsyncClient(verify=False) as browser:
            where = (await browser.get(address)).headers["location"]
            if self.pastes:
                return str(where)
            assert (await browser.get(where)).status_code == 200
        await asyncio.Event().wait()
        return ""


@dataclass
class Rig:
    """A server, and how it is connected to."""

    server: OAuthServer
    spec: ServerSpec
    folder: Path

    @property
    def kept(self) -> SignIns:
        return SignIns(self.folder / "sign-ins.json")

    @asynccontextmanager
    async def opened(self, visitor: Visitor | None = None) -> AsyncGenerator[ServerLink, None]:
        connector = McpConnector(self.folder / "logs", way=SignInWay(self.kept, visitor))
        async with (
            asyncio.timeout(PATIENCE),
            connector.connect(self.spec, Opening()) as link,
        ):
            yield link

    async def tools(self, visitor: Visitor | None = None) -> list[str]:
        """The names of its tools, over a connection of their own."""
        async with self.opened(visitor) as link:
            return [tool.name for tool in (await link.list_tools()).tools]


@asynccontextmanager
async def rig(folder: Path, fault: str = "") -> AsyncGenerator[Rig, None]:
    server = OAuthServer(fault)
    async with serving(server) as origin:
        yield Rig(server, ServerSpec("notes", url=f"{origin}/mcp"), folder)


TOOLS = ["list_notes", "delete_note"]


async def test_without_a_sign_in_the_server_is_told_of_and_nothing_is_asked_of_its_issuer(
    tmp_path: Path,
) -> None:
    async with rig(tmp_path) as case:
        with pytest.raises(AuthRequired) as caught:
            await case.tools()
        assert "needs sign-in" in caught.value.message
        assert "--sign-in notes" in caught.value.hint
        assert case.server.seen == []
    async with rig(tmp_path, "no metadata") as case:
        with pytest.raises(AuthRequired) as caught:
            await case.tools()
        assert not caught.value.can_sign_in
        assert "publishes no sign-in" in caught.value.hint


@pytest.mark.parametrize("pastes", [False, True])
async def test_a_sign_in_is_kept_for_later_connections(tmp_path: Path, pastes: bool) -> None:
    async with rig(tmp_path) as case:
        visitor = Visitor(pastes)
        assert await case.tools(visitor) == TOOLS
        assert len(visitor.visited) == 1
        assert "resource=" in visitor.visited[0]
        asked = len(case.server.seen)
        assert await case.tools() == TOOLS
        assert len(case.server.seen) == asked


async def test_a_token_that_has_ended_is_refreshed_at_its_issuer(tmp_path: Path) -> None:
    async with rig(tmp_path) as case:
        await case.tools(Visitor())
        case.server.valid.clear()
        assert await case.tools() == TOOLS
        assert case.server.forms[-1]["grant_type"] == "refresh_token"
        assert await case.tools() == TOOLS
        assert len(case.server.forms) == 2


async def test_scopes_that_a_call_lacked_are_asked_for_at_the_next_sign_in(tmp_path: Path) -> None:
    async with rig(tmp_path) as case:
        await case.tools(Visitor())
        async with case.opened() as link:
            with pytest.raises(AuthRequired) as caught:
                await link.call("delete_note", {}, timeout=PATIENCE)
            assert "lacks a permission" in caught.value.hint
        visitor = Visitor()
        await case.tools(visitor)
        assert "scope=read+write" in visitor.visited[0]
        async with case.opened() as link:
            assert (await link.call("delete_note", {}, timeout=PATIENCE)).text == "deleted"


async def test_a_call_that_lacks_a_scope_asks_whoever_is_there(tmp_path: Path) -> None:
    async with rig(tmp_path) as case, case.opened(visitor := Visitor()) as link:
        assert (await link.call("delete_note", {}, timeout=PATIENCE)).text == "deleted"
        assert len(visitor.visited) == 2


def logs(folder: Path) -> str:
    """What the logs of a rig's connections say."""
    return "".join(log.read_text() for log in (folder / "logs").iterdir())


@pytest.mark.parametrize(("fault", "reason"), FAULTS.items())
async def test_a_hostile_issuer_is_refused_and_nothing_is_kept(
    tmp_path: Path, fault: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "_SECONDS", 0.5 if "silent" in fault else PATIENCE)
    async with rig(tmp_path, fault) as case:
        with pytest.raises(AuthRequired) as caught:
            await case.tools(Visitor())
        assert "cannot sign in" in caught.value.message
        assert reason in caught.value.message
        assert "Secret" not in caught.value.message
        assert "Secret" not in logs(tmp_path)
        assert case.kept.get(case.spec.url) is None
        assert case.server.valid == {}


@pytest.mark.parametrize(
    ("fault", "what", "why", "cure"),
    [
        ("", "", "", ""),
        (
            "other resource",
            "resource metadata",
            "its `resource` is https://elsewhere.example/mcp",
            "RFC 9728",
        ),
        ("slash", "issuer's metadata", "the slash", '"oauth": {"issuer": "http://127.0.0.1:'),
        ("wrong issuer", "issuer's metadata", "its issuer is https://elsewhere.example", "both alike"),
        ("plain issuer", "resource metadata", "leads to http://issuer.example", "operator"),
        ("no clients", "issuer's metadata", "registers no clients", "clientId"),
        ("no metadata", "the server", "no metadata at 3 addresses: nobody can sign in", "a header"),
    ],
)
async def test_of_the_documents_of_a_sign_in_the_one_at_fault_is_named_with_a_cure(
    tmp_path: Path, fault: str, what: str, why: str, cure: str
) -> None:
    async with rig(tmp_path, fault) as case:
        connector = McpConnector(tmp_path / "logs", way=SignInWay(case.kept))
        documents = await connector.documents(case.spec)
        assert not {"/register", "/token", "/authorize"} & set(case.server.seen)
    wrong = [one for one in documents if one.fault]
    assert [one.what for one in wrong] == [what] * bool(what)
    assert all(why in one.fault and cure in one.hint for one in wrong)
    assert (documents[0].status, str(documents[0])) == (
        401,
        f"the server: HTTP 401 from {case.spec.url}",
    ) or (fault == "no metadata")


async def test_an_issuer_that_a_person_names_counts_as_it_is_written(tmp_path: Path) -> None:
    async with rig(tmp_path, "slash") as case:
        with pytest.raises(AuthRequired, match="the slash") as raised:
            await case.tools(Visitor())
        assert [one.status for one in raised.value.documents] == [401, 200, 200]
        issuer = case.spec.url.removesuffix("/mcp")
        case.spec = replace(case.spec, oauth=OAuthClient(issuer=issuer))
        assert await case.tools(Visitor()) == TOOLS
        assert await case.tools() == TOOLS


@pytest.mark.parametrize(
    ("server", "place", "is_allowed"),
    [
        ("https://notes.example", "https://login.example", True),
        ("https://notes.example", "http://login.example", False),
        ("https://notes.example", "https://127.0.0.1", False),
        ("https://notes.example", "https://10.0.0.7", False),
        ("https://notes.example", "https://app.localhost", False),
        ("https://notes.example", "https://10-0-0-7.nip.io", False),
        ("http://127.0.0.1:8000", "http://localhost:9000", True),
        ("http://127.0.0.1:8000", "https://login.example", True),
        ("http://127.0.0.1:8000", "http://login.example", False),
    ],
)
def test_a_server_elsewhere_cannot_lead_a_sign_in_into_this_network_or_off_https(
    server: str, place: str, is_allowed: bool
) -> None:
    with nullcontext() if is_allowed else pytest.raises(AuthRequired, match="where no sign-in may go"):
        exchange.require_place(httpx2.URL(place), httpx2.URL(server))


async def test_an_answer_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def endless() -> AsyncGenerator[bytes, None]:
        while True:
            yield b" "

    monkeypatch.setattr(exchange, "_now", count(0.0, 10.0).__next__)
    with pytest.raises(httpx2.StreamError, match="too long"):
        assert [chunk async for chunk in exchange._Limited(cast("httpx2.AsyncByteStream", endless()), 9)]


@pytest.mark.parametrize(("kind", "is_refused"), [("text/html", False), ("application/json", True)])
async def test_a_page_in_place_of_metadata_is_none_and_invalid_metadata_is_refused(
    kind: str, is_refused: bool
) -> None:
    server = httpx2.URL("https://shop.example/mcp")
    request = httpx2.Request("GET", "https://shop.example/.well-known/oauth-protected-resource")
    answer = httpx2.Response(200, headers={"content-type": kind}, content=b"<p>Welcome</p>", request=request)
    with pytest.raises(AuthRequired, match="invalid") if is_refused else nullcontext():
        await exchange.require_answer(answer, server)


async def test_a_client_is_registered_once_as_long_as_its_port_is_free(tmp_path: Path) -> None:
    async with rig(tmp_path) as case:
        visitor = Visitor()
        await case.tools(visitor)
        await case.tools(visitor)
        ports = [urlsplit(query["redirect_uri"][0]).port for query in map(asked, visitor.visited)]
        assert (ports[0], case.server.seen.count("/register")) == (ports[1], 1)
        with socket.create_server(("127.0.0.1", ports[0] or 0)):
            await case.tools(visitor)
        assert case.server.seen.count("/register") == 2


def asked(address: str) -> dict[str, list[str]]:
    return parse_qs(urlsplit(address).query)


async def test_of_two_processes_that_refresh_at_once_one_uses_what_the_other_got(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with rig(tmp_path) as case:
        await case.tools(Visitor())
        before = case.kept.get(case.spec.url)
        assert before is not None
        case.server.valid = {"Access-Secret-Other": "read"}

        def other_is_faster(_handle: int, *, exclusive: bool, waits: bool = False) -> bool:
            assert exclusive
            if waits:
                return True
            tokens = {**before.tokens, "access_token": "Access-Secret-Other"}
            case.kept.put(case.spec.url, replace(before, tokens=tokens))
            waiting.append(1)
            return len(waiting) > 1

        waiting: list[int] = []
        monkeypatch.setattr(kept, "locked", other_is_faster)
        assert await case.tools() == TOOLS
        assert [form["grant_type"] for form in case.server.forms] == ["authorization_code"]


async def test_after_signing_out_no_open_connection_refreshes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with rig(tmp_path) as case:
        await case.tools(Visitor())
        async with case.opened() as link:
            case.kept.remove(case.spec.url)
            tomorrow = time.time() + 86_400
            monkeypatch.setattr(time, "time", lambda: tomorrow)
            with pytest.raises(AuthRequired, match="needs sign-in"):
                await link.call("list_notes", {}, timeout=PATIENCE)
        assert len(case.server.forms) == 1


async def test_a_client_with_an_id_is_not_registered_and_uses_no_other_clients_sign_in(
    tmp_path: Path,
) -> None:
    async with rig(tmp_path) as case:
        await case.tools(Visitor())
        case.spec = replace(case.spec, oauth=OAuthClient("mine", client_secret="s3cret-Value"))
        with pytest.raises(AuthRequired, match="needs sign-in"):
            await case.tools()
        visitor = Visitor()
        assert await case.tools(visitor) == TOOLS
        assert "client_id=mine" in visitor.visited[0]
        assert case.server.seen.count("/register") == 1


@pytest.mark.parametrize("grant", Grant)
async def test_a_registered_client_is_not_shown_to_another_issuer(tmp_path: Path, grant: Grant) -> None:
    ours = OAuthClient("mine", client_secret="s3cret-Value", issuer="https://ours.example", grant=grant)
    ours = replace(ours, assertion=JWT if grant is Grant.JWT_BEARER else "")
    async with rig(tmp_path) as case:
        case.spec = replace(case.spec, oauth=ours)
        with pytest.raises(AuthRequired, match="another issuer"):
            await case.tools(Visitor())
        assert not {"/register", "/token", "/authorize"} & set(case.server.seen)


async def test_a_client_that_signs_in_for_itself_needs_nobody_and_leaves_nothing(tmp_path: Path) -> None:
    async with rig(tmp_path) as case:
        ours = OAuthClient("ci", client_secret="s3cret-Value", grant=Grant.CLIENT_CREDENTIALS)
        case.spec = replace(case.spec, oauth=ours)
        assert await case.tools() == TOOLS
        assert [form["grant_type"] for form in case.server.forms] == ["client_credentials"]
        assert not (tmp_path / "sign-ins.json").exists()


JWT = jwt("Signature-1")


def bearer(case: Rig, assertion: str = "", file: Path | None = None) -> None:
    """From now on a client of the case's issuer signs in with a JWT."""
    client = OAuthClient("workload", issuer=case.spec.url.removesuffix("/mcp"), grant=Grant.JWT_BEARER)
    client = replace(client, assertion=assertion, assertion_file=str(file or ""))
    case.spec = replace(case.spec, oauth=client)


def by_idp(case: Rig) -> None:
    """From now on a person's ID token is exchanged first."""
    where = case.spec.url.replace("/mcp", "/idp/token")
    bearer(case, JWT)
    idp = replace(case.spec.oauth, idp_token_url=where, idp_client_id="at-idp", idp_client_secret="At-Idp-1")
    case.spec = replace(case.spec, oauth=idp)


async def test_a_workload_signs_in_with_the_jwt_that_its_file_holds_then(tmp_path: Path) -> None:
    async with rig(tmp_path) as case:
        file = tmp_path / "jwt"
        bearer(case, file=file)
        first, second = jwt("First"), jwt("Second")
        case.server.assertions = {first, second}
        file.write_text(f"\ufeff{first}\n")
        async with case.opened() as link:
            case.server.valid.clear()
            file.write_text(second)
            assert (await link.list_tools()).tools
        sent = [(form["assertion"], form["client_id"], form["resource"]) for form in case.server.forms]
        assert sent == [(one, "workload", case.spec.url) for one in (first, second)]
        assert not (tmp_path / "sign-ins.json").exists()


async def test_an_id_token_is_exchanged_for_an_assertion_that_is_for_the_issuer(tmp_path: Path) -> None:
    async with rig(tmp_path) as case:
        by_idp(case)
        ours = replace(case.spec.oauth, client_secret="At-Issuer-1", method="client_secret_post", scope="own")
        case.spec = replace(case.spec, oauth=ours)
        assert await case.tools() == TOOLS
        asked = {"resource": case.spec.url, "scope": "own"}
        assertion = jwt("at-idp-1")
        assert case.server.forms == [
            {
                "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
                "requested_token_type": "urn:ietf:params:oauth:token-type:id-jag",
                "subject_token": JWT,
                "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
                "client_id": "at-idp",
                "client_secret": "At-Idp-1",
                "audience": case.server.origin,
                **asked,
            },
            {
                "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
                "assertion": assertion,
                "client_id": "workload",
                "client_secret": "At-Issuer-1",
                **asked,
            },
        ]
        assert clean(f"{JWT} {assertion}") == "[redacted] [redacted]"


async def test_a_client_that_signs_in_for_itself_asks_for_its_own_scopes_and_for_those_a_call_lacks(
    tmp_path: Path,
) -> None:
    async with rig(tmp_path) as case:
        by_idp(case)
        case.spec = replace(case.spec, oauth=replace(case.spec.oauth, scope="own"))
        async with case.opened() as link:
            with pytest.raises(AuthRequired, match="403"):
                await link.call("delete_note", {}, timeout=PATIENCE)
        scopes = [form["scope"] for form in case.server.forms]
        assert scopes == ["own", "own", "own write", "own write"]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("idp no", "it said no: invalid_target"),
        ("idp list", "no token in its answer"),
        ("idp access token", "a token of no type"),
        ("idp no jwt", "no JWT in the answer"),
        ("idp elsewhere", "HTTP 307"),
    ],
)
async def test_an_identity_provider_that_gives_no_assertion_ends_the_sign_in(
    tmp_path: Path, fault: str, reason: str
) -> None:
    async with rig(tmp_path, fault) as case:
        by_idp(case)
        with pytest.raises(AuthRequired, match=reason) as caught:
            await case.tools()
        assert "/token" not in case.server.seen
        assert "Opaque-Secret" not in "".join(format_exception(caught.value))


async def test_an_exchange_that_takes_too_long_as_a_whole_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "in_time", lambda: asyncio.timeout(0))
    async with rig(tmp_path) as case:
        by_idp(case)
        with pytest.raises(AuthRequired, match="does not answer"):
            await case.tools()


@pytest.mark.parametrize(("fault", "issuer"), [("no metadata", ""), ("", "https://ours.example")])
async def test_a_jwt_goes_to_no_issuer_but_its_own(tmp_path: Path, fault: str, issuer: str) -> None:
    async with rig(tmp_path, fault) as case:
        bearer(case, JWT)
        # The SDK takes a client with a document of its own for one of every issuer.
        document = "https://toolsight.example/client.json"
        ours = replace(case.spec.oauth, client_id=document, metadata_url=document)
        case.spec = replace(case.spec, oauth=replace(ours, issuer=issuer or ours.issuer))
        with pytest.raises(AuthRequired, match=r"cannot be read|not to https://ours"):
            await case.tools()
        assert "/token" not in case.server.seen


async def test_a_key_that_cannot_sign_is_said_to_be_the_fault(tmp_path: Path) -> None:
    async with rig(tmp_path) as case:
        key = "-----BEGIN PRIVATE KEY-----\nQUJD\n-----END PRIVATE KEY-----\n"
        ours = OAuthClient("ci", private_key=key, algorithm="ES256", grant=Grant.CLIENT_CREDENTIALS)
        case.spec = replace(case.spec, oauth=ours)
        with pytest.raises(AuthRequired, match="privateKey cannot sign with ES256"):
            await case.tools()
        assert "/token" not in case.server.seen


async def test_a_refused_renewal_fails_one_call_and_the_connection_stays(tmp_path: Path) -> None:
    async with rig(tmp_path) as case:
        bearer(case, JWT)
        case.server.assertions = {JWT}
        async with case.opened() as link:
            case.server.assertions.clear()
            with pytest.raises(AuthRequired, match="invalid_grant"):
                await link.call("delete_note", {}, timeout=PATIENCE)
            assert (await link.list_tools()).tools
            case.server.valid.clear()
            with pytest.raises(AuthRequired, match="invalid_grant"):
                await link.list_tools()
            case.server.assertions = {JWT}
            assert (await link.list_tools()).tools


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("-----BEGIN KEY-----\nabc\n", id="key"),
        pytest.param("SG.Api-Key.x", id="dotted"),
        pytest.param(f"{urlsafe_b64encode(b'[' * 30_000).decode()}.Body.Sign", id="deep"),
        pytest.param(JWT + "x" * 70_000, id="long"),
        pytest.param(None, id="pipe"),
    ],
)
async def test_a_file_without_a_jwt_is_sent_to_nobody(tmp_path: Path, content: str | None) -> None:
    async with rig(tmp_path) as case:
        file = tmp_path / "jwt"
        if content is None:
            os.mkfifo(file)
        else:
            file.write_text(content)
        bearer(case, file=file)
        with pytest.raises(AuthRequired, match=str(file)):
            await case.tools()
        assert "/token" not in case.server.seen


async def test_a_slow_call_does_not_hold_up_another(tmp_path: Path) -> None:
    async with rig(tmp_path) as case:
        await case.tools(Visitor())
        async with case.opened() as link:
            case.server.held = asyncio.Event()
            slow = asyncio.create_task(link.call("list_notes", {}, timeout=PATIENCE))
            await case.server.holds.wait()
            assert (await link.list_tools()).tools
            case.server.held.set()
            assert (await slow).text == "one note"


async def test_tokens_are_private_and_in_no_log(tmp_path: Path) -> None:
    async with rig(tmp_path) as case:
        await case.tools(Visitor())
        path = tmp_path / "sign-ins.json"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert "Access-Secret-1" in path.read_text()
        assert "-Secret-" not in logs(tmp_path)
        assert clean(json.dumps({"said": "Access-Secret-1 Refresh-Secret-1"})).count("redacted") == 2


@pytest.mark.parametrize(
    "text", ["hello", "http://127.0.0.1/callback?code=a&code=b&state=c", "http://[?code=1"]
)
def test_a_pasted_text_that_is_no_answer_is_refused(text: str) -> None:
    with pytest.raises(AuthRequired):
        read_answer(text)


@dataclass
class MemoryKeychain:
    """A keychain of its own."""

    kept: dict[tuple[str, str], str] = field(default_factory=dict)
    is_locked: bool = False

    def get_password(self, service: str, name: str) -> str | None:
        if self.is_locked:
            raise RuntimeError("locked")
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, password: str) -> None:
        if self.is_locked:
            raise RuntimeError("locked")
        self.kept[service, name] = password

    def delete_password(self, service: str, name: str) -> None:
        del self.kept[service, name]


ONE = SignIn({"access_token": "Access-Secret-9"}, {"client_id": "client-1"}, expires_at=5.0, wants="write")


@pytest.mark.parametrize("keychain", [None, MemoryKeychain()])
def test_a_sign_in_is_kept_by_address_until_it_is_removed(
    tmp_path: Path, keychain: MemoryKeychain | None
) -> None:
    kept = SignIns(tmp_path / "new" / "sign-ins.json", lambda: keychain)
    kept.put("https://user@Notes.example/mcp#top", ONE)
    assert kept.get("https://notes.example/mcp") == ONE
    assert kept.get("https://notes.example/other") is None
    assert (tmp_path / "new").exists() == (keychain is None)
    assert kept.remove("https://notes.example/mcp")
    assert kept.get("https://notes.example/mcp") is None


@pytest.mark.parametrize(("priorities", "is_used"), [([5.0], True), ([0.5], False), ([5.0, 0.5], True)])
def test_a_keychain_that_is_a_plain_file_is_not_used(
    monkeypatch: pytest.MonkeyPatch, priorities: list[float], is_used: bool
) -> None:
    each = [SimpleNamespace(priority=one) for one in priorities]
    found = each[0] if len(each) == 1 else SimpleNamespace(priority=10, backends=each)
    monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace(get_keyring=lambda: found))
    assert (kept.system_keychain() is not None) is is_used


def test_a_locked_keychain_is_told_and_nothing_goes_to_a_file_instead(tmp_path: Path) -> None:
    kept = SignIns(tmp_path / "sign-ins.json", lambda: MemoryKeychain(is_locked=True))
    assert kept.get("https://notes.example/mcp") is None
    with pytest.raises(StoreError, match="cannot be kept in the system's keychain") as caught:
        kept.put("https://notes.example/mcp", ONE)
    assert "Unlock it" in caught.value.hint
    with pytest.raises(StoreError, match="cannot be removed from the system's keychain"):
        kept.remove("https://notes.example/mcp")
    assert list(tmp_path.iterdir()) == []


def test_of_sign_ins_that_are_kept_at_once_none_is_lost(tmp_path: Path) -> None:
    # Each has an object of its own, as in several processes.
    files = [SignIns(tmp_path / "sign-ins.json") for _ in range(4)]
    urls = [f"https://notes.example/{number}" for number in range(100)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: files[number % 4].put(urls[number], ONE), range(100)))
    assert [files[0].get(url) for url in urls] == [ONE] * 100


async def test_a_sign_in_that_cannot_be_kept_says_how_it_can(tmp_path: Path) -> None:
    (tmp_path / "sign-ins.json").mkdir()
    async with rig(tmp_path) as case:
        with pytest.raises(AuthRequired, match="cannot be kept") as caught:
            await case.tools(Visitor())
        assert "--database" in caught.value.hint


def test_a_damaged_file_is_no_sign_in_and_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "sign-ins.json"
    path.write_text("{")
    path.chmod(0o644)
    kept = SignIns(path)
    assert kept.get("https://notes.example/mcp") is None
    kept.put("https://notes.example/mcp", ONE)
    assert kept.get("https://notes.example/mcp") == ONE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
