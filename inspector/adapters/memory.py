"""An in-memory fake of every port, for tests and offline use."""

from inspector.engine.ports import ApprovalRequest, Decision


class ManualClock:
    """A clock that moves only when it is told to. Starts at `at` seconds since 1970, UTC."""

    def __init__(self, at: float = 1_772_438_400.0) -> None:
        self.at = at

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return self.at

    def advance(self, seconds: float) -> None:
        self.at += seconds


class FixedApprover:
    """Gives the same answer every time, and remembers what it was asked."""

    def __init__(self, decision: Decision = Decision.ONCE) -> None:
        self.decision = decision
        self.asked: list[ApprovalRequest] = []

    async def ask(self, request: ApprovalRequest) -> Decision:
        self.asked.append(request)
        return self.decision
