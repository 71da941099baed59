"""Writes the traces of a job whose steps follow a schedule of the step model, with noise.

The schedule gives phases, each compute beside collectives. Here they are run by their own small
simulation: while both last, compute goes at kc and the collective at km of its rate alone; what is
left goes on alone. So kernels and calls that the fit must take back to isolation are stretched as the
model says, by arithmetic that shares nothing with the code under test.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from trace_writer import TraceWriter, nccl_arguments

KERNEL_NAMES = {
    "gemm": "sm90_xmma_gemm_bf16bf16_bf16f32_{}",
    "embedding": "split_embedding_codegen_forward_{}",
    "embedding backward": "split_embedding_backward_codegen_{}",
    "attention": "hstu_attn_fwd_kernel_{}",
    "attention backward": "hstu_attn_bwd_kernel_{}",
    "elementwise": "void at::native::vectorized_elementwise_kernel_{}",
}
PIECES = 10


@dataclass(frozen=True)
class Wire:
    """A collective: isolated microseconds, and the rates while it runs beside compute."""

    collective: str
    us: float
    bytes: float
    kc: float
    km: float
    stays: bool = False
    """Whether it may still run when the next phase starts."""


@dataclass(frozen=True)
class PhaseWork:
    """Isolated microseconds by kernel family, and the collectives that start with the phase.

    ``wait_share`` is the share of a staying collective that must be done before the phase ends.
    """

    name: str
    kernels: dict[str, float]
    wires: list[Wire] = field(default_factory=list)
    wait_share: float = 1.0


@dataclass
class JobWriter:
    """One job: phases of a step, ranks with their own speed, a floor, and a noise of ``noise``."""

    phases: list[PhaseWork]
    ranks: list[float]
    """Compute time of each traced rank over the mean rank's."""
    world_size: int
    group: int
    floor_us: float
    barrier_us: float
    steps: int = 6
    noise: float = 0.01
    seed: int = 0
    straggler: float = 1.0
    """Slowest over mean time of the ranks' own work, set when the traces are written."""

    def write(self, folder: Path) -> list[Path]:
        """One file per rank."""
        random = np.random.default_rng(self.seed)
        writers = [TraceWriter(rank=rank, world_size=self.world_size) for rank in range(len(self.ranks))]
        clock = 0.0
        spread = []
        for step in range(self.steps):
            ends = [
                self._step(writer, speed, clock, step, random)
                for writer, speed in zip(writers, self.ranks, strict=True)
            ]
            spread.append((max(ends) - clock) / (float(np.mean(ends)) - clock))
            together = max(ends) + self.barrier_us
            floor = self.floor_us * self._jitter(random)
            for writer, end in zip(writers, ends, strict=True):
                arguments = nccl_arguments("allreduce", (256, 256), "Float", self.group)
                writer.kernel(
                    "ncclDevKernel_AllReduce", end, together - end, stream=30, launched=clock, **arguments
                )
                writer.step(step, clock, together + floor - clock)
            clock = together + floor
        self.straggler = float(np.mean(spread))
        return [writer.write(folder / f"rank{i}.json") for i, writer in enumerate(writers)]

    def _jitter(self, random: np.random.Generator) -> float:
        return float(np.exp(self.noise * random.standard_normal()))

    def _step(
        self, writer: TraceWriter, speed: float, start: float, step: int, random: np.random.Generator
    ) -> float:
        lane = _Lane(writer, start, start)
        for phase in self.phases:
            for wire in phase.wires:
                lane.call(wire, wire.us * self._jitter(random), self.group)
            for family, length in phase.kernels.items():
                piece = length * speed / PIECES
                for _ in range(PIECES):
                    name = KERNEL_NAMES[family].format(phase.name)
                    lane.compute(name, piece * self._jitter(random), self.group)
            lane.wait(phase.wait_share, self.group)
        return lane.clock


@dataclass
class _Running:
    wire: Wire
    started: float
    left: float
    whole: float


@dataclass
class _Lane:
    """Two streams of one rank; the compute stream's clock leads."""

    writer: TraceWriter
    clock: float
    launched: float
    queue: list[_Running] = field(default_factory=list)

    def call(self, wire: Wire, length: float, _group: int) -> None:
        """Put a collective on its stream."""
        if length > 0:
            self.queue.append(_Running(wire, self.clock, length, length))

    def compute(self, name: str, work: float, group: int) -> None:
        """Run one kernel, beside whatever the other stream runs."""
        if work <= 0:
            return
        start, left = self.clock, work
        while left > 1e-9:
            if not self.queue:
                self.clock += left
                left = 0.0
                break
            now = self.queue[0]
            side = min(left / now.wire.kc, now.left / now.wire.km)
            left -= side * now.wire.kc
            self._advance(side, now.wire.km, group)
        self.writer.kernel(name, start, self.clock - start, launched=self.launched)

    def wait(self, share: float, group: int) -> None:
        """Run the other stream alone: all of it, but for what may stay beyond this phase."""
        while self.queue:
            now = self.queue[0]
            keep = (1 - share) * now.whole if now.wire.stays else 0.0
            if now.left <= keep + 1e-9:
                return
            self._advance(now.left - keep, 1.0, group)

    def _advance(self, seconds: float, rate: float, group: int) -> None:
        now = self.queue[0]
        self.clock += seconds
        now.left -= seconds * rate
        if now.left <= 1e-6:
            self.queue.pop(0)
            elements = round(now.wire.bytes / 4)
            arguments = nccl_arguments(now.wire.collective, (elements, elements), "Float", group)
            length = self.clock - now.started
            self.writer.kernel(
                "ncclDevKernel_Generic", now.started, length, stream=30, launched=self.launched, **arguments
            )
            for later in self.queue:
                later.started = max(later.started, self.clock)
