"""What is declared to a server: in the protocol's form, in words, and by the server's own entry."""

import pytest
from hypothesis import given, strategies as st

from inspector.config.configuration import declared, protocol_form, setting_values
from inspector.config.setting import with_values
from inspector.core.server import ServerSpec
from inspector.core.settings import ClientCapabilities, Settings

clients = st.builds(
    ClientCapabilities,
    *(st.booleans() for _ in range(5)),
    name=st.sampled_from(("", "other")),
    version=st.sampled_from(("", "2.1")),
)


@pytest.mark.parametrize(
    ("client", "elicitation"),
    [
        (ClientCapabilities(links=False), {"form": {}}),
        (ClientCapabilities(forms=False), {"url": {}}),
        (ClientCapabilities(forms=False, links=False), None),
    ],
)
def test_each_way_of_asking_is_declared_by_itself(client: ClientCapabilities, elicitation: object) -> None:
    assert protocol_form(client).get("elicitation") == elicitation


def test_a_servers_own_entry_overrides_what_is_declared_to_all() -> None:
    spec = ServerSpec("a", "a", client={"roots": False, "sampling": True})
    assert declared(ClientCapabilities(), spec) == ClientCapabilities(roots=False, sampling=True)


@given(clients)
def test_the_settings_of_a_client_declare_exactly_that_client(client: ClientCapabilities) -> None:
    assert with_values(Settings(), setting_values(client)).client == client
