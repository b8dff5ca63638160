#!/usr/bin/env bash
# msgspec 0.23.0: `rename=` of a Struct leaves the fields that it inherits as they are, also those that it names.
#
# A base class with the common fields and `rename="camel"` on those that go over the wire gives JSON in two styles: only the
# class's own fields are renamed. A mapping that names an inherited field is accepted and changes nothing, though a wrong
# option of a Struct is an error elsewhere. To declare the field again, or to rename in the base, which the class then inherits, works.
#
# Seen (JSON of a Struct that inherits `user_id` and has `full_name`):
#   rename="camel": {"user_id":1,"fullName":"Ada"}
#   rename={"user_id": "id"}: {"user_id":1,"full_name":"Ada"}
#   declared again: {"userId":1,"fullName":"Ada"}
#   renamed in the base: {"userId":1,"fullName":"Ada"}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check msgspec==0.23.0 2>log.txt
cat > rename.py <<'PY'
import msgspec
from msgspec import Struct


class Base(Struct):
    user_id: int


class Camel(Base, rename="camel"):
    full_name: str


class Mapped(Base, rename={"user_id": "id"}):
    full_name: str


class Again(Base, rename="camel"):
    user_id: int
    full_name: str


class Renamed(Struct, rename="camel"):
    user_id: int


class OfRenamed(Renamed):
    full_name: str


kinds = {
    'rename="camel"': Camel,
    'rename={"user_id": "id"}': Mapped,
    "declared again": Again,
    "renamed in the base": OfRenamed,
}
for title, kind in kinds.items():
    print(f"{title}: {msgspec.json.encode(kind(1, 'Ada')).decode()}")
PY
env/bin/python rename.py | tee seen.txt
diff seen.txt - <<'SEEN'
rename="camel": {"user_id":1,"fullName":"Ada"}
rename={"user_id": "id"}: {"user_id":1,"full_name":"Ada"}
declared again: {"userId":1,"fullName":"Ada"}
renamed in the base: {"userId":1,"fullName":"Ada"}
SEEN
