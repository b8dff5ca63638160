"""Whether a person has approved what a configuration runs, and what has changed since."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from inspector.config.consent import ServerConsent, describe
from inspector.core.configuration import Configuration
from inspector.core.consent_item import ChangedFile, asking_files, changed_files
from inspector.core.store_ports import ServerMemory


@dataclass(frozen=True, slots=True)
class ConsentCheck:
    """Whether everything is approved.

    `changed` are the files that were other ones then, by server; `asking` are those that need consent again.
    """

    configuration: Configuration
    is_approved: bool
    changed: Mapping[str, tuple[ChangedFile, ...]]
    asking: tuple[ChangedFile, ...] = ()

    @property
    def question(self) -> tuple[ServerConsent, ...]:
        """What consent would allow. Trusted servers need none, whatever a scenario's settings name."""
        asked = replace(self.configuration, servers=()) if self.configuration.trusted else self.configuration
        return describe(asked, self.changed)


def check_consent(configuration: Configuration, memory: ServerMemory) -> ConsentCheck:
    """Compare what would run with what a person approved. Raises StoreError."""
    items = configuration.consent_items()
    known = memory.approved([item.id for item in items])
    again = [item for item in items if item.id in known]
    found = {item.server: changed_files(item.files, known[item.id]) for item in again}
    asking = tuple(file for item in again for file in asking_files(item.files, known[item.id]))
    is_approved = len(again) == len(items) and not asking
    return ConsentCheck(
        configuration, is_approved, {name: files for name, files in found.items() if files}, asking
    )


def approve(configuration: Configuration, memory: ServerMemory) -> None:
    """Remember a person's yes to all that the configuration runs now. Raises StoreError."""
    memory.approve(configuration.consent_items(), configuration.source)
