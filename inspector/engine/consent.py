"""Whether a person has approved what a configuration runs, and what has changed since."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from inspector.domain.configuration import Configuration
from inspector.domain.consent import ServerConsent, describe
from inspector.domain.consent_item import ChangedFile, asks_again, changed_files
from inspector.engine.store_ports import ServerMemory


@dataclass(frozen=True, slots=True)
class ConsentCheck:
    """Whether everything is approved; `changed` are the files that were other ones then, by server."""

    configuration: Configuration
    is_approved: bool
    changed: Mapping[str, tuple[ChangedFile, ...]]

    @property
    def question(self) -> tuple[ServerConsent, ...]:
        """What consent would allow. Trusted servers need none, whatever a scenario's settings name."""
        asked = replace(self.configuration, servers=()) if self.configuration.trusted else self.configuration
        return describe(asked, self.changed)


def check_consent(configuration: Configuration, memory: ServerMemory) -> ConsentCheck:
    """Compare what would run with what a person approved. Raises StoreError."""
    items = configuration.consent_items()
    known = memory.approved([item.id for item in items])
    is_approved = all(item.id in known and not asks_again(item.files, known[item.id]) for item in items)
    found = {item.server: changed_files(item.files, known[item.id]) for item in items if item.id in known}
    return ConsentCheck(configuration, is_approved, {name: files for name, files in found.items() if files})


def approve(configuration: Configuration, memory: ServerMemory) -> None:
    """Remember a person's yes to all that the configuration runs now. Raises StoreError."""
    memory.approve(configuration.consent_items(), configuration.source)
