#!/usr/bin/env bash
# textual 8.2.8: a widget with two bases gets the styles of the first alone; a selector of the second never matches it.
#
# Python takes attributes and methods of a widget with two bases from both, in the order of its bases. DEFAULT_CSS and the
# type names that selectors match follow the first base only: what the second one declares in its DEFAULT_CSS, and rules of
# the app for its name, are ignored without a warning. The same two bases the other way round give the other half. So a
# mixin that brings behaviour and its look, as Python's idiom has it, loses its look, and query(Second), given the class
# itself, does not find a widget that isinstance says is one.
#
# Seen (border of First, padding of Second; a rule of the app for each name):
#   Both(First, Second): border round, padding 0; rule of First True, rule of Second False
#   Turned(Second, First): border none, padding 3; rule of First False, rule of Second True
#   query(Second): Turned
#   isinstance of Second: Both Turned
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check textual==8.2.8 2>log.txt
cat > bases.py <<'PY'
import asyncio

from textual.app import App
from textual.widgets import Static


class First(Static):
    DEFAULT_CSS = "First { border: round red; }"


class Second(Static):
    DEFAULT_CSS = "Second { padding: 3; }"


class Both(First, Second):
    pass


class Turned(Second, First):
    pass


class Form(App):
    CSS = "First { width: 21; } Second { height: 22; }"

    def compose(self):
        yield Both("a")
        yield Turned("b")


async def main():
    app = Form()
    async with app.run_test() as pilot:
        await pilot.pause()
        for kind in (Both, Turned):
            styles = app.query_one(kind).styles
            title = f"{kind.__name__}({', '.join(base.__name__ for base in kind.__bases__)})"
            look = f"border {styles.border.top[0] or 'none'}, padding {styles.padding.top}"
            width, height = (str(size) for size in (styles.width, styles.height))
            print(f"{title}: {look}; rule of First {width == '21'}, rule of Second {height == '22'}")
        print("query(Second):", *(type(one).__name__ for one in app.query(Second)))
        print("isinstance of Second:", *(type(one).__name__ for one in app.query("*") if isinstance(one, Second)))


asyncio.run(main())
PY
env/bin/python bases.py | tee seen.txt
diff seen.txt - <<'SEEN'
Both(First, Second): border round, padding 0; rule of First True, rule of Second False
Turned(Second, First): border none, padding 3; rule of First False, rule of Second True
query(Second): Turned
isinstance of Second: Both Turned
SEEN
