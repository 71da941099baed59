"""The tables of a trace report."""

from __future__ import annotations

from fleetplan.tables import TableSpec, count, flag, number, text

RANKS = TableSpec(
    "ranks",
    "what was read: one row per rank",
    (
        count("rank", "", "rank", key=True),
        text("file", "file name"),
        text("platform", "nvidia, amd or mtia"),
        text("device", "device name, where the trace has it"),
        count("world_size", "ranks", "ranks of the job; 0 where the trace does not say"),
        count("events", "events", "events read"),
        count("device_events", "events", "events on the device"),
        number("kept_share", "share", "of the profiler's numbered operators that the file holds"),
        number("span_ms", "ms", "first to last device event"),
        text("steps_from", "annotation, repetition or none"),
        count("steps", "steps", "steps found"),
    ),
)

_TIMES = (
    number("duration_ms", "ms", "first kernel of the step to first kernel of the next"),
    number("compute_ms", "ms", "any compute kernel runs"),
    number("exposed_ms", "ms", "communication runs and no compute"),
    number("copy_ms", "ms", "copies run and neither compute nor communication"),
    number("wait_ms", "ms", "a device queue waits and nothing runs"),
    number("host_bound_ms", "ms", "nothing runs, and the next kernel had not been launched yet"),
    number("other_idle_ms", "ms", "nothing runs, for another or an unknown reason"),
    number("communication_ms", "ms", "communication runs: hidden and exposed"),
    number("hidden_ms", "ms", "communication runs behind compute"),
)
STEPS = TableSpec(
    "steps",
    "where each step goes; compute, exposed, copy, wait, host_bound and other_idle fill the duration",
    (
        count("rank", "", "rank", key=True),
        count("step", "", "step number", key=True),
        flag("whole", "whether the trace holds all of the step"),
        *_TIMES,
    ),
)
COLLECTIVES = TableSpec(
    "collectives",
    "communication of each step by collective",
    (
        count("rank", "", "rank", key=True),
        count("step", "", "step number", key=True),
        text("collective", "which one", key=True),
        count("calls", "calls", "number of calls"),
        number("gb", "GB", "buffers of the calls whose size is known"),
        count("calls_with_bytes", "calls", "calls whose size is known"),
        number("time_ms", "ms", "any call runs"),
        number("hidden_ms", "ms", "of that, behind compute"),
        number("exposed_ms", "ms", "of that, with no compute"),
        number("waiting_ms", "ms", "sum over calls of the time beyond the fastest rank's; 0 where unmatched"),
    ),
)
CALLS = TableSpec(
    "calls",
    "every collective call",
    (
        count("rank", "", "rank", key=True),
        number("start_ms", "ms", "start, since the rank's first event", key=True),
        count("step", "", "step number"),
        text("collective", "which one"),
        text("evidence", "arguments, annotation or kernel name"),
        number("duration_ms", "ms", "on this rank, waiting for others included"),
        number("transfer_ms", "ms", "shortest duration of the same call over the traced ranks"),
        count("ranks_seen", "ranks", "traced ranks on which the same call was found"),
        number("hidden_ms", "ms", "behind compute"),
        number("bytes", "B", "buffer by the convention of NCCL's tests; not a number where unknown"),
        count("group_size", "ranks", "ranks in the call; 0 where unknown"),
        text("group_from", "trace, sizes or world (assumed: all ranks)"),
        number("link_gb_per_s", "GB/s", "bytes that cross one rank's link one way over transfer_ms"),
    ),
)
RATES = TableSpec(
    "rates",
    "achieved link rates of calls of 1 MB and more; waiting inside a call makes them lower bounds",
    (
        text("collective", "which one", key=True),
        count("group_size", "ranks", "ranks in the call", key=True),
        count("calls", "calls", "calls over all ranks and steps"),
        number("mb_per_call", "MB", "mean buffer"),
        number("median_gb_per_s", "GB/s", "median link rate, one direction per device"),
        number("best_gb_per_s", "GB/s", "highest link rate"),
    ),
)
KERNELS = TableSpec(
    "kernels",
    "compute by family of kernels; families that run side by side each count in full",
    (
        count("rank", "", "rank", key=True),
        count("step", "", "step number", key=True),
        text(
            "family", "gemm, embedding or attention (forward, backward), or elementwise (all else)", key=True
        ),
        count("launches", "kernels", "number of kernels"),
        number("time_ms", "ms", "any of them runs"),
        number("beside_alltoall_ms", "ms", "of that, beside an all-to-all"),
        number("beside_allreduce_ms", "ms", "of that, beside an all-reduce and no all-to-all"),
        number("beside_other_ms", "ms", "of that, beside other communication only"),
    ),
)
GAPS = TableSpec(
    "gaps",
    "longest times without compute in the typical step",
    (
        count("rank", "", "rank", key=True),
        number("start_ms", "ms", "since the step's start", key=True),
        number("length_ms", "ms", "until compute runs again"),
        number("exposed_ms", "ms", "of that, communication"),
        number("host_bound_ms", "ms", "of that, the next kernel was not launched yet"),
        text("collectives", "which run in the gap"),
        text("host", "annotation that the launching thread was in at the middle of the gap"),
    ),
)
STRAGGLERS = TableSpec(
    "stragglers",
    "spread between the traced ranks in whole steps",
    (
        count("step", "", "step number", key=True),
        count("ranks", "ranks", "ranks that were traced"),
        count("slowest_rank", "", "rank with the longest compute"),
        number("compute_mean_ms", "ms", "mean over ranks"),
        number("compute_max_ms", "ms", "slowest rank"),
        number("compute_spread", "ratio", "slowest over mean"),
        number("waiting_mean_ms", "ms", "mean over ranks of the waiting inside matched collectives"),
    ),
)
LANES = TableSpec(
    "lanes",
    "the typical step as intervals, near ones joined",
    (
        count("rank", "", "rank", key=True),
        text("lane", "compute, a collective, copy or gap (no compute)", key=True),
        number("start_ms", "ms", "since the step's start", key=True),
        number("end_ms", "ms", "since the step's start"),
    ),
)
CONTENTION = TableSpec(
    "contention",
    "rates while compute and a collective run side by side, over the rates alone",
    (
        text("side", "compute or communication", key=True),
        text("collective", "which one", key=True),
        number("rate", "share", "of the rate alone; not a number where the trace does not tell"),
        number("standard_error", "share", "of the rate"),
        count("events", "events", "events that were compared"),
    ),
)
