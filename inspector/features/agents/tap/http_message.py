"""What an HTTP request or answer carries, and what a tap rewrites of it so that a client can sign in.

A client trusts metadata only of the address that it connects to, which is the tap's.
"""

import json
import re
import zlib
from collections.abc import Sequence
from typing import Final

import h11

from inspector.mcp.pace import CutLine, Lines
from inspector.schema.json_value import read_object

LONGEST_MESSAGE: Final = 4_000_000
"""Bytes of a message that is recorded."""


def headers_of(message: h11.Request | h11.Response) -> dict[str, str]:
    """The headers by their names in lower case."""
    return {name.decode(): value.decode("latin-1") for name, value in message.headers}


class Messages:
    """The messages in a body: it is one, or the data of each event is one."""

    def __init__(self, headers: dict[str, str]) -> None:
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        self._is_stream, self._is_read = kind == "text/event-stream", kind.endswith(("json", "/event-stream"))
        packed = headers.get("content-encoding", "identity") != "identity"
        self._packed = zlib.decompressobj(zlib.MAX_WBITS | 32) if packed else None
        self._lines, self._data = Lines(LONGEST_MESSAGE), list[bytes]()

    def feed(self, data: bytes) -> list[bytes | CutLine]:
        """The messages that a piece completes."""
        if self._packed is not None:
            data = self._packed.decompress(data, LONGEST_MESSAGE)
            if self._packed.unconsumed_tail:
                raise zlib.error("too large")
        if not self._is_stream:
            # Outside strings an end of a line is blank, and within them there is none.
            return list(self._lines.feed(data.replace(b"\n", b" "))) if self._is_read else []
        whole: list[bytes | CutLine] = []
        for line in self._lines.feed(data):
            if isinstance(line, CutLine):
                whole.append(line)
            elif line.startswith(b"data:"):
                self._data.append(line[5:].strip())
            elif not line.strip():
                whole.append(b" ".join(self._data))
                self._data.clear()
        return whole

    def end(self) -> list[bytes | CutLine]:
        """The message that the end completes; an event that is not whole is none."""
        return [b""] if self._is_stream else list(self._lines.feed(b"\n"))


_METADATA = b"/.well-known/oauth-protected-resource"
_NAMED = re.compile(rb'(?i)(\bresource_metadata="?)(https?://[^/?#\s",]+)')
_ORIGIN = re.compile(r"https?://[^/?#]+")
# They describe the bytes as the server sent them.
_OF_BODY = (b"content-length", b"transfer-encoding", b"content-encoding")
# It says what is lacking: a token, or a scope of it.
_CHALLENGES, _OK = (401, 403), 200
MOST_HELD = 65_536
"""Bytes of an answer that is held back until it is whole."""


class SignIn:
    """An answer of the server, whose addresses become those of the tap at `host`; most stay as they are.

    Unless it `is_wanted`, all of them do.
    """

    def __init__(self, target: bytes, host: str, *, is_wanted: bool) -> None:
        self._is_metadata = target.startswith(_METADATA)
        self._origin = f"http://{host}"
        self.held, self._is_passing = b"", not is_wanted
        self.response: h11.Response | None = None
        self._body: list[bytes | CutLine] = []

    def read(self, messages: Sequence[bytes | CutLine]) -> None:
        """Keep the messages of an answer that is held back; of others, such as a stream, they only add up."""
        if not self._is_passing:
            self._body += messages

    def passed(self, data: bytes, *, is_whole: bool) -> tuple[bytes, Sequence[str]]:
        """What of the server's bytes to pass on now, and what was rewritten in it, in words."""
        if self._is_passing:
            return data, ()
        self.held += data
        status = self.response.status_code if self.response is not None else 0
        is_read = status in (0, *_CHALLENGES) or (status == _OK and self._is_metadata)
        if is_read and not is_whole and len(self.held) <= MOST_HELD:
            return b"", ()
        held, self.held, self._is_passing = self.held, b"", True
        if not (is_read and is_whole):
            return held, ()
        return self._challenge(held) if status in _CHALLENGES else self._document(held)

    def _challenge(self, held: bytes) -> tuple[bytes, Sequence[str]]:
        head, end, body = held.partition(b"\r\n\r\n")
        said = [
            f"resource_metadata: {found[2].decode()} -> {self._origin}" for found in _NAMED.finditer(head)
        ]
        return _NAMED.sub(rb"\g<1>" + self._origin.encode(), head) + end + body, said

    def _document(self, held: bytes) -> tuple[bytes, Sequence[str]]:
        document = read_object(b"".join(one for one in self._body if isinstance(one, bytes)))
        resource = document.get("resource")
        if self.response is None or not isinstance(resource, str):
            return held, ()
        document["resource"] = _ORIGIN.sub(lambda _found: self._origin, resource, count=1)
        body = json.dumps(document).encode()
        # A header may come more than once, such as Set-Cookie.
        kept = (name + b": " + value for name, value in self.response.headers if name not in _OF_BODY)
        head = b"\r\n".join((b"HTTP/1.1 200 OK", *kept, b"Content-Length: %d" % len(body)))
        return head + b"\r\n\r\n" + body, [f"resource: {resource} -> {document['resource']}"]
