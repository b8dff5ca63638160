"""Puts pictures of a terminal one after the other into one SVG that plays by itself, in a loop."""

import re
from collections.abc import Sequence

_VIEW = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')


def animated(frames: Sequence[tuple[str, float]]) -> str:
    """Return one SVG of SVGs of equal size, each shown for its seconds. Raises ValueError without frames."""
    if not frames:
        raise ValueError("an animation needs a frame")
    found = _VIEW.search(frames[0][0])
    if found is None:
        raise ValueError("a frame has no viewBox")
    width, height = found.groups()
    total = sum(seconds for _, seconds in frames)
    rules, groups, start = [], [], 0.0
    for number, (picture, seconds) in enumerate(frames):
        rules.append(_rule(number, start / total * 100, (start + seconds) / total * 100, total))
        groups.append(f'<g class="frame f{number}">{picture}</g>')
        start += seconds
    style = "".join([".frame { visibility: hidden; }", *rules])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">'
        f"<style>{style}</style>{''.join(groups)}</svg>\n"
    )


def _rule(number: int, begin: float, end: float, total: float) -> str:
    """Show a frame between two shares of the whole time, in percent."""
    shown, hidden = "visibility: visible", "visibility: hidden"
    steps = [f"{begin:.3f}% {{ {shown} }}", f"{end:.3f}% {{ {hidden} }}"]
    if begin > 0:
        steps.insert(0, f"0% {{ {hidden} }}")
    timeline = " ".join(steps)
    return (
        f"@keyframes show{number} {{ {timeline} }}"
        f".f{number} {{ animation: show{number} {total:g}s step-end infinite; }}"
    )
