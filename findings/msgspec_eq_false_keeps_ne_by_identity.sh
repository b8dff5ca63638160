#!/usr/bin/env bash
# msgspec 0.23.0: of a Struct with eq=False and an __eq__ of its own, `a == b` and `a != b` can both be true.
#
# In Python a class that defines __eq__ alone gets the opposite of it for !=. So does a Struct with an __eq__ of its own,
# as long as it does not say eq=False. With it, the way that one says to a dataclass "I compare these myself", == asks the
# own __eq__ while != stays a comparison by identity: two equal values are also unequal, and code that asks `if new != old`
# takes every copy for a change. A type checker and the tests of == see nothing. An own __ne__ mends it.
#
# Seen ("equal, unequal" of two values of which the own __eq__ says that they are equal):
#   plain class: True, False
#   dataclass(eq=False): True, False
#   Struct: True, False
#   Struct, eq=False: True, True
#   Struct, eq=False, __ne__: True, False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check msgspec==0.23.0 2>log.txt
cat > compare.py <<'PY'
from dataclasses import dataclass

from msgspec import Struct


class ByName:
    def __eq__(self, other):
        return self.name == other.name


class Plain(ByName):
    def __init__(self, name, page):
        self.name, self.page = name, page


@dataclass(eq=False)
class Data(ByName):
    name: str
    page: int


class Usual(Struct):
    name: str
    page: int

    def __eq__(self, other):
        return self.name == other.name


class Own(Struct, eq=False):
    name: str
    page: int

    def __eq__(self, other):
        return self.name == other.name


class Both(Own, eq=False):
    def __ne__(self, other):
        return not self == other


kinds = {
    "plain class": Plain,
    "dataclass(eq=False)": Data,
    "Struct": Usual,
    "Struct, eq=False": Own,
    "Struct, eq=False, __ne__": Both,
}
for title, kind in kinds.items():
    one, other = kind("list_orders", 1), kind("list_orders", 2)
    print(f"{title}: {one == other}, {one != other}")
PY
env/bin/python compare.py | tee seen.txt
diff seen.txt - <<'SEEN'
plain class: True, False
dataclass(eq=False): True, False
Struct: True, False
Struct, eq=False: True, True
Struct, eq=False, __ne__: True, False
SEEN
