"""At which value of an input does a decision turn? Bisection on real plans, with confirming ones."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fleetplan.errors import InfeasibleError, UsageError
from fleetplan.progress import Silent

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from fleetplan.inputs.scenario import Scenario
    from fleetplan.progress import Progress
    from fleetplan.studies.decision import Decision
    from fleetplan.studies.workshop import Workshop

RESOLUTION = 0.005
"""Width of the final bracket, as a share of the value: below the 1 % at which it is confirmed."""
CONFIRM = 0.01
CURVE = 5
"""Plans over the interval before bisection: they make the curve and find turns inside."""
_OFFLOAD = re.compile(r"offload\[(?P<accelerator>[^\]]+)\]")
_SPEED = re.compile(r"speed\[(?P<accelerator>[^\]]+)\]")
_DELAY = re.compile(r"delay\[(?P<hall>[^\]]+)\]")


@dataclass(frozen=True)
class Point:
    """One plan on the curve; ``holds`` is ``None`` where there is no plan."""

    value: float
    measure: float | None
    holds: bool | None
    cost_musd: float | None
    note: str = ""


@dataclass(frozen=True)
class BreakEven:
    """Where a decision turns. ``bracket`` is the last pair of values between which it does."""

    path: str
    decision: Decision
    points: tuple[Point, ...]
    bracket: tuple[float, float] | None
    confirmed: tuple[Point, Point] | None

    @property
    def value(self) -> float | None:
        """The middle of the bracket; ``None`` where no value in the interval turns the decision."""
        return None if self.bracket is None else sum(self.bracket) / 2

    @property
    def is_confirmed(self) -> bool:
        """Whether plans at 1 % below and above the value decide differently."""
        return self.confirmed is not None and self.confirmed[0].holds is (not self.confirmed[1].holds)

    def frame(self) -> pd.DataFrame:
        """The curve: value, measure, holds, cost_musd, note, sorted by value."""
        import pandas as pd

        rows = sorted({*self.points, *(self.confirmed or ())}, key=lambda point: point.value)
        return pd.DataFrame([vars(point) for point in rows])

    def lines(self) -> list[str]:
        """The answer in a few sentences."""
        low, high = self.points[0].value, self.points[-1].value
        if self.bracket is None or self.value is None:
            seen = {point.holds for point in self.points}
            way = (
                "holds" if seen == {True} else "does not hold" if seen == {False} else "has no plan to judge"
            )
            return [
                f"No value of {self.path} from {low:g} to {high:g} turns '{self.decision}': it {way} "
                f"at all {len(self.points)} values tried."
            ]
        lines = [
            f"'{self.decision}' turns at {self.path} = {self.value:.4g} "
            f"(between {self.bracket[0]:.5g} and {self.bracket[1]:.5g})."
        ]
        if self.confirmed is not None:
            below, above = self.confirmed
            said = (
                "confirmed" if self.is_confirmed else "not confirmed: plans within the gap decide either way"
            )
            lines.append(
                f"At {below.value:.5g}: {_words(below)}; at {above.value:.5g}: {_words(above)}; {said}."
            )
        return lines


def breakeven(
    workshop: Workshop,
    path: str,
    low: float,
    high: float,
    decision: Decision,
    *,
    factor: bool = False,
    points: int = CURVE,
    progress: Progress | None = None,
) -> BreakEven:
    """Find the value of ``path`` in ``low..high`` at which ``decision`` turns.

    ``path`` is any path of the scenario (``*`` in brackets for all rows); with ``factor`` the values
    multiply what is there. ``delay[HALL]`` moves the power of a hall by whole quarters, and
    ``speed[ACCELERATOR]`` multiplies the rates that the step model gives an accelerator;
    ``offload[ACCELERATOR]`` is the part of its engines' benefit that is real: at 1 collectives leave
    compute alone as the constants say, at 0 both slow each other as on compute units. Every point
    is an audited plan. The first turn from the low end is followed. Raises ``UsageError`` for an
    empty interval, an unknown path, or a measure that plans lack.
    """
    if not low < high or points < 2:
        message = f"an interval needs low < high and two points, got {low:g}..{high:g} and {points}"
        raise UsageError(message)
    search = _Search(workshop, path, decision, factor, progress or Silent())
    grid = sorted({search.rounded(low + (high - low) * i / (points - 1)) for i in range(points)})
    curve = [search.at(value) for value in grid]
    turn = next((pair for pair in itertools.pairwise(curve) if _turns(*pair)), None)
    if turn is None:
        return BreakEven(path, decision, tuple(search.points()), None, None)
    below, above = search.narrowed(*turn)
    middle = (below.value + above.value) / 2
    around = (search.at(middle - CONFIRM * abs(middle)), search.at(middle + CONFIRM * abs(middle)))
    confirmed = (below, above) if search.whole else around
    return BreakEven(path, decision, tuple(search.points()), (below.value, above.value), confirmed)


def _turns(one: Point, other: Point) -> bool:
    return one.holds is not None and other.holds is not None and one.holds != other.holds


class _Search:
    """Plans at values, each made once."""

    def __init__(
        self, workshop: Workshop, path: str, decision: Decision, factor: bool, progress: Progress
    ) -> None:
        self.workshop, self.decision, self.progress = workshop.warmed(), decision, progress
        self.whole = _DELAY.fullmatch(path) is not None
        self.change = setter(path, factor=factor)
        speed = _SPEED.fullmatch(path)
        self.faster = None if speed is None else speed["accelerator"]
        offload = _OFFLOAD.fullmatch(path)
        self.offloads = None if offload is None else offload["accelerator"]
        special = factor or self.whole or self.faster is not None or self.offloads is not None
        self.change(workshop.base, 1.0 if special else _now_at(workshop.base, path))
        self.known: dict[float, Point] = {}

    def rounded(self, value: float) -> float:
        return float(round(value)) if self.whole else value

    def at(self, value: float) -> Point:
        value = self.rounded(value)
        if value not in self.known:
            self.known[value] = self._plan(value)
            self.progress.working("plans", len(self.known), 0, f"at {value:g}")
        return self.known[value]

    def _plan(self, value: float) -> Point:
        try:
            scenario = self.change(self.workshop.base, value)
            plan = self.workshop.plan(scenario, options=self._options(value))
        except InfeasibleError as error:
            return Point(value, None, None, None, f"no plan: {str(error).splitlines()[0]}")
        measure = self.decision.value(plan)
        return Point(value, measure, self.decision.holds(measure), plan.cost_musd)

    def _options(self, value: float) -> pd.DataFrame | None:
        """The step model's table with one accelerator changed, where that is what varies."""
        if self.offloads is not None:
            from fleetplan.studies.offload import options_with_offload

            return options_with_offload(self.workshop.base, self.offloads, value)
        if self.faster is None:
            return None
        table = self.workshop.options_of(self.workshop.base)
        here = table["accelerator"] == self.faster
        if not here.any():
            message = f"no training option uses {self.faster!r}"
            raise UsageError(message)
        rates = ["samples_per_s", "net_samples_per_s_per_rack"]
        return table.assign(**{name: table[name].where(~here, table[name] * value) for name in rates})

    def narrowed(self, below: Point, above: Point) -> tuple[Point, Point]:
        """Bisect until the bracket is narrow; a value without a plan ends it."""
        while above.value - below.value > self._width(below, above):
            middle = self.at((below.value + above.value) / 2)
            if middle.holds is None or middle.value in (below.value, above.value):
                break
            below, above = (middle, above) if middle.holds == below.holds else (below, middle)
        return below, above

    def _width(self, below: Point, above: Point) -> float:
        if self.whole:
            return 1.0
        return max(RESOLUTION * max(abs(below.value), abs(above.value)), 1e-12)

    def points(self) -> list[Point]:
        return sorted(self.known.values(), key=lambda point: point.value)


