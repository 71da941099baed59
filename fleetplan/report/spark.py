"""Small line drawings beside the numbers of the first screen, as inline SVG."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from fleetplan.report.numbers import quantity

_WIDTH, _HEIGHT, _PAD = 160.0, 36.0, 3.0
Points = Sequence[tuple[str, float]]


def sparkline(name: str, points: Points, limit: Points = (), unit: str = "") -> Markup:
    """A line over the periods, with a second one for what there is; nothing where there is no trend."""
    if len(points) < 2:
        return Markup("")
    values = [value for _, value in (*points, *limit)]
    low, high = min(0.0, *values), max(values)
    first, last = points[0], points[-1]
    words = f"{name}: {quantity(first[1], unit)} in {first[0]}, {quantity(last[1], unit)} in {last[0]}"
    return Markup(
        '<svg class="spark" viewBox="0 0 {} {}" role="img" aria-label="{}" preserveAspectRatio="none">{}'
        '<path class="line" d="{}"/></svg>'
    ).format(
        int(_WIDTH),
        int(_HEIGHT),
        words,
        Markup('<path class="limit" d="{}"/>').format(_path(limit, low, high)) if limit else "",
        _path(points, low, high),
    )


def _path(points: Points, low: float, high: float) -> str:
    span = (high - low) or 1.0
    step = (_WIDTH - 2 * _PAD) / (len(points) - 1)
    places = (
        f"{_PAD + i * step:.1f} {_HEIGHT - _PAD - (value - low) / span * (_HEIGHT - 2 * _PAD):.1f}"
        for i, (_, value) in enumerate(points)
    )
    return "M" + "L".join(places)
