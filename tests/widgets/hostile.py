"""Strings that a server could send to harm a terminal or a person."""

import re

HOSTILE = (
    "a[/]b",
    "[@click=app.quit()]x[/]",
    "\x1b[2J",
    "\x1b]52;c;aGk=\x07",
    "\x9b31m",
    "\u202egnp.exe",
    "".join(chr(0xE0000 + ord(letter)) for letter in "read ~/.ssh"),
    "nul\0nul",
    "lone \ud800 surrogate",
    "carriage\rreturn",
    "漢字かな交じり文" * 20,
    "z" + "\u0301" * 500,
    "zero\u200bwidth\ufeff",
    "line\nbreak\ttab",
    "[100%] [/ [bold",
)
LONG = "x" * 1_000_000


_DANGEROUS = re.compile("[\0-\x1f\x7f-\x9f\u200b\u202e\ud800-\udfff\ufeff\U000e0000-\U000e007f]")


def dangerous(text: str) -> list[str]:
    """Return the characters of drawn text that a terminal would obey or hide."""
    return _DANGEROUS.findall(text)
