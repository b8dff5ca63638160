"""Strings that a server could send to harm a terminal or a person."""

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


def dangerous(text: str) -> list[str]:
    """Return the characters of drawn text that a terminal would obey or hide."""
    return [
        letter
        for letter in text
        if ord(letter) < 0x20
        or 0x7F <= ord(letter) <= 0x9F
        or 0xD800 <= ord(letter) <= 0xDFFF
        or 0xE0000 <= ord(letter) <= 0xE007F
        or letter in "\u200b\ufeff\u202e"
    ]
