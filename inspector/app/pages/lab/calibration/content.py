"""The texts of the calibration page: the curve, a row for each threshold, and advice."""

from collections.abc import Mapping

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.app.draw.plot import Axis, Curve, plot
from inspector.core.number import bar, count, percent
from inspector.measure.calibrate import HYBRID, Calibration, Point
from inspector.measure.ranker_bench import NOTHING
from inspector.measure.run import Share
from widgets import Column, Record

BEST, NOW, CAUTIOUS = ("★", "$success"), ("●", "$primary"), ("◆", "$secondary")
KINDS: Mapping[str, str] = {"hybrid": "confidence", "dense": "cosine", "iso": "cosine"}
COLUMNS = (
    Column("mark", "", width=2, weight=9),
    Column("threshold", "threshold", align="right", weight=10),
    Column("bar", width=8, weight=2, hide_below=64),
    Column("f1", "F1", align="right", weight=9),
    Column("precision", "precision", align="right", weight=5),
    Column("recall", "recall", align="right", weight=6),
    Column("yes", "false yes", align="right", weight=8),
    Column("no", "false no", align="right", weight=8),
)


def before() -> Content:
    """Return what the page is for, while nothing is measured."""
    what = "how sure a search must be before it answers. It ranks every labelled request once."
    return Content.assemble(("r measures", "bold $accent"), f"   {what}\n\n")


def progress(ranker: str, done: int, total: int) -> Content:
    """Return the progress while requests are ranked."""
    return Content.assemble(
        ("Calibrating ", MUTED),
        (ranker, "bold"),
        f"   {done} of {count(total, 'request')}",
        ("   esc stops", MUTED),
        "\n\n",
    )


def facts(found: Calibration, now: float | None) -> Content:
    """Return what was measured, the notable thresholds and the advice, in three lines."""
    title = Content.assemble(
        (found.ranker, "bold"),
        f": {KINDS[found.ranker]} threshold",
        (f"   {found.possible} possible, {found.impossible} impossible requests", MUTED),
    )
    marks = [
        Content.assemble(
            BEST, f" {'found, ' if found.ranker == HYBRID else ''}best F1 {found.best.threshold:.2f}"
        ),
        *([] if now is None else [Content.assemble(NOW, f" now {now:.2f}")]),
        _cautious(found),
    ]
    return Content("\n").join([title, Content("   ").join(marks), _advice(found)])


def _cautious(found: Calibration) -> Content:
    most = f"refuses at most {percent(found.max_refused)}"
    if found.cautious is None:
        return Content.styled(f"no threshold {most}", MUTED)
    name = "closest " if found.ranker == HYBRID else ""
    return Content.assemble(CAUTIOUS, f" {name}{found.cautious.threshold:.2f}, {most}")


def _advice(found: Calibration) -> Content:
    if found.is_at_edge:
        text = "⚠ The best threshold is at the edge of the range, so these requests cannot pin it down."
        return Content.styled(text, "$text-warning")
    if found.dataset == "generated":
        text = "⚠ Measured on generated requests, which are easier than real ones. Treat it as a guess."
        return Content.styled(text, "$text-warning")
    return Content.assemble("press ", ("a", "bold $text-accent"), " to apply the threshold under the cursor")


def rows(found: Calibration, now: float | None) -> tuple[Record, ...]:
    """Return one row per threshold; `y` copies its line of configuration."""
    return tuple(
        Record(
            f"{point.threshold:g}",
            (
                _mark(point, found, now),
                f"{point.threshold:.2f}",
                Content.styled(bar(point.f1, 8), "$primary"),
                f"{point.f1:.3f}",
                NOTHING if point.precision is None else f"{point.precision:.3f}",
                f"{point.recall:.3f}",
                _share(point.answered_impossible),
                _share(point.refused_possible),
            ),
            copy=found.line(point.threshold),
        )
        for point in found.points
    )


def _mark(point: Point, found: Calibration, now: float | None) -> Content:
    """Return at most two signs, of the best, the current and the cautious threshold."""
    nearest = min(found.points, key=lambda other: abs(other.threshold - (now or 0.0)))
    signs = [
        sign
        for sign, is_here in (
            (BEST, point is found.best),
            (NOW, now is not None and point is nearest),
            (CAUTIOUS, point is found.cautious),
        )
        if is_here
    ]
    return Content.assemble(*signs[:2])


def curve(found: Calibration, now: float | None, cursor: float, width: int, height: int) -> Content:
    """Return F1, precision and recall over the threshold with their legend, in `height` lines."""
    curves = (
        Curve("F", [point.f1 for point in found.points], "$success"),
        Curve("P", [point.precision for point in found.points], "$primary", drawn=3, period=5),
        Curve("R", [point.recall for point in found.points], "$warning", drawn=1, period=3),
    )
    marks = {found.best.threshold: BEST}
    if now is not None:
        marks.setdefault(now, NOW)
    if found.cautious is not None:
        marks.setdefault(found.cautious.threshold, CAUTIOUS)
    axis = Axis(found.points[0].threshold, found.points[-1].threshold, marks, cursor)
    legend = Content.assemble(
        ("F", "bold $success"),
        " F1, solid  ",
        ("P", "bold $primary"),
        " precision, dashed  ",
        ("R", "bold $warning"),
        " recall, dotted",
    )
    return Content("\n").join([legend, plot(curves, axis, width, max(height - 4, 4))])


def _share(value: Share | None) -> str:
    return NOTHING if value is None else percent(value.value)
