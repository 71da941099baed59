"""Every public measurement predicted: errors, evidence, gates, and errors on hardware held out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fleetplan.performance import predict_collectives, predict_kernels, predict_steps
from fleetplan.performance.calibrate import fit_set, leave_one_out, prior_only, residuals
from fleetplan.performance.constants import Constants, load_constants
from fleetplan.performance.gates import GATES, gate_table, row_passes
from fleetplan.performance.measurements import load_measurements
from fleetplan.performance.prediction import Prediction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pandas as pd

    from fleetplan.performance.measurements import Measurement

COLUMNS = (
    "id",
    "accelerator",
    "devices",
    "metric",
    "predicted",
    "measured",
    "unit",
    "error",
    "evidence",
    "gate",
    "passes",
    "advisory",
    "reason",
)


@dataclass(frozen=True)
class AccuracyReport:
    """Rows, gates, held-out errors; ``passes`` where no gate but advisory ones is missed."""

    rows: pd.DataFrame
    gates: pd.DataFrame
    held_out: pd.DataFrame

    @property
    def passes(self) -> bool:
        """Whether every gate that is not advisory holds."""
        return bool((self.gates["passes"] | self.gates["advisory"]).all())


def accuracy_report(
    measurements: Iterable[Measurement] | None = None,
    constants: Constants | None = None,
    *,
    held_out: bool = True,
) -> AccuracyReport:
    """Predict all rows; with ``held_out``, also refit without each accelerator and predict it."""
    import pandas as pd

    rows = tuple(measurements) if measurements is not None else load_measurements()
    base = constants or load_constants()
    table = pd.concat([accuracy_table(rows, base), _shapes(rows, base), _microbenchmark_only(rows, base)])
    left = leave_one_out(rows, base) if held_out else pd.DataFrame()
    if held_out:
        table = pd.concat([table, _held_out_rows(rows, left)])
    table = table.reset_index(drop=True)
    return AccuracyReport(table, gate_table(table), left)


def accuracy_table(
    measurements: Iterable[Measurement] | None = None, constants: Constants | None = None
) -> pd.DataFrame:
    """One line per measurement: id, predicted, measured, error, evidence, gate, passes.

    Rows that the model does not predict keep an empty prediction and say why.
    """
    import pandas as pd

    rows = measurements if measurements is not None else load_measurements()
    base = constants or load_constants()
    return pd.DataFrame([_line(row, *_predict(row, base)) for row in rows], columns=list(COLUMNS))


def _predict(row: Measurement, constants: Constants) -> tuple[Prediction | None, str]:
    rule = next((rule for pattern, rule in _RULES if re.match(pattern, f"{row.id} {row.metric}")), None)
    if rule is None:
        return None, "no rule: not a quantity of the step model"
    if (
        rule is not predict_steps.counted
        and rule is not predict_steps.training_memory
        and not row.accelerator
    ):
        return None, "the accelerator is not in the catalog"
    if rule in _NEED_MODEL and not row.model:
        return None, "the model is not in models/"
    made = rule(row, constants)
    return made, "" if made else "the row does not say enough"


def _line(row: Measurement, made: Prediction | None, reason: str) -> tuple[object, ...]:
    if made is None:
        return _tuple(row, None, "", reason)
    return _tuple(row, made.value, made.gate, reason)


def _tuple(row: Measurement, predicted: float | None, gate: str, reason: str) -> tuple[object, ...]:
    error = None if predicted is None or row.value == 0 else predicted / row.value - 1
    limit = GATES.get(gate)
    passes = None if limit is None or predicted is None else row_passes(limit, predicted, row.value)
    advisory = row.is_advisory or (limit is not None and limit.advisory)
    return (
        row.id,
        row.accelerator,
        row.devices,
        row.metric,
        predicted,
        row.value,
        row.unit,
        error,
        row.evidence,
        gate,
        passes,
        advisory,
        reason,
    )


def _shapes(rows: Sequence[Measurement], constants: Constants) -> pd.DataFrame:
    """Per-device rate over that of the same accelerator's 8 devices; and the gain of balanced batches."""
    import pandas as pd

    made = residuals(fit_set(rows), constants).assign(
        predicted=lambda t: t["predicted"] / t["devices"], measured=lambda t: t["measured"] / t["devices"]
    )
    lines = []
    for accelerator, group in made.groupby("accelerator"):
        first = group[group["devices"] == _BASE]
        for _, row in group[group["devices"] > _BASE].iterrows():
            base = first.iloc[-1] if len(first) else None
            if base is not None:
                ratio = row["predicted"] / base["predicted"], row["measured"] / base["measured"]
                name = f"shape-{accelerator}-x{row['devices']}-over-x{_BASE}"
                lines.append(_extra(name, str(accelerator), int(row["devices"]), *ratio, "scaling shape"))
    jagged = {row.id: row for row in rows if row.id.startswith("hstu-jagged")}
    if {"hstu-jagged-balanced_shuffler", "hstu-jagged-baseline_triton"} <= set(jagged):
        after, before = jagged["hstu-jagged-balanced_shuffler"], jagged["hstu-jagged-baseline_triton"]
        gain = predict_steps.balanced_gain(before.setting, before.devices, before.local_batch or 32)
        lines.append(
            _extra("hstu-jagged-balance-gain", "h100", 16, gain, after.value / before.value, "HSTU straggler")
        )
    return pd.DataFrame(lines, columns=list(COLUMNS))


