"""What events of the session itself change: settings, messages, turns."""

import re

from inspector.core.events import (
    MilestoneReached,
    ModelSwitched,
    SessionStarted,
    SettingsChanged,
    SettingsChecked,
    TurnEnded,
    UserSaid,
)
from inspector.core.fold.inertia import with_message
from inspector.core.fold.step import evolve, step
from inspector.core.session import ServerState, SessionState

# A question mark that ends a sentence, and not one inside an address.
_QUESTION = re.compile(r"[?？؟](?=$|[\s\"'”’»)*_])")


@step.register
def _session_started(event: SessionStarted, state: SessionState) -> SessionState:
    return evolve(
        state,
        config=event.config,
        model=event.model,
        model_label=event.model_label,
        window=event.window,
        toolset=event.toolset,
        profile=event.profile,
        settings=event.settings,
        trusted_servers=frozenset(event.trusted),
        user=event.user,
        expert=event.expert,
        is_restricted=event.restricted,
        servers={name: ServerState(name) for name in event.servers},
    )


@step.register
def _settings_changed(event: SettingsChanged, state: SessionState) -> SessionState:
    return evolve(state, profile=event.profile, settings=event.settings)


@step.register
def _settings_checked(event: SettingsChecked, state: SessionState) -> SessionState:
    return evolve(state, problems=event.problems)


@step.register
def _milestone_reached(event: MilestoneReached, state: SessionState) -> SessionState:
    return evolve(state, milestones=tuple(dict.fromkeys((*state.milestones, event.name))))


@step.register
def _model_switched(event: ModelSwitched, state: SessionState) -> SessionState:
    return evolve(state, model=event.model, model_label=event.label, window=event.window)


@step.register
def _user_said(_event: UserSaid, state: SessionState) -> SessionState:
    return evolve(state, busy=True, turn_retries=0, inertia=with_message(state.inertia))


@step.register
def _turn_ended(event: TurnEnded, state: SessionState) -> SessionState:
    """A turn that ends after a rejection ends without recovery: with a question to the user, or without."""
    asks = state.recovering and event.outcome == "answered" and bool(_QUESTION.search(event.text))
    return evolve(state, busy=False, recovering=False, asked=state.asked + asks)
