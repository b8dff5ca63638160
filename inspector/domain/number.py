"""Numbers as people read them: short, with their unit once."""


def tokens(count: int) -> str:
    """212, 4.1k, 128k, 1.2M."""
    if abs(count) >= 1_000_000:
        return f"{count / 1_000_000:.1f}M"
    if abs(count) < 1000:
        return str(count)
    return f"{count / 1000:.1f}k".replace(".0k", "k")


def milliseconds(value: float) -> str:
    """6 ms, 1.2 s."""
    return f"{value / 1000:.1f} s" if value >= 1000 else f"{value:.0f} ms"


def percent(fraction: float) -> str:
    """78 %."""
    return f"{fraction * 100:.0f} %"
