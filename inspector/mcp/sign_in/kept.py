"""Where sign-ins are kept: in the system's keychain if `keyring` is installed, else in a private file."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cached_property
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from msgspec import Struct, to_builtins

from inspector.core.error import StoreError
from inspector.core.redaction import SECRETS, private_folder, replacing
from inspector.mcp.frame import LOG
from inspector.store.database import locked

_SERVICE = "toolsight"
# In seconds: longer than an issuer may take to answer, and between two looks.
_LONGEST_WAIT, _LOOKS_EVERY = 30.0, 0.05
_INSTALL = "`pip install 'toolsight[keyring]'` to use the system's keychain, if it has one"
_UNLOCK = "Unlock it, or keep sign-ins in a file: set PYTHON_KEYRING_BACKEND=keyring.backends.null.Keyring."
_SECRET_KEYS = ("access_token", "refresh_token", "id_token", "client_secret", "registration_access_token")


class SignIn(Struct, frozen=True):
    """What is kept of one sign-in, as the SDK's JSON: the tokens, the client they were given to, the issuer.

    `expires_at` is in seconds since 1970, None if the issuer did not say. `wants` are the scopes that the
    server asked for later and that the tokens lack.
    """

    tokens: dict[str, Any]
    client: dict[str, Any]
    issuer: dict[str, Any] | None = None
    resource: dict[str, Any] | None = None
    expires_at: float | None = None
    wants: str = ""

    def learn(self) -> None:
        """From now on its tokens and secrets are removed from whatever is stored, written or printed."""
        for part in (self.tokens, self.client):
            learn_secrets(part)


def learn_secrets(part: dict[str, Any]) -> None:
    """Learn what is secret in an answer of an issuer."""
    SECRETS.learn({f"oauth.{key}": part[key] for key in _SECRET_KEYS if isinstance(part.get(key), str)})


class Keychain(Protocol):
    """What is used of `keyring`."""

    def get_password(self, service: str, name: str) -> str | None: ...

    def set_password(self, service: str, name: str, password: str) -> None: ...

    def delete_password(self, service: str, name: str) -> None: ...


def system_keychain() -> Keychain | None:
    """The system's keychain; None without `keyring`, or if it finds none to use."""
    try:
        keyring: Any = import_module("keyring")
        found = keyring.get_keyring()
        # Those below 1 it does not recommend: they may keep passwords in plain files.
        usable = max(one.priority for one in getattr(found, "backends", (found,))) >= 1
    except Exception as error:  # a keychain may fail in any way of its own
        LOG.info("no keychain: %r", error)
        return None
    return keyring if usable else None


class SignIns:
    """The sign-ins of this person, by the address of the server. Any thread may use it."""

    def __init__(self, path: Path, keychain: Callable[[], Keychain | None] = lambda: None) -> None:
        """`path` is the file that is used without a `keychain`, which is looked for on first use."""
        self._path = path
        self._find = keychain

    @cached_property
    def _keychain(self) -> Keychain | None:
        return self._find()

    @property
    def place(self) -> str:
        """Where they are kept, for people."""
        if self._keychain is not None:
            return "the system's keychain"
        return f"{self._path}, a file that only you can read ({_INSTALL})"

    def get(self, url: str) -> SignIn | None:
        """The sign-in to a server; None if there is none that can be read."""
        try:
            found = SignIn(**json.loads(self._text(_name(url)) or "null"))
            found.learn()
        except Exception as error:  # a keychain may fail in any way of its own; so may a damaged entry
            LOG.info("no sign-in to %s: %s", _name(url), type(error).__name__)
            return None
        return found

    def put(self, url: str, sign_in: SignIn) -> None:
        """Keep it in place of an earlier one. Raises StoreError."""
        sign_in.learn()
        text = json.dumps(to_builtins(sign_in))
        with self._told("kept in"):
            if self._keychain is not None:
                self._keychain.set_password(_SERVICE, _name(url), text)
            else:
                self._change(_name(url), text)

    def remove(self, url: str) -> bool:
        """Forget the sign-in to a server; False if there was none. Raises StoreError."""
        name = _name(url)
        with self._told("removed from"):
            if self._text(name) is None:
                return False
            if self._keychain is not None:
                self._keychain.delete_password(_SERVICE, name)
            else:
                self._change(name, None)
        return True

    @asynccontextmanager
    async def refreshing(self, url: str) -> AsyncGenerator[None, None]:
        """Alone among this machine's processes, as far as files can be locked, or after half a minute."""
        mark = sha256(_name(url).encode()).hexdigest()[:16]
        handle = None
        with suppress(OSError):
            private_folder(self._path.parent)
            handle = os.open(self._path.with_name(f".sign-in-{mark}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LONGEST_WAIT):
                    # No other process tells when it is done.
                    while handle is not None and not locked(handle, exclusive=True):  # noqa: ASYNC110
                        await asyncio.sleep(_LOOKS_EVERY)
            yield
        finally:
            if handle is not None:
                os.close(handle)

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Whatever goes wrong inside becomes a StoreError."""
        try:
            yield
        except Exception as error:
            place, hint = str(self._path), "Check its folder, or choose another --database."
            if self._keychain is not None:
                place, hint = self.place, _UNLOCK
            message = f"the sign-in cannot be {what} {place}: {type(error).__name__}"
            raise StoreError(message, hint=hint) from error

    def _text(self, name: str) -> str | None:
        keychain = self._keychain
        return self._read().get(name) if keychain is None else keychain.get_password(_SERVICE, name)

    def _read(self) -> dict[str, str]:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _change(self, name: str, text: str | None) -> None:
        """Keep a text by this name, or none. Of two changes at once, neither undoes the other."""
        private_folder(self._path.parent)
        handle = os.open(self._path.with_name(f".{self._path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            locked(handle, exclusive=True, waits=True)
            texts = {**self._read(), name: text}
            with replacing(self._path, "w", encoding="utf-8") as file:
                json.dump({key: kept for key, kept in texts.items() if kept is not None}, file)
        finally:
            os.close(handle)


def _name(url: str) -> str:
    """The server's address without user and fragment, which a sign-in does not depend on."""
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2].lower()
    return parts._replace(scheme=parts.scheme.lower(), netloc=place, fragment="").geturl()