def setter(path: str, *, factor: bool) -> Callable[[Scenario, float], Scenario]:
    """How a value goes into a scenario: set, multiplied, or as quarters of delay of a hall."""
    from fleetplan.inputs.values import with_factor, with_value

    delay = _DELAY.fullmatch(path)
    if delay is not None:
        return lambda scenario, value: delayed(scenario, delay["hall"], round(value))
    if _SPEED.fullmatch(path) or _OFFLOAD.fullmatch(path):
        return lambda scenario, _: scenario
    if factor:
        return lambda scenario, value: with_factor(scenario, path, value)
    return lambda scenario, value: with_value(scenario, path, value)


def _now_at(scenario: Scenario, path: str) -> float:
    """The value that is there, to see early whether the path is one."""
    from fleetplan.inputs.paths_of_values import matching
    from fleetplan.inputs.values import value_at

    value = value_at(scenario, matching(scenario, path)[0] if "*" in path else path)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        message = f"{path} is {value!r}, not a number"
        raise UsageError(message)
    return float(value)


def delayed(scenario: Scenario, hall: str, quarters: int) -> Scenario:
    """The scenario with a hall's power that many quarters later (earlier where negative).

    What falls before the first stated quarter is the first value (earlier) or 0 (later); the last
    stated value goes on. ``UsageError`` for an unknown hall.
    """
    from fleetplan.inputs.names import did_you_mean

    rows = sorted((row for row in scenario.power if row.hall == hall), key=lambda row: row.quarter)
    if not rows:
        message = f"unknown hall {hall!r}: {did_you_mean(hall, sorted(scenario.halls))}"
        raise UsageError(message)
    moved = []
    for number, row in enumerate(rows):
        source = number - quarters
        origin = rows[min(max(source, 0), len(rows) - 1)]
        gone = source < 0 and quarters > 0
        values = {
            name: None if getattr(origin, name) is None else (0.0 if gone else getattr(origin, name))
            for name in ("facility_mw", "facility_mw_if_dates_slip", "facility_mw_if_dates_early")
        }
        moved.append(row.model_copy(update=values))
    others = [row for row in scenario.power if row.hall != hall]
    power = tuple(sorted([*others, *moved], key=lambda row: (row.hall, row.quarter)))
    return scenario.model_copy(update={"power": power})


def _words(point: Point) -> str:
    if point.holds is None:
        return point.note
    return f"it {'holds' if point.holds else 'does not hold'} ({point.measure:.4g})"
