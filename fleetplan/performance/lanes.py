"""A step on its lanes: compute, scale-up, scale-out or offload engine; and its critical path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fleetplan.performance.evaluate import Evaluation
    from fleetplan.performance.schedule import Phase


@dataclass(frozen=True)
class Segment:
    """A bar of the timeline; times in ms from the step's start, at the cap."""

    lane: str
    name: str
    phase: str
    start_ms: float
    end_ms: float
    exposed_ms: float = 0.0


def segments(made: Evaluation) -> list[Segment]:
    """Bars of one step, phase after phase; collectives of a phase share their lane in order."""
    scale = 1e3 * float(made.straggler[0]) / float(made.speed[0])
    clock, bars = 0.0, list[Segment]()
    for phase in made.schedule.phases:
        bars += _phase_bars(made, phase, clock, scale)
        clock += float(phase.seconds[0]) * scale
    total = float(made.step_seconds[0]) * 1e3
    floor = float(made.floor) * 1e3 / float(made.speed[0])
    if total - floor > clock + 1e-9:
        bars.append(Segment("host", "waiting for hosts", "host", clock, total - floor))
    bars.append(Segment("host", "floor", "floor", total - floor, total))
    return bars


def _phase_bars(made: Evaluation, phase: Phase, start: float, scale: float) -> list[Segment]:
    """Compute fills the phase's head; collectives run from its start and may stretch to its end."""
    length = float(phase.seconds[0]) * scale
    compute = float(phase.compute[0]) * scale
    bars = (
        [Segment("compute", phase.name, phase.name, start, start + min(compute, length))]
        if compute > 0
        else []
    )
    wire = sum(float(item.seconds[0]) for item in phase.items) * scale
    if wire <= 0:
        return bars
    stretch = length / wire if wire > length or compute < length else 1.0
    at = start
    for item in phase.items:
        own = float(item.seconds[0]) * scale * stretch
        if own > 0:
            exposed = float(phase.exposed[item.name][0]) * scale
            bars.append(Segment(_lane(made), item.name, phase.name, at, at + own, exposed))
            at += own
    return bars


def _lane(made: Evaluation) -> str:
    if made.rates.is_offloaded:
        return "offload engine"
    return "scale-out" if made.devices[0] > made.rates.domain else "scale-up"


def critical_path(made: Evaluation) -> list[str]:
    """What the step waits for, in order: in each phase its compute or its longest exposed collective."""
    path: list[str] = []
    for phase in made.schedule.phases:
        exposed = {name: float(value[0]) for name, value in phase.exposed.items()}
        compute = float(phase.compute[0])
        if compute > 0:
            path.append(phase.name)
        if exposed and (longest := max(exposed, key=lambda name: exposed[name])) and exposed[longest] > 0:
            path.append(longest.replace("_", " "))
    slowest = max(float(made.parts.loading[0]), float(made.parts.host_optimizer[0]))
    hosts = ["hosts"] if slowest > float(made.schedule.critical[0]) else []
    return hosts or [*path, "floor"]
