"""Read a large profiler trace: CPU seconds, peak memory, and the parsers that were weighed.

    python benchmarks/trace/large_trace.py make trace.json --gigabytes 1
    python benchmarks/trace/large_trace.py read trace.json
    python benchmarks/trace/large_trace.py parsers trace.json

``make`` repeats a made-up training step in Kineto's format. ``parsers`` decodes the same events with
each parser, each in a process of its own; ijson and orjson need to be installed for it.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

STEP_US = 20_000
KERNELS = 400


HOST = {"pid": 4037, "tid": 4037}
GEMM = "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x128_32x3_tn_align1>(Params)"
GRID = {"registers per thread": 96, "shared memory": 41744, "grid": [16, 1, 1], "block": [640, 1, 1]}


def event(
    category: str, name: str, place: dict[str, int], ts: float, dur: float, **args: object
) -> dict[str, Any]:
    """One complete event."""
    return {"ph": "X", "cat": category, "name": name, **place, "ts": ts, "dur": dur, "args": args}


def step_events(step: int) -> Iterator[dict[str, Any]]:
    """One step: operators, launches and kernels, and an all-reduce in each tenth of it."""
    base = 1_700_000_000_000_000 + step * STEP_US
    yield event("user_annotation", f"ProfilerStep#{step}", HOST, base, STEP_US)
    for i in range(KERNELS):
        at, number = base + 48 * i, step * 1000 + i
        linked = {"External id": number, "correlation": number}
        shapes = {"Ev Idx": number, "Input Dims": [[2048, 1024], [1024, 512]]}
        yield event("cpu_op", "aten::addmm", HOST, at, 20.125, **linked, **shapes)
        yield event("cuda_runtime", "cudaLaunchKernel", HOST, at + 8, 5, cbid=211, **linked)
        yield event("kernel", GEMM, {"pid": 0, "tid": 7}, at + 20, 30.5, device=0, stream=7, **linked, **GRID)
        if i % 40 == 0:
            yield all_reduce(at + 25, linked)


def all_reduce(ts: float, linked: dict[str, int]) -> dict[str, Any]:
    """An all-reduce of 8 MB over 128 ranks."""
    facts = {"Collective name": "allreduce", "In msg nelems": 2_000_000, "Out msg nelems": 2_000_000}
    facts |= {"dtype": "Float", "Group size": 128, **GRID}
    name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
    return event("kernel", name, {"pid": 0, "tid": 84}, ts, 900, device=0, stream=84, **linked, **facts)


def make(file: Path, gigabytes: float) -> None:
    """Write a trace of at least this size."""
    with file.open("w", encoding="utf-8") as out:
        out.write(
            '{"schemaVersion":1,"distributedInfo":{"backend":"nccl","rank":0,"world_size":128},"traceEvents":['
        )
        step, size = 0, 0
        while size < gigabytes * 1e9:
            text = ",\n".join(json.dumps(each) for each in step_events(step))
            size += out.write(text if step == 0 else ",\n" + text)
            step += 1
        out.write("]}")
    say(f"{file}: {file.stat().st_size / 1e9:.3f} GB, {step} steps")


def read(file: Path) -> None:
    """Time the whole report."""
    from fleetplan.trace.report import trace_report

    start, cpu = time.perf_counter(), time.process_time()
    report = trace_report([file])
    say(
        f"report of {int(report.ranks['events'].sum()):,} events, {len(report.steps)} steps: "
        f"{time.process_time() - cpu:.1f} CPU s, {time.perf_counter() - start:.1f} s, {peak_gb():.2f} GB"
    )


def parsers(file: Path) -> None:
    """Each parser in a process of its own."""
    for name in PARSERS:
        subprocess.run([sys.executable, __file__, "parse", str(file), "--parser", name], check=False)


def parse(file: Path, name: str) -> None:
    """Decode every event with one parser."""
    start, cpu = time.perf_counter(), time.process_time()
    events = PARSERS[name](file)
    wall = time.perf_counter() - start
    spent = f"{time.process_time() - cpu:>7.1f} CPU s {wall:>7.1f} s {peak_gb():>6.2f} GB"
    say(f"{name:<34}{events:>10,} events {spent}")


def with_json(file: Path) -> int:
    """The standard library, on the whole file."""
    return len(json.loads(file.read_bytes())["traceEvents"])


def with_orjson(file: Path) -> int:
    """orjson, on the whole file."""
    import orjson

    return len(orjson.loads(file.read_bytes())["traceEvents"])


def with_ijson(file: Path) -> int:
    """The C backend of ijson, streaming."""
    import ijson.backends.yajl2_c as backend

    with file.open("rb") as source:
        return sum(1 for _ in backend.items(source, "traceEvents.item", use_float=True))


def with_msgspec(file: Path) -> int:
    """The reader of fleetplan: cut at guessed seams, msgspec with the needed fields."""
    from fleetplan.trace.stream import TraceStream

    return sum(len(batch) for batch in TraceStream(file))


PARSERS: dict[str, Callable[[Path], int]] = {
    "msgspec on cut pieces (fleetplan)": with_msgspec,
    "ijson yajl2_c": with_ijson,
    "orjson, whole": with_orjson,
    "json, whole": with_json,
}


def peak_gb() -> float:
    """Peak resident memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def say(text: str) -> None:
    """Print one line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> None:
    """Command line."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("what", choices=["make", "read", "parsers", "parse"])
    arguments.add_argument("file", type=Path)
    arguments.add_argument("--gigabytes", type=float, default=1.0)
    arguments.add_argument("--parser", choices=list(PARSERS))
    given = arguments.parse_args()
    if given.what == "make":
        make(given.file, given.gigabytes)
    elif given.what == "parse":
        parse(given.file, given.parser)
    else:
        {"read": read, "parsers": parsers}[given.what](given.file)


if __name__ == "__main__":
    main()
