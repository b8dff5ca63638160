"""A priced session as JSON."""

from dataclasses import asdict
from typing import Any

from inspector.cli.cost.report import Priced
from inspector.session.setup.priced_session import PricedSession
from inspector.session.verdict import verdict
from inspector.tokens.cost.cache_preset import PRESETS, CachePreset
from inspector.tokens.cost.delivery_cost import Delivery, DeliveryCost, RequestCost, SessionCost, session_cost
from inspector.tokens.cost.plan import Plan


def priced_json(priced: Priced) -> dict[str, Any]:
    """Everything, including every request."""
    session = priced.session
    return {
        **session_json(session),
        "tokenizer": priced.tokenizer,
        "model": priced.model,
        "prices": None if session.prices is None else asdict(session.prices),
        "presets": [_preset_json(session.plan, preset) for preset in PRESETS],
    }


def session_json(session: PricedSession, *, requests: bool = True) -> dict[str, Any]:
    """A session's plan, its assumptions, and each delivery; `requests` lists each delivery's."""
    plan, found = session.plan, verdict(session)
    return {
        "basis": plan.basis,
        "tools": len(plan.tools),
        "tool_tokens": plan.tool_tokens,
        "overhead": asdict(plan.overhead),
        "steps": plan.steps,
        "terms": asdict(session.terms),
        "assumed": {name: getattr(session.assumed, name) for name in plan.assumed},
        "discovery": session.discovery,
        "saved": session.saved,
        "verdict": None if found is None else {"answer": found.answer, "text": found.text},
        "deliveries": [_delivery_json(session, cost, requests=requests) for cost in session.costs],
    }


def _delivery_json(session: PricedSession, cost: DeliveryCost, *, requests: bool) -> dict[str, Any]:
    found = (session.break_evens or {}).get(cost.delivery)
    return {
        "delivery": cost.delivery,
        "definitions": cost.cached.definitions,
        "definitions_and_searches": cost.cached.discovery_tokens,
        "input": cost.cached.raw,
        "cached": _cost_json(session, cost.cached, requests=requests),
        "uncached": _cost_json(session, cost.uncached, requests=False),
        "saved": session.saved_by(cost.delivery),
        "pays_from_tools": None if found is None else asdict(found),
    }


def _cost_json(session: PricedSession, cost: SessionCost, *, requests: bool) -> dict[str, Any]:
    listed = {"requests": [_request_json(request) for request in cost.requests]} if requests else {}
    return {
        "raw": cost.raw,
        "read": cost.read,
        "written": cost.written,
        "plain": cost.plain,
        "billed": cost.billed,
        "output": cost.output,
        "dollars": cost.dollars,
        "dollars_per_step": session.per_step(cost),
        "hit_rate": cost.hit_rate,
        "breaks": len(cost.breaks),
        **listed,
    }


def _request_json(request: RequestCost) -> dict[str, Any]:
    charge = request.charge
    return {
        "call": request.call,
        "definitions": request.definitions,
        "searches": request.searches,
        "raw": charge.tokens,
        "read": charge.read,
        "written": charge.written,
        "plain": charge.plain,
        "billed": request.billed,
        "output": request.output,
        "dollars": request.dollars,
        "broke": request.broke,
        "sent_again": request.again,
    }


def _preset_json(plan: Plan, preset: CachePreset) -> dict[str, Any]:
    billed = {each.value: session_cost(plan, each, preset.terms).billed for each in Delivery}
    return {**asdict(preset), "billed": billed}
