"""The table of training options: what the planner may use, one row per option.

One row is (workload, accelerator, devices, local batch, cap): a way to run one job of a workload.
It is the only thing that planning knows about performance.
"""

from __future__ import annotations

from fleetplan.tables import TableSpec, count, flag, number, text

OPTIONS = TableSpec(
    "options",
    "ways to run one training job, from the step model or from measurements",
    (
        text("option", "stable id: workload/accelerator/devices/batch/cap", key=True),
        text("workload", "workload name"),
        text("accelerator", "accelerator name"),
        count("devices", "devices", "devices of one job"),
        count("local_batch", "samples", "samples per device and step"),
        number("cap_w", "W", "power cap per device"),
        text("layout", "how the model is spread over the devices"),
        flag("fits", "whether the job fits in memory"),
        number("memory_gb_per_device", "GB", "need of the fullest device"),
        number("step_ms", "ms", "time of one step at the cap"),
        number("samples_per_s", "samples/s", "one job while it runs"),
        number("goodput", "share", "useful share of running time (failures, checkpoints)"),
        number("net_samples_per_s_per_rack", "samples/s", "useful rate of one rack that is in use"),
        number("low_factor", "ratio", "low end of the rate over its middle"),
        number("high_factor", "ratio", "high end of the rate over its middle"),
        number("provisioned_facility_kw_per_rack", "kW", "what the power limit must allow"),
        number("average_facility_kw_per_rack", "kW", "what the bill is made of"),
        number("compute_ms", "ms", "dense compute and elementwise, per step"),
        number("embedding_ms", "ms", "lookup, backward and sparse update, per step"),
        number("exposed_alltoall_ms", "ms", "all-to-all with nothing behind it, per step"),
        number("exposed_allreduce_ms", "ms", "dense synchronisation with nothing behind it, per step"),
        number("floor_ms", "ms", "fixed time, stragglers and anything else, per step"),
        flag("meets_deadline", "whether one job of this size meets the workload's deadline per run"),
        text("evidence", "measured or modelled"),
    ),
)
