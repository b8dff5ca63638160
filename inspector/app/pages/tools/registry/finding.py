"""The search by meaning of the registry page: in one's own registry and, if wanted, in those of peers."""

from functools import partial
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Label, Static

from inspector.app.job import Job
from inspector.app.pages.tools.registry import content
from inspector.app.pages.tools.registry.filling import Filling
from inspector.domain.federation import Federated, Located
from inspector.engine.registry.library import RegistryLibrary
from widgets import RecordList

RESULTS = 50


class Finding(Filling):
    """A page with a list of tools that a search fills; `_found` is None while it lists the registry."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "ask", "find", id="registry.ask"),
        Binding("slash", "filter", "filter", id="registry.filter"),
        Binding("o", "peers", "peers too", id="registry.peers"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._found: tuple[Located, ...] | None = None
        self._query = ""
        self._with_peers = False

    @property
    def _list(self) -> RecordList:
        return self.query_one("#registry-tools", RecordList)

    @property
    def _located(self) -> Located | None:
        """The tool of a peer that is under the cursor."""
        current = self._list.current
        if current is None or not self._found:
            return None
        keys = {content.found_key(at, one): one for at, one in enumerate(self._found) if one.peer}
        return keys.get(current.key)

    def action_ask(self) -> None:
        """Go to the search."""
        self.query_one("#registry-query").focus()

    def action_filter(self) -> None:
        """Go to the filter of the list."""
        self.query_one("#registry-part").focus()

    def action_peers(self) -> None:
        """Include the registries of peers in the search, or leave them out again."""
        self._include(peers=not self._with_peers)
        if self._library is not None and self._query and self._found is not None:
            self._find(self._library, self._query)

    def _include(self, *, peers: bool) -> None:
        self._with_peers = peers
        self.query_one("#registry-asked", Label).update(content.ASK_PEERS if peers else content.ASK)

    def _find(self, library: RegistryLibrary, query: str) -> None:
        self._query = query
        self._list.empty = content.SEARCHING
        search = partial(_everywhere if self._with_peers else _here, library, query)
        self.run_job("find", search, partial(self._show_found, query), failed=self._not_found)

    def _not_found(self, error: Exception) -> None:
        self._include(peers=False)
        self.fail(error)

    def _show_found(self, query: str, done: Federated) -> None:
        self._found = done.found
        shown, with_peers = self._list, bool(done.answers)
        shown.empty = content.NOT_FOUND
        shown.columns = content.LOCATED if with_peers else content.FOUND
        shown.records = content.found_rows(done.found, with_peers=with_peers)
        self.query_one("#registry-left").border_title = content.found_title(len(done.found), query)
        self._tell(content.peer_line(done.answers) if with_peers else "")
        if done.found:
            shown.move_to(content.found_key(0, done.found[0]))

    def _tell(self, text: Content | str) -> None:
        """Say under the facts what peers answered; "" takes the line away."""
        line = self.query_one("#registry-peers", Static)
        line.update(text)
        line.display = bool(str(text))


def _here(library: RegistryLibrary, query: str, _job: Job) -> Federated:
    return Federated(tuple(Located("", one) for one in library.search(query, RESULTS)))


def _everywhere(library: RegistryLibrary, query: str, _job: Job) -> Federated:
    return library.federated(query, RESULTS)
