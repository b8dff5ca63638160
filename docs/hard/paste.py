"""A megabyte pasted into the prompt, as a terminal sends it: seconds until the next key is drawn.

`python -m docs.hard.paste`; it ends with 1 if a key takes longer than a second.
"""

import sys
import tempfile
from pathlib import Path
from threading import Thread

from docs.benchmark import say
from docs.benchmark.terminal import CHAT, Terminal, app
from tests.support import light_server

_MEGABYTE, _BAR = 1_000_000, 1.0
TEXTS = {
    "one word": "x" * _MEGABYTE,
    "words": "some words " * (_MEGABYTE // 11),
    "lines": "a line of a text\n" * (_MEGABYTE // 17),
    "blank lines": "\n" * _MEGABYTE,
    "tabs": "\t" * _MEGABYTE,
    "wide letters": "表" * (_MEGABYTE // 3),
    "accents": "e\u0301" * (_MEGABYTE // 3),
}


def pasted(opened: Terminal, text: str) -> float:
    """Paste the text, and return the seconds from the end of the paste until a key is drawn."""
    # A terminal takes so much only while its other side is read.
    paste = Thread(target=opened.press, args=(f"\x1b[200~{text}\x1b[201~".encode(),))
    paste.start()
    while paste.is_alive():
        opened.read_for(0.01)
    return opened.seconds_until("Ж".encode(), "Ж".encode())


def main() -> int:
    """Print how long a key takes after each text."""
    worst = 0.0
    for name, text in TEXTS.items():
        with tempfile.TemporaryDirectory() as folder:
            server = (sys.executable, light_server.__file__)
            with app(Path(folder) / "hard.db", "--", *server, rows=32) as opened:
                opened.press(CHAT)
                opened.read_until(b"Conversation")
                opened.settle()
                taken = pasted(opened, text)
        worst = max(worst, taken)
        say(f"1 MB of {name}: a key is drawn after {taken:.2f} s")
    return int(worst > _BAR)


if __name__ == "__main__":
    sys.exit(main())
