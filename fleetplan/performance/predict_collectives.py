"""Predictions for measured collectives: sweeps, in-switch runs, MTIA ratios, a trace, overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast, get_args

from fleetplan.inputs.catalog import load_accelerator
from fleetplan.performance.collectives import Collective, collective_time
from fleetplan.performance.constants import Constants, Fabric, Stack, context_of
from fleetplan.performance.overlap import contention
from fleetplan.performance.prediction import Prediction
from fleetplan.performance.rates import Rates

if TYPE_CHECKING:
    from fleetplan.performance.measurements import Measurement

LARGE_BYTES = 8 * 2**30
"""Message size taken where a row says only that it is large."""
_NAMES: dict[str, Collective] = {
    "all_reduce": "allreduce",
    "allreduce": "allreduce",
    "all_gather": "allgather",
    "allgather": "allgather",
    "reduce_scatter": "reducescatter",
    "all_to_all": "alltoall",
    "all_to_allv": "alltoall",
    "alltoall": "alltoall",
}
_MEGABYTE = 1e6
_CONTRADICTED = ("mle-ar-a100x8-1024KiB", "mle-ar-a100x8-2048KiB")
"""Another sweep of eight A100 measures 1.5 to 2 times as much here: no law can be within 25 % of both."""


def seconds_of(
    row: Measurement,
    constants: Constants,
    size: float,
    stack: Stack = "tuned",
    accelerator: str | None = None,
) -> float:
    """Seconds of the row's collective at ``size`` bytes, isolated (tuned) or in a step (production)."""
    device = load_accelerator(accelerator or row.accelerator)
    if row.setting.get("nvls") == "off" or row.setting.get("algo") == "ring" or "no SHARP" in row.system:
        device = device.model_copy(update={"in_switch_reduction": False})
    rates = Rates(device, constants, context_of(device, fabric=fabric_of(row), stack=stack))
    ranks = float(row.setting.get("ranks", row.devices))
    made = collective_time(_NAMES[str(row.setting["op"])], rates, size, ranks)
    return float(made.seconds)


def fabric_of(row: Measurement) -> Fabric:
    """Fabric of the system a row was measured on: its setting's ``fabric``, or from its description."""
    if (stated := row.setting.get("fabric")) in get_args(Fabric):
        return cast("Fabric", stated)
    text = row.system
    if "EFA" in text or "AWS P" in text:
        return "efa"
    ethernet = ("Juniper", "HPE", "RoCE", "Ethernet", "100 Gb/s")
    return "ethernet" if any(word in text for word in ethernet) else "infiniband"


def bus_bandwidth(row: Measurement, constants: Constants) -> Prediction | None:
    """nccl-tests bus bandwidth in GB/s of a sweep."""
    if not row.accelerator or row.setting.get("op") not in _NAMES:
        return None
    stated = row.setting.get("bytes", LARGE_BYTES)
    size = float(stated) if isinstance(stated, (int, float)) else float(LARGE_BYTES)
    ranks = float(row.setting.get("ranks", row.devices))
    factor = (ranks - 1) / ranks * (2 if _NAMES[row.setting["op"]] == "allreduce" else 1)
    return Prediction(factor * size / seconds_of(row, constants, size) / 1e9, _sweep_gate(row, size))


def _sweep_gate(row: Measurement, size: float) -> str:
    if row.id.startswith("mle-sharp"):
        return "in-switch all-reduce"
    if row.id.startswith("mle-ar-b200x32") and size >= 256 * 1024:
        return "multi-node all-reduce"
    if row.id in _CONTRADICTED:
        return ""
    one_node = row.id.startswith(("az-ar", "mle-ar")) and row.devices <= 8
    return "one-node all-reduce" if one_node and size >= 2**20 else ""


def small_times(row: Measurement, constants: Constants) -> Prediction | None:
    """All-reduce and small all-to-all times that an MLPerf log prints, in microseconds."""
    stated = row.setting.get("bytes")
    size = float(stated) if isinstance(stated, (int, float)) else 8192.0
    return Prediction(seconds_of(row, constants, size) * 1e6, "")


def mtia_ratio(row: Measurement, constants: Constants) -> Prediction:
    """Completion time of MTIA 300 over that of Meta's H100 (Fig 15)."""
    size = float(row.setting["bytes"])
    own = seconds_of(row, constants, size, accelerator="mtia-300")
    other = seconds_of(row, constants, size, accelerator="h100-500w")
    loose = row.setting["op"] == "alltoall" and row.setting["ranks"] == 16
    return Prediction(own / other, "MTIA over H100, all-to-all at 16" if loose else "MTIA over H100")


def production_time(row: Measurement, constants: Constants) -> Prediction:
    """Time of one collective of the production trace, from the slowest rank's bytes (Fig 17), ms."""
    op = str(row.setting["op"])
    if op == "all_to_allv":
        size = float(row.setting["max_rank_MB"]) * _MEGABYTE
    else:
        size = float(row.setting["bytes"])
    seconds = seconds_of(row, constants, size, stack="production")
    gated = op == "all_to_allv" and row.accelerator == "mtia-300"
    return Prediction(seconds * 1e3, "production all-to-all" if gated else "")


def overlap_rate(row: Measurement, constants: Constants) -> Prediction:
    """Rate of compute or of the collective while both run, % of isolated (Fig 16)."""
    device = load_accelerator(row.accelerator)
    rates = Rates(device, constants, context_of(device))
    compute, wire = contention(rates, str(row.setting["collective"]))
    share = compute if row.metric.startswith("compute") else wire
    return Prediction(100 * share, "overlap")
