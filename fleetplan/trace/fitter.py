"""The fit itself: one group of constants after the other, each to the part of the step that shows it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from fleetplan.errors import UsageError
from fleetplan.trace.columns import Float
from fleetplan.trace.estimate import LEAST_NOISE, Estimate, estimate
from fleetplan.trace.fit import FittedConstant
from fleetplan.trace.fit_links import cells, fit_links
from fleetplan.trace.fit_parts import (
    DENSE_KINDS,
    IDLE_COLUMNS,
    family_seconds,
    hidden_share,
    mean_and_error,
    modelled_seconds,
    whole_steps,
)
from fleetplan.trace.measured_step import MeasuredStep, measured_step

if TYPE_CHECKING:
    from fleetplan.inputs.accelerator import Accelerator
    from fleetplan.inputs.architecture import Model
    from fleetplan.performance.constants import Constants
    from fleetplan.performance.evaluate import Evaluation, Settings
    from fleetplan.performance.rates import Rates
    from fleetplan.trace.report import TraceReport

_FAMILY_CONSTANT = {
    "gemm": "gemm_workload_share",
    "embedding": "embedding_forward_share",
    "embedding backward": "embedding_backward_share",
    "attention": "attention_forward_share",
    "attention backward": "attention_backward_share",
    "elementwise": "elementwise_maturity",
}
_TRAINING_SHARES = ("training_alltoall_share", "training_reduce_share", "training_gather_share")
_NEVER_SEEN = {
    "kernel_fixed_us": "its cost is inside the kernels' durations; two batch sizes would part them",
    "gemm_peak_share": "only its product with gemm_workload_share shows",
    "compute_maturity": "only its product with gemm_workload_share shows",
    "embedding_maturity": "only its products with the embedding shares show",
    "training_alltoall_share": "set to 1: only its product with the link's share shows",
    "training_reduce_share": "set to 1: only its product with the link's share shows",
    "training_gather_share": "set to 1: only its product with the link's share shows",
    "alltoall_per_rank_us": "one group size: it shows inside alltoall_fixed_us",
    "scaleout_hop_us": "one group size: it shows inside scaleout_fixed_us",
    "chunk_fixed_us": "the traced schedule does not vary the number of chunks",
    "jitter_cv": "it shows only as waiting for slower ranks, in model.straggler_factor",
    "wait_power_share": "a trace holds no power",
}
_CONTENTION_KINDS = {
    "alltoall": ("all-to-all",),
    "allreduce": ("all-reduce",),
    "allgather": ("all-gather", "reduce-scatter"),
}
_GRID = np.linspace(0.0, 1.0, 41)


@dataclass
class Fitter:
    """The state of one fit: settings and model as fitted so far, and what was found."""

    report: TraceReport
    model: Model
    accelerator: Accelerator
    settings: Settings
    devices: int
    local_batch: int
    step: MeasuredStep
    found: list[FittedConstant] = field(default_factory=list)
    _compute_rates: dict[str, float] = field(default_factory=dict)
    _wire_rates: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        report: TraceReport,
        model: Model,
        accelerator: Accelerator,
        local_batch: int | None,
        devices: int | None,
        settings: Settings | None,
    ) -> Fitter:
        """Start from the constants as they are."""
        from fleetplan.performance.constants import load_constants
        from fleetplan.performance.evaluate import Settings as Made

        count = devices or int(report.ranks["world_size"].max())
        if not count:
            message = "the trace does not say how many ranks the job has: state the devices"
            raise UsageError(message)
        chosen = settings or Made()
        chosen = replace(chosen, constants=chosen.constants or load_constants())
        batch = local_batch or model.local_batch
        return cls(report, model, accelerator, chosen, count, batch, measured_step(report))

    def run(self) -> None:
        """Fit every group, in the order in which they need each other."""
        self._contention()
        self._links()
        self._kernels()
        self._floor()
        self._stragglers()
        self._overlap_shares()
        for name, why in _NEVER_SEEN.items():
            self._miss(name, why)

    def narrowed(self) -> Settings:
        """The settings, with the intervals of the constants that the trace fixed."""
        from fleetplan.performance.constants import Constants as Made

        fixed = {known.key: known for known in self.found if known.identified}
        rows = [
            replace(row, low=fixed[row.key].low, high=fixed[row.key].high, status="derived", source="trace")
            if row.key in fixed
            else row
            for row in self.constants.rows
        ]
        return replace(self.settings, constants=Made(rows, self.constants.analogues))

    def evaluate(self, model: Model | None = None, settings: Settings | None = None) -> Evaluation:
        """The step with what is fitted so far."""
        from fleetplan.performance.evaluate import evaluate

        return evaluate(
            model or self.model,
            self.accelerator,
            devices=self.devices,
            local_batch=self.local_batch,
            settings=settings or self.settings,
        )

    def step_ms(self) -> float:
        """The step with what is fitted so far, ms."""
        return float(self.evaluate().step_seconds[0]) * 1e3

    @property
    def rates(self) -> Rates:
        """Rates with what is fitted so far."""
        return self.settings.rates(self.model, self.accelerator)

    @property
    def constants(self) -> Constants:
        """Constants with what is fitted so far."""
        return self.rates.constants

    def _value(self, name: str) -> float:
        return float(self.rates[name])

    def _with_values(self, values: dict[str, float]) -> Settings:
        context = self.rates.context
        keyed = {self.constants.get(name, context).key: value for name, value in values.items()}
        return replace(self.settings, constants=self.constants.with_values(keyed))

    def _keep(self, result: Estimate, source: str) -> None:
        """Note an estimate; the settings take it where it is identified."""
        scope = self.constants.get(result.name, self.rates.context).scope
        within = f"; fixed only to within a factor of {math.exp(2 * result.log_sd):.2g}"
        words = source if result.is_identified else source + within
        impossible = result.name.endswith("_share") and result.low > 1
        if impossible:
            words = f"{source}; more than the device can do: wrong model or batch, or kernels missing"
        fixed = result.is_identified and not impossible
        numbers = (result.prior, result.value, result.low, result.high)
        self.found.append(FittedConstant(result.name, scope, *numbers, fixed, words))
        if fixed:
            self.settings = self._with_values({result.name: result.value})

    def _keep_model(self, name: str, value: float, error: float, source: str) -> None:
        """Note a property of the model; ``error`` is one standard error, absolute."""
        prior = float(getattr(self.model, name))
        fixed = error <= 0.1 * max(value, 0.5)
        ends = (value - 2 * error, value + 2 * error)
        self.found.append(FittedConstant(f"model.{name}", "", prior, value, *ends, fixed, source))
        if fixed:
            self.model = self.model.model_copy(update={name: value})

    def _miss(self, name: str, why: str) -> None:
        """Note a constant that the trace does not tell."""
        constant = self.constants.find(name, self.rates.context)
        if constant is not None and all(known.name != name for known in self.found):
            numbers = (constant.value, constant.value, constant.low, constant.high)
            self.found.append(FittedConstant(name, constant.scope, *numbers, False, why))

    def _miss_model(self, name: str, why: str) -> None:
        prior = float(getattr(self.model, name))
        self.found.append(FittedConstant(f"model.{name}", "", prior, prior, prior, prior, False, why))

    def _contention(self) -> None:
        """Rates side by side, from kernels and calls that ran both ways."""
        for short, kinds in _CONTENTION_KINDS.items():
            self._compute_rates |= dict.fromkeys(
                kinds, self._side("compute", f"overlap_compute_{short}", kinds)
            )
            self._wire_rates |= dict.fromkeys(
                kinds, self._side("communication", f"overlap_comm_{short}", kinds)
            )

    def _side(self, side: str, name: str, kinds: tuple[str, ...]) -> float:
        table = self.report.contention
        seen = table[(table["side"] == side) & table["collective"].isin(kinds) & (table["events"] > 0)]
        if seen.empty:
            self._miss(name, "no kernel or call ran both alone and beside the other")
            return self._value(name)
        best = seen.sort_values("standard_error").to_dict(orient="records")[0]
        rate = min(max(float(best["rate"]), 0.05), 1.0)
        error = max(float(best["standard_error"]), LEAST_NOISE) / rate
        source = f"{best['events']} events alone and beside ({best['collective']})"
        self._keep(Estimate(name, self._value(name), rate, min(error, 1.0)), source)
        return self._value(name)

    def _links(self) -> None:
        """Link shares and fixed costs, from the calls whose size and group are known."""
        found = cells(self.report, self._wire_rates)
        self.settings = self._with_values(dict.fromkeys(_TRAINING_SHARES, 1.0))
        calls = sum(cell.calls for cell in found)
        for result in fit_links(found, self.rates):
            self._keep(result, f"{calls} calls of {len(found)} kinds, sizes and groups")

    def _kernels(self) -> None:
        """Efficiencies of kernels, from the isolated time of each family."""
        for family, name in _FAMILY_CONSTANT.items():
            measured, error, samples = family_seconds(self.report, family, self._compute_rates)
            if not modelled_seconds(family, self.evaluate()):
                self._miss(name, f"the model has no {family} kernels")
            elif not measured:
                self._miss(name, f"the trace has no {family} kernels")
            else:
                result = self._kernel(family, name, measured, error)
                self._keep(result, f"{samples} steps, {measured * 1e3:.3f} ms of {family} kernels each")

    def _kernel(self, family: str, name: str, measured: float, error: float) -> Estimate:
        def predict(values: dict[str, float]) -> Float:
            return np.array([modelled_seconds(family, self.evaluate(settings=self._with_values(values)))])

        return estimate([name], [self._value(name)], predict, np.array([measured]), np.array([error]))[0]

    def _floor(self) -> None:
        """The fixed time of a step: what neither compute nor communication fills."""
        steps = self.report.steps.merge(whole_steps(self.report), on=["rank", "step"])
        mean, error = mean_and_error(steps[IDLE_COLUMNS].sum(axis=1))
        if mean > 0:
            result = Estimate("step_floor_ms", self._value("step_floor_ms"), mean, max(error, LEAST_NOISE))
            self._keep(result, f"idle time of {len(steps)} steps")

    def _stragglers(self) -> None:
        """Waiting for the slowest rank, over the work of the mean one."""
        matched = int((self.report.calls["ranks_seen"] > 1).sum())
        if not matched:
            self._miss_model("straggler_factor", "it shows where calls of several ranks can be matched")
            return
        steps = whole_steps(self.report)
        rows = self.report.collectives.merge(steps, on=["rank", "step"])
        by_step = rows.groupby("step")["waiting_ms"].sum() / self.step.ranks
        waiting, error = mean_and_error(by_step)
        working = self.step.duration_ms - self.step.idle_ms - waiting
        source = f"{matched} calls matched over {self.step.ranks} of {self.devices} ranks"
        value = 1 + waiting / working
        self._keep_model("straggler_factor", value, max((value - 1) * error, LEAST_NOISE), source)

    def _overlap_shares(self) -> None:
        """Shares of the exchanges that the trainer lets run beside compute."""
        for name, kinds in (
            ("alltoall_overlap_share", ("all-to-all",)),
            ("dense_sync_overlap_share", DENSE_KINDS),
        ):
            shares = [share for share in self.step.collectives if share.kind in kinds]
            time = sum(share.time_ms - share.waiting_least_ms for share in shares)
            if time <= 0:
                self._miss_model(name, f"the trace has no {' or '.join(kinds)}")
                continue
            hidden = min(sum(share.hidden_ms for share in shares) / time, 1.0)
            value, error = self._share_that_hides(name, kinds, hidden)
            self._keep_model(name, value, error, f"{hidden:.1%} of its time is beside compute")

    def _share_that_hides(self, name: str, kinds: tuple[str, ...], hidden: float) -> tuple[float, float]:
        """The share at which the model hides as much as the trace shows, and its error."""
        made = np.array(
            [
                hidden_share(self.evaluate(self.model.model_copy(update={name: float(share)})), kinds)
                for share in _GRID
            ]
        )
        made = np.maximum.accumulate(made)
        value = float(np.interp(hidden, made, _GRID))
        near = np.abs(_GRID - value) <= 0.05
        slope = float((made[near].max() - made[near].min()) / (_GRID[near].max() - _GRID[near].min()))
        missed = max(0.0, hidden - float(made[-1]), float(made[0]) - hidden)
        # where more overlap hides no more, any share would do
        return value, (0.01 + missed) / slope if slope > 0.02 else 1.0