_BASE = 8


def _microbenchmark_only(rows: Sequence[Measurement], constants: Constants) -> pd.DataFrame:
    """Multi-node rows with every fitted constant at its microbenchmark value."""
    import pandas as pd

    chosen = [row for row in fit_set(rows) if row.devices > _domain(row)]
    made = residuals(chosen, prior_only(constants))
    gate = "DCNv2 microbenchmark-only, multi-node"
    return pd.DataFrame(
        [_from_residual(row, "microbenchmarks", gate) for row in made.to_dict("records")],
        columns=list(COLUMNS),
    )


def _held_out_rows(rows: Sequence[Measurement], left: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    domains = {row.id: _domain(row) for row in fit_set(rows)}
    lines = []
    for row in left.to_dict("records"):
        many = row["devices"] > domains[str(row["id"])]
        gate = "DCNv2 held out, multi-node" if many else "DCNv2 held out, one domain"
        lines.append(_from_residual(row, "held out", gate))
    return pd.DataFrame(lines, columns=list(COLUMNS))


def _domain(row: Measurement) -> int:
    """Devices of a domain; large NVLink domains spread over hosts count as several nodes, as measured."""
    return min(_BASE, row.devices)


def _from_residual(row: dict[object, object], how: str, gate: str) -> tuple[object, ...]:
    predicted, measured = float(str(row["predicted"])), float(str(row["measured"]))
    return _extra(
        f"{row['id']} ({how})", str(row["accelerator"]), int(str(row["devices"])), predicted, measured, gate
    )


def _extra(
    name: str, accelerator: str, devices: int, predicted: float, measured: float, gate: str
) -> tuple[object, ...]:
    passes = row_passes(GATES[gate], predicted, measured)
    return (
        name,
        accelerator,
        devices,
        "derived",
        predicted,
        measured,
        "",
        predicted / measured - 1,
        "derived",
        gate,
        passes,
        GATES[gate].advisory,
        "",
    )


_NEED_MODEL = (predict_steps.rate, predict_steps.step_time, predict_steps.counted)
_RULES: list[tuple[str, Callable[[Measurement, Constants], Prediction | None]]] = [
    (r"(cnt-|wukong-)", predict_steps.counted),
    (r"dle-mem", predict_steps.training_memory),
    (r"pwr-.* node_power", predict_steps.node_power),
    (r"hstu-h100x16-brk-", predict_steps.hstu_part),
    (r"hstu-h100x16-rate-", predict_kernels.attention_in_step),
    (r"hstu-h100x16-(achieved|mfu|tokens)", predict_steps.hstu_rate),
    (r"hstu-attn-", predict_kernels.attention_rate),
    (r"mtia300-f13-", predict_kernels.stream_rate),
    (r"az-hbm-triad", predict_kernels.stream_rate),
    (r"mtia300-hbmpeak", predict_kernels.stream_share),
    (r"mtia300-f14-", predict_kernels.gemm_by_intensity),
    (r"mtia300-gemm-ai400", predict_kernels.gemm_above_400),
    (r"mtia300-tbe-", predict_kernels.table_speedup),
    (r"mtia300-f15-", predict_collectives.mtia_ratio),
    (r"mtia300-f16-", predict_collectives.overlap_rate),
    (r"mtia300-f17-(AA|AR|AG)", predict_collectives.production_time),
    (r"mamf-", predict_kernels.best_matmul),
    (r"tbe-", predict_kernels.table_time),
    (r"nccl-b200x8-", predict_collectives.small_times),
    (r".* busbw", predict_collectives.bus_bandwidth),
    (
        r"(mlp|dle|sok|torchrec-dlrm|fbdlrm|zionex|hstu)-.* (train_samples_per_s|e2e_samples_per_s)",
        predict_steps.rate,
    ),
    (r"(mlp|sok|hstu)-.* step_time", predict_steps.step_time),
]
