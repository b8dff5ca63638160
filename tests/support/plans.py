"""Plans of sessions as others have published them."""

from dataclasses import replace
from random import Random

from inspector.tokens.plan import Plan

_SEARCHED = (2, 7, 12, 17)
_FOUND = 3


def searched_early(plan: Plan) -> Plan:
    """The plan with four searches that take no call and no tokens of their own, before calls 2, 7, 12, 17."""
    drawn = Random(1).sample([tool.id for tool in plan.tools], len(_SEARCHED) * _FOUND)
    found = {call: tuple(drawn[place * _FOUND :][:_FOUND]) for place, call in enumerate(_SEARCHED)}
    calls = (
        replace(call, discovered=found.get(number, ()), seconds=20.0)
        for number, call in enumerate(plan.calls, start=1)
    )
    return replace(plan, calls=tuple(calls))
