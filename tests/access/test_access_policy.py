"""Access policies, and what of a server they reach."""

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from inspector.access.policy_file import load_policy
from inspector.access.reach import can_match, covers, reaches
from inspector.config.file import MEGABYTE
from inspector.core import access
from inspector.core.access import Grant, Scope, Sight, matches
from inspector.core.error import ConfigError
from tests.support.hostile import with_hostile_text

WHOLE = Path(__file__).with_name("policy.yaml").read_text(encoding="utf-8")


def written(folder: Path, text: str, name: str = "policy.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_policy_has_its_users_grants_and_experts(tmp_path: Path) -> None:
    policy = load_policy(written(tmp_path, WHOLE))
    assert [(user.name, user.organisation, user.roles) for user in policy.users.values()] == [
        ("ada", "acme", ("sales",)),
        ("bob", "acme", ()),
        ("eve", "globex", ()),
    ]
    assert [(one.scope, one.holder) for one in policy.grants] == [
        (Scope.ORGANISATION, "acme"),
        (Scope.ROLE, "sales"),
        (Scope.USER, "ada"),
        (Scope.USER, "eve"),
    ]
    assert policy.experts == {"billing": ("crm:*",)}
    assert policy.sight("ada", "billing").always_include == ("crm:find_*",)
    assert policy.sight("ada").always_include is None


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "organisations is missing", "at least one organisation"),
        ("organisation: {}", "organisation is not a known key", "Did you mean `organisations`?"),
        (WHOLE.replace("roles: [sales]", "roles: [sale]"), "ada.roles[0]: acme has no role", "`sales`"),
        (WHOLE.replace("eve:", "ada:"), "globex.users.ada is already a user of acme", "unique"),
        (WHOLE.replace("experts: {billing", "experts: {bills"), "no expert billing", "`bills`"),
        (WHOLE.replace("crm:find_*", "crm:[ab]"), "brackets are not allowed", "* matches"),
        (WHOLE.replace('"mail:send"', "3"), "tools[0] must be a string", "double quotes"),
        (WHOLE.replace('["calc:*"]', '"calc:*"'), "tools must be a list", "list of patterns"),
        (WHOLE.replace("mail:send", "send"), "cannot match a tool id", "SERVER:TOOL"),
        (WHOLE.replace("mail:send", "m" * 201 + ":*"), "longer than 200 characters", "SERVER:TOOL"),
        (WHOLE.replace("bob: {}", "bob: {role: [sales]}"), "bob.role is not a known key", "`roles`"),
        (WHOLE.replace("bob: {}", "ada: {}"), "ada appears twice", ""),
    ],
)
def test_a_fault_is_told_with_its_place(tmp_path: Path, text: str, message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load_policy(written(tmp_path, text))
    assert message in raised.value.message
    assert "policy.yaml" in raised.value.message
    assert hint in raised.value.hint


@pytest.mark.parametrize("name", ["policy.yaml", "policy.json"])
def test_a_policy_of_more_than_a_megabyte_is_refused_before_it_is_parsed(tmp_path: Path, name: str) -> None:
    text = WHOLE + " " * MEGABYTE
    with pytest.raises(ConfigError, match="larger than 1 MB") as refused:
        load_policy(written(tmp_path, text, name))
    assert "policy" in refused.value.hint


def test_a_few_lines_cannot_merge_into_endless_keys(tmp_path: Path) -> None:
    text = "x0: &x0 {a: 1}\n"
    for number in range(1, 30):
        text += f"x{number}: &x{number} {{<<: [{', '.join([f'*x{number - 1}'] * 4)}]}}\n"
    with pytest.raises(ConfigError, match="aliases repeat too much"):
        load_policy(written(tmp_path, text))


def test_a_user_twice_in_json_is_refused(tmp_path: Path) -> None:
    text = '{"organisations": {"a": {"users": {"ada": {}, "ada": {"tools": ["*"]}}}}}'
    with pytest.raises(ConfigError, match="appears twice"):
        load_policy(written(tmp_path, text, "policy.json"))


@with_hostile_text
def test_hostile_names_are_names_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    data = {"organisations": {"a": {"users": {text: {"tools": [f"s:{text}"]}}}}}
    path = written(tmp_path_factory.mktemp("p"), json.dumps(data), "policy.json")
    try:
        policy = load_policy(path)
    except ConfigError:
        return
    assert list(policy.users) == [text]


_text = st.text(alphabet="ab:_", max_size=5)
_pattern = st.text(alphabet="ab:_*?", min_size=1, max_size=6)
_patterns = st.lists(_pattern, min_size=1, max_size=3).map(tuple)


def sight(*patterns: str, allowlist: tuple[str, ...] | None = None) -> Sight:
    return Sight("ada", "", (Grant(Scope.USER, "ada", "acme", patterns),), allowlist)


@given(
    patterns=_patterns, allowlist=_patterns | st.none(), server=st.sampled_from(("a", "ab", "b_")), name=_text
)
def test_whatever_may_be_seen_is_of_a_server_that_is_reached(
    patterns: tuple[str, ...], allowlist: tuple[str, ...] | None, server: str, name: str
) -> None:
    one = sight(*patterns, allowlist=allowlist)
    if one.permits(f"{server}:{name}"):
        assert reaches(one, server)


@given(
    patterns=_patterns, allowlist=_patterns | st.none(), server=st.sampled_from(("a", "ab", "b_")), name=_text
)
def test_a_covered_server_has_no_tool_that_may_not_be_seen(
    patterns: tuple[str, ...], allowlist: tuple[str, ...] | None, server: str, name: str
) -> None:
    one = sight(*patterns, allowlist=allowlist)
    if covers(one, server):
        assert one.permits(f"{server}:{name}")


@given(patterns=_patterns, wanted=_pattern, tool_id=_text)
def test_a_pattern_that_shares_a_tool_with_the_sight_can_match(
    patterns: tuple[str, ...], wanted: str, tool_id: str
) -> None:
    one = sight(*patterns)
    if one.permits(tool_id) and matches(tool_id, (wanted,)):
        assert can_match(one, wanted)


def test_a_server_is_covered_by_patterns_that_leave_nothing_out() -> None:
    assert all(covers(sight(pattern), "crm") for pattern in ("*", "crm:*", "c*", "?rm:**", "*:*", "*m*"))
    assert not any(covers(sight(pattern), "crm") for pattern in ("crm:a*", "crm:", "*x*", "shop:*"))
    assert not covers(sight("*", allowlist=("crm:a",)), "crm")


def test_who_sees_everything_has_no_tool_compared_with_a_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def counted(tool_id: str, _patterns: object) -> bool:
        compared.append(tool_id)
        return False

    monkeypatch.setattr(access, "matches", counted)
    assert Sight().permits("shop:list")
    assert not compared
    assert not Sight(allowlist=("mail:*",)).permits("shop:list")
    assert compared == ["shop:list"]
